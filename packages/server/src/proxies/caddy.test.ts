import { startCaddy, startRedis, until } from 'sluice-harness'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type App, startApp } from './fixtures/app.ts'
import { type Answered, type Asking, ask, remaining } from './fixtures/ask.ts'
import { documented } from './fixtures/documented.ts'
import { type Serving, serving } from './fixtures/serving.ts'

const ALICE = { Authorization: `Basic ${Buffer.from('alice:secret').toString('base64')}` }

interface Site {
  readonly sluice: Serving
  readonly app: App
  get(path: string, asking?: Asking): Promise<Answered>
}

/** The service behind a real Caddy with the documented configuration, in front of an app. */
async function site(flags: Readonly<Record<string, string>> = {}): Promise<Site> {
  const [sluice, app] = await Promise.all([serving(documented('rules.yaml'), flags), startApp()])
  const file = (port: number) =>
    documented('Caddyfile', {
      ':80 {': `:${port} {`,
      '127.0.0.1:8080': `127.0.0.1:${sluice.ports.http}`,
      '127.0.0.1:3000': `127.0.0.1:${app.port}`,
    })
  const caddy = await startCaddy(file)
  onTestFinished(() => caddy.stop())
  return { sluice, app, get: (path, asking) => ask(caddy.port, path, asking) }
}

const login: Asking = { method: 'POST', body: 'name=alice' }

describe('through Caddy', () => {
  test('a request that passes reaches the app as it was, and both it and the client learn of the limits', async () => {
    const { app, get } = await site()
    const fields = { ratelimit: '"per-ip";r=99;t=60', 'ratelimit-policy': '"per-ip";q=100;w=60' }
    const answer = await get('/cart?item=1', { method: 'PUT', body: 'two of them', headers: { Cookie: 'a=b' } })
    expect(answer).toMatchObject({ status: 200, body: 'from the app', headers: { 'x-app': 'here', ...fields } })
    expect(app.served).toMatchObject([
      { method: 'PUT', url: '/cart?item=1', body: 'two of them', headers: { cookie: 'a=b', ...fields } },
    ])
  })

  test('one that is refused is 429 with Retry-After, does not reach the app, and passes when that is over', async () => {
    const { sluice, app, get } = await site()
    for (let i = 0; i < 5; i++) expect((await get('/login', login)).status).toBe(200)
    const refused = await get('/login', login)
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '900' }, body: 'Too Many Requests\n' })
    expect(remaining(refused)).toEqual({ 'per-ip': 95, login: 0 })
    expect(app.served).toHaveLength(5)
    sluice.clock.advance(899_999)
    expect((await get('/login', login)).status).toBe(429)
    sluice.clock.advance(1)
    expect((await get('/login', login)).status).toBe(200)
  })

  test('method and path are those of the request, in any spelling', async () => {
    const { get } = await site()
    for (const path of ['/login', '/LOGIN/', '//login', '/%6cogin', '/a/../login?next=/']) await get(path, login)
    expect((await get('/login', login)).status).toBe(429)
    expect((await get('/login')).status).toBe(200)
    expect((await get('/logout', login)).status).toBe(200)
  })

  test('no header that a client sends changes who it is or what it asks for', async () => {
    const { get } = await site()
    const forged = (i: number) => ({
      ...{ 'X-Forwarded-For': `203.0.113.${i}`, 'X-Real-IP': `203.0.113.${i}`, Forwarded: `for=203.0.113.${i}` },
      ...{ 'X-Forwarded-Uri': '/', 'X-Original-URI': '/', 'X-Forwarded-Method': 'GET', 'X-Original-Method': 'GET' },
      ...{ 'X-User': `user-${i}`, Authorization: `Basic ${Buffer.from(`user-${i}:x`).toString('base64')}` },
    })
    for (let i = 0; i < 5; i++) {
      const answer = await get('/login', { ...login, headers: forged(i) })
      expect(remaining(answer)).toEqual({ 'per-ip': 99 - i, login: 4 - i })
    }
    expect((await get('/login', { ...login, headers: forged(6) })).status).toBe(429)
    expect(remaining(await get('/', { from: '127.0.0.9' }))).toEqual({ 'per-ip': 99 })
  })

  test('whoever is signed in is counted by name, from wherever', async () => {
    const { app, get } = await site()
    const asked = (from: string) => get('/account/', { headers: ALICE, from })
    expect(remaining(await asked('127.0.0.8'))).toEqual({ 'per-ip': 99, 'per-user': 19 })
    expect(remaining(await asked('127.0.0.9'))).toEqual({ 'per-ip': 99, 'per-user': 18 })
    for (let i = 0; i < 18; i++) await asked('127.0.0.8')
    expect(await asked('127.0.0.9')).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
    expect(app.served).toHaveLength(20)
    expect((await get('/account/')).status).toBe(401)
    expect(remaining(await get('/', { headers: ALICE }))).toEqual({ 'per-ip': 99 })
  })

  test('a client with 21 KB of cookies is served', async () => {
    const { get } = await site()
    const Cookie = ['a', 'b', 'c'].map(name => `${name}=${'x'.repeat(7000)}`).join('; ')
    expect((await get('/', { headers: { Cookie } })).status).toBe(200)
  })

  test('a 403 of the app stays one', async () => {
    const { get } = await site()
    expect(await get('/forbidden')).toMatchObject({ status: 403, headers: { 'x-app': 'here' } })
  })
})

describe('when something is down, Caddy', () => {
  test('answers 503 with Retry-After for a limit that fails closed, and serves the others', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const { get } = await site({ store: `redis://${redis.host}:${redis.port}` })
    await until('Redis decides', async () => (await get('/login', login)).status === 200)
    redis.pause()
    expect(await get('/login', login)).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expect(await get('/')).toMatchObject({ status: 200, body: 'from the app' })
    expect(redis.isUp).toBe(false)
  })

  test('answers 502 where Sluice cannot be reached', async () => {
    const { sluice, app, get } = await site()
    await sluice.stop()
    expect((await get('/')).status).toBe(502)
    expect(app.served).toHaveLength(0)
  })
})
