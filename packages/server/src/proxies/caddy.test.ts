import { startCaddy } from 'sluice-harness'
import { describe, expect, test } from 'vitest'
import { documented } from '../fixtures/proxies/documented.ts'
import { login, proxySuite, siteBehind } from '../fixtures/proxies/proxy-suite.ts'

function behindCaddy(flags: Readonly<Record<string, string>> = {}) {
  const start = (sluicePort: number, appPort: number) => {
    const asked = { '127.0.0.1:8080': `127.0.0.1:${sluicePort}`, '127.0.0.1:3000': `127.0.0.1:${appPort}` }
    return startCaddy(port => documented('Caddyfile', { ':80 {': `:${port} {`, ...asked }))
  }
  return siteBehind(start, flags)
}

proxySuite('Caddy', behindCaddy)

describe('Caddy', () => {
  test('passes the limits on to the app', async () => {
    const { app, get } = await behindCaddy()
    await get('/', { headers: { RateLimit: '"per-ip";r=1000000' } })
    expect(app.served[0]!.headers).toMatchObject({
      ...{ ratelimit: '"per-ip";r=99;t=60', 'ratelimit-policy': '"per-ip";q=100;w=60' },
    })
  })

  test('passes a refusal on with its body', async () => {
    const { get } = await behindCaddy()
    for (let i = 0; i < 5; i++) await get('/login', login)
    expect(await get('/login', login)).toMatchObject({ headers: { 'content-type': 'application/problem+json' } })
  })

  test('serves a client that sends 21 KB of cookies', async () => {
    const { get } = await behindCaddy()
    const Cookie = ['a', 'b', 'c'].map(name => `${name}=${'x'.repeat(7000)}`).join('; ')
    expect((await get('/', { headers: { Cookie } })).status).toBe(200)
  })

  test('answers 502 if it cannot reach Sluice', async () => {
    const { sluice, app, get } = await behindCaddy()
    await sluice.stop()
    expect((await get('/')).status).toBe(502)
    expect(app.served).toHaveLength(0)
  })
})
