import { startNginx } from 'sluice-harness'
import { describe, expect, test } from 'vitest'
import { remaining } from '../fixtures/proxies/ask.ts'
import { documented } from '../fixtures/proxies/documented.ts'
import { login, proxySuite, siteBehind } from '../fixtures/proxies/proxy-suite.ts'

const USERS = { 'users.htpasswd': 'alice:{PLAIN}secret\n' }

/** With a change to the configuration, where that is what the test is about. */
function behindNginx(flags: Readonly<Record<string, string>> = {}, change: Readonly<Record<string, string>> = {}) {
  const start = (sluicePort: number, appPort: number) => {
    const asked = { '127.0.0.1:8080': `127.0.0.1:${sluicePort}`, '127.0.0.1:3000': `127.0.0.1:${appPort}`, ...change }
    return startNginx(port => documented('nginx.conf', { 'listen 80;': `listen 127.0.0.1:${port};`, ...asked }), USERS)
  }
  return siteBehind(start, flags)
}

proxySuite('nginx', behindNginx)

describe('nginx', () => {
  test('serves a client that sends 21 KB of headers', async () => {
    const { get } = await behindNginx()
    const headers = Object.fromEntries(['X-A', 'X-B', 'X-C'].map(name => [name, 'x'.repeat(7000)]))
    expect((await get('/', { headers })).status).toBe(200)
  })

  test('answers a refused client with problem+json', async () => {
    const { get } = await behindNginx()
    for (let i = 0; i < 100; i++) await get('/')
    const refused = await get('/')
    expect(refused).toMatchObject({ status: 429, headers: { 'content-type': 'application/problem+json' } })
    expect(JSON.parse(refused.body)).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'Quota Exceeded',
      status: 429,
      'violated-policies': ['per-ip'],
    })
  })

  test('answers a denied client with problem+json, too', async () => {
    const { sluice, get } = await behindNginx()
    sluice.reload('trusted_proxies: [loopback]\ndeny: [127.0.0.1]\nlimits: { per-ip: { key: ip, sliding-log: 5/1m } }')
    const denied = await get('/')
    expect(denied).toMatchObject({ status: 403, headers: { 'content-type': 'application/problem+json' } })
    expect(JSON.parse(denied.body)).toEqual({ title: 'Forbidden', status: 403 })
  })

  test('keeps its own 403 responses', async () => {
    const change = { 'location = /health {': 'location = /closed { deny all; } location = /health {' }
    const { get } = await behindNginx({}, change)
    expect((await get('/closed')).status).toBe(403)
  })

  test('does not let clients call the decision endpoint', async () => {
    const { get } = await behindNginx()
    expect((await get('/_sluice')).status).toBe(404)
  })

  test('answers 500 if it cannot reach Sluice, but serves routes without a limit', async () => {
    const { sluice, app, get } = await behindNginx()
    await sluice.stop()
    expect((await get('/')).status).toBe(500)
    expect(app.served).toHaveLength(0)
    expect((await get('/health')).status).toBe(200)
  })

  test('serves without limits in that case, if its configuration has the line for that', async () => {
    const { sluice, get } = await behindNginx({}, { '# error_page 502 504': 'error_page 502 504' })
    expect(remaining(await get('/'))).toEqual({ 'per-ip': 99 })
    await sluice.stop()
    for (let i = 0; i < 6; i++) expect(await get('/login', login)).toMatchObject({ status: 200, body: 'from the app' })
  })
})
