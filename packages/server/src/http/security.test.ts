import { networkInterfaces } from 'node:os'
import { startNginx, startRedis, until } from 'sluice-harness'
import { describe, expect, onTestFinished, test } from 'vitest'
import { served } from '../fixtures/http/served.ts'
import { ask } from '../fixtures/proxies/ask.ts'
import { RawClient } from '../fixtures/resp/raw-client.ts'
import { API } from './api.ts'

const RULES = 'limits: { per-user: { key: user, sliding-log: 1000/1h } }'
const TOKENS = { 'admin-token': 'open-sesame', 'check-token': 'knock-knock' }
const NO_ADMIN = { 'admin-token': '' }
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('with tokens', () => {
  test.each(API.map(route => [route.method, route.path, route.right] as const))(
    '%s %s answers only callers with the right (%s)',
    async (method, path, right) => {
      const { ports } = await served(RULES, TOKENS)
      const status = async (headers: Record<string, string>) =>
        (await ask(ports.http, path, { method, headers, body: method === 'POST' ? '{}' : '' })).status
      expect(await status({})).toBe(401)
      expect(await status(bearer('open-sesam'))).toBe(401)
      expect(await status({ authorization: 'Basic b3Blbi1zZXNhbWU=' })).toBe(401)
      if (right === 'check') expect(await status(bearer('knock-knock'))).not.toBe(401)
      else expect(await status(bearer('knock-knock'))).toBe(401)
      expect([200, 400, 500]).toContain(await status(bearer('open-sesame')))
    },
  )

  test.each<[path: string, headers: Record<string, string>, status: number]>([
    ['/healthz', {}, 200],
    ['/readyz', {}, 200],
    ['/openapi.json', {}, 200],
    ['/', {}, 200],
    ['/metrics', {}, 401],
    ['/metrics', bearer('knock-knock'), 200],
    ['/v1/decide', { 'x-forwarded-uri': '/' }, 401],
    ['/v1/decide', { 'x-forwarded-uri': '/', ...bearer('knock-knock') }, 200],
    ['/anything', { 'x-forwarded-uri': '/' }, 401],
  ])('GET %s with %j is %i', async (path, headers, status) => {
    const { get } = await served(RULES, TOKENS)
    expect((await get(path, headers)).status).toBe(status)
  })

  test('a call without a token is told how to send one', async () => {
    const { post } = await served(RULES, TOKENS)
    const { headers, json } = await post('/v1/check', { user: '1' })
    expect(headers['www-authenticate']).toBe('Bearer')
    expect(json).toEqual({ error: 'expected Authorization: Bearer with the check token' })
  })

  test('the body of a call without a token is not awaited', async () => {
    const { ports } = await served(RULES, TOKENS)
    const client = await RawClient.connected(ports.http)
    onTestFinished(() => client.close())
    client.send('POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n')
    expect(await client.until('check token"}')).toMatch(/^HTTP\/1\.1 401 /)
  })

  test('RESP asks for the check token by AUTH', async () => {
    const { ports } = await served(RULES, TOKENS)
    const client = await RawClient.connected(ports.resp)
    onTestFinished(() => client.close())
    expect(await client.send('CL.THROTTLE k 1 1 1\r\n').until('\r\n')).toMatch(/^-NOAUTH/)
    expect(await client.send('AUTH open-sesame\r\n').until('\r\n')).toMatch(/^-WRONGPASS/)
    expect(await client.send('AUTH knock-knock\r\n').until('\r\n')).toBe('+OK\r\n')
    expect(await client.send('CL.THROTTLE k 1 1 1\r\n').until(':1\r\n')).toMatch(/^\*5\r\n:0/)
  })
})

describe('without an admin token', () => {
  const operators = API.filter(({ right }) => right === 'admin').map(({ method, path }) => [method, path] as const)

  const body = '{"user":"1","limit":"per-user","mode":"off","for":"1m"}'

  test.each(operators)('%s %s is refused over the port', async (method, path) => {
    const { ports } = await served(RULES, NO_ADMIN)
    for (const headers of [{}, { host: 'localhost' }, bearer(''), bearer('undefined')]) {
      const { status, body: told } = await ask(ports.http, path, {
        method,
        headers,
        body: method === 'POST' ? body : '',
      })
      expect([status, told]).toEqual([403, expect.stringContaining('SLUICE_ADMIN_TOKEN')])
    }
  })

  test.each([
    ['as it comes', ''],
    ['over HTTP/1.1', 'proxy_http_version 1.1; proxy_set_header Connection "";'],
    ['with the headers of a browser', 'proxy_http_version 1.1; proxy_set_header Host localhost;'],
  ])('a proxy on this machine, %s, does not open them', async (_, settings) => {
    const { ports, post } = await served(RULES, NO_ADMIN)
    const site = `proxy_pass http://127.0.0.1:${ports.http}; ${settings}`
    const nginx = await startNginx(port => `server { listen 127.0.0.1:${port}; location / { ${site} } }`)
    onTestFinished(() => nginx.stop())
    for (const [method, path] of operators) {
      const asking = { method, body: method === 'POST' ? body : '' }
      expect((await ask(nginx.port, path, asking)).status).toBe(403)
    }
    expect((await ask(nginx.port, '/v1/check', { method: 'POST', body: '{"user":"1"}' })).status).toBe(200)
    expect((await post('/v1/check', { user: '1' })).json.remaining).toBe(998)
  })

  const elsewhere = Object.values(networkInterfaces())
    .flatMap(addresses => addresses ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => address)

  test.each(elsewhere)('the same holds over the address %s', async host => {
    const { ports } = await served(RULES, { host, ...NO_ADMIN })
    const call = (path: string) =>
      fetch(`http://${host}:${ports.http}${path}`, { method: 'POST', body: '{"user":"1"}' })
    expect((await call('/v1/check')).status).toBe(200)
    expect((await call('/v1/reset')).status).toBe(403)
  })
})

describe('without a check token, a browser on this machine', () => {
  const READ = ['/', '/metrics', '/openapi.json', '/v1/explain?user=1', '/nothing']
  const POSTS = API.filter(({ right, method }) => right === 'check' && method === 'POST').map(({ path }) => path)
  const OPEN = ['/healthz', '/readyz', '/v1/decide']
  const foreign = [{ host: 'rebound.example:8080' }, { origin: 'https://evil.example' }, { origin: 'null' }]

  test.each(foreign)('shows nothing to a foreign page: %j', async headers => {
    const { ports } = await served(RULES)
    const status = async (path: string, method = 'GET') => {
      const asked = path === '/v1/decide' ? { 'x-forwarded-uri': '/' } : {}
      return (
        await ask(ports.http, path, { method, headers: { ...headers, ...asked }, body: method === 'POST' ? '{}' : '' })
      ).status
    }
    for (const path of READ) expect([path, await status(path)]).toEqual([path, 403])
    for (const path of POSTS) expect([path, await status(path, 'POST')]).toEqual([path, 403])
    for (const path of OPEN) expect([path, await status(path)]).toEqual([path, 200])
  })

  test('shows the page of the service, by its own names', async () => {
    const { ports, get, post } = await served(RULES, { hosts: 'sluice.example' })
    for (const host of ['sluice.example', `localhost:${ports.http}`, `127.0.0.1:${ports.http}`]) {
      expect((await get('/', { host })).status).toBe(200)
      expect((await post('/v1/check', { user: '1' }, { host, origin: `http://${host}` })).status).toBe(200)
    }
  })

  test('sends nothing from a foreign page, whichever way a connection is read', async () => {
    const { ports } = await served(RULES)
    for (const how of ['', 'Connection: close\r\n']) {
      const client = await RawClient.connected(ports.http)
      onTestFinished(() => client.close())
      const head = 'POST /v1/check HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n'
      client.send(`${head}Content-Type: text/plain\r\n${how}Content-Length: 12\r\n\r\n{"user":"1"}`)
      expect(await client.until('}')).toMatch(/^HTTP\/1\.1 403 /)
    }
  })
})

test('neither keys nor secrets are logged, whatever goes wrong', async () => {
  const secrets = {
    store: 'swordfish',
    'admin-token': 'open-sesame',
    'check-token': 'knock-knock',
    secret: 'x'.repeat(20),
  }
  const redis = await startRedis({ args: ['--requirepass', secrets.store] })
  const store = `redis://:${secrets.store}@${redis.host}:${redis.port}`
  const { post, get, ports, lines } = await served(RULES, { ...secrets, store })
  const admin = bearer(secrets['admin-token'])
  const user = 'alice@example.com'
  await until('Redis decides', async () => (await post('/v1/check', { user }, admin)).json.degraded === false)
  const { json } = await post('/v1/reserve', { user, cost: 2 }, admin)
  await redis.stop()
  await until('it is noticed', async () => (await post('/v1/check', { user }, admin)).json.degraded === 'local')
  for (const path of API.map(route => route.path)) {
    await post(path, { user, id: json.id, actual: 1 }, admin)
    await post(path, { user }, bearer('guessed'))
    await get(`${path}?user=${user}`, admin)
  }
  const resp = await RawClient.connected(ports.resp)
  await resp.send(`AUTH ${user}\r\n`).until('\r\n')
  await resp.send(`AUTH ${secrets['check-token']}\r\nCL.THROTTLE ${user} 1 1 1\r\n*1\r\n$-9\r\n`).untilClosed()
  const text = lines.join('\n')
  expect(text).toContain('outage')
  for (const hidden of [...Object.values(secrets), user, 'guessed', json.id!]) expect(text).not.toContain(hidden)
})
