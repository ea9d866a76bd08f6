import { describe, expect, test } from 'vitest'
import { run } from '../../fixtures/command/run.ts'
import { served } from '../../fixtures/http/served.ts'
import { ask } from '../../fixtures/proxies/ask.ts'
import { rulesFile } from '../../fixtures/rules-file.ts'

const RULES = `
trusted_proxies: [loopback]
allow: [10.0.0.0/8, { user: monitor }]
deny: [203.0.113.0/24, 2001:db8::/32, 10.6.6.6, { user: mallory, route: /admin/* }]
limits:
  all: { sliding-log: 2/1h }
  per-user: { key: user, sliding-log: 2/1h }
`

describe.each(['/v1/check', '/v1/peek'])('%s', path => {
  test.each([
    ['an address', { ip: '203.0.113.9' }],
    ['the same as IPv6', { ip: '::ffff:203.0.113.9' }],
    ['an address that is allowed too', { ip: '10.6.6.6' }],
    ['attributes', { user: 'mallory', route: '/admin/users' }],
    ['attributes of one whose address is allowed', { ip: '10.1.1.1', user: 'mallory', route: '/admin/users' }],
  ])('refuses a subject on the deny list: %s', async (_, subject) => {
    const { post } = await served(RULES)
    const { status, json, headers } = await post(path, subject)
    expect(status).toBe(403)
    expect(json).toMatchObject({ allowed: false, reason: 'denied', retryAfterMs: null, limits: [] })
    expect(json).not.toHaveProperty('note')
    expect(headers['retry-after']).toBeUndefined()
  })

  test.each([
    ['an address', { ip: '10.1.2.3', user: '42' }],
    ['an attribute', { user: 'monitor' }],
  ])('lets a subject on the allow list pass: %s', async (_, subject) => {
    const { post } = await served(RULES)
    for (let i = 0; i < 3; i++) {
      const { status, json } = await post(path, subject)
      expect(status).toBe(200)
      expect(json).toMatchObject({ allowed: true, reason: 'exempt', limits: [] })
    }
  })

  test.each([{ ip: '203.0.114.1' }, { ip: 'not one' }, { user: 'mallory', route: '/' }, { user: 'mallory' }, {}])(
    'asks the limits about %j',
    async subject => {
      const { post } = await served(RULES)
      expect((await post(path, subject)).json).toMatchObject({ allowed: true, reason: 'ok' })
    },
  )
})

test('neither an allowed nor a denied subject takes from a limit', async () => {
  const { post } = await served(RULES)
  for (let i = 0; i < 5; i++) {
    await post('/v1/check', { ip: '10.1.2.3' })
    await post('/v1/check', { ip: '203.0.113.9' })
    await post('/v1/reserve', { ip: '10.1.2.3', cost: 2 })
  }
  expect((await post('/v1/check', { ip: '192.0.2.1' })).json).toMatchObject({ allowed: true, remaining: 1 })
})

test('an allowed subject may reserve and settle, which counts nothing; a denied subject may not', async () => {
  const { post } = await served(RULES)
  const reserved = await post('/v1/reserve', { ip: '10.1.2.3', cost: 100 })
  expect(reserved).toMatchObject({ status: 200, json: { decision: { allowed: true, reason: 'exempt' } } })
  expect(await post('/v1/settle', { id: reserved.json.id, actual: 500 })).toMatchObject({
    status: 200,
    json: { charged: 0 },
  })
  const refused = await post('/v1/reserve', { ip: '203.0.113.9' })
  expect(refused).toMatchObject({ status: 403, json: { id: null, decision: { reason: 'denied' } } })
})

test('the decision endpoint refuses with 403 and lets pass without numbers', async () => {
  const { ports } = await served(RULES)
  const from = (ip: string) =>
    ask(ports.http, '/v1/decide', { headers: { 'X-Forwarded-Uri': '/', 'X-Forwarded-For': ip } })
  const denied = await from('203.0.113.9')
  expect(denied).toMatchObject({ status: 403, headers: { 'x-sluice-status': '403' } })
  expect(JSON.parse(denied.body)).toEqual({ title: 'Forbidden', status: 403 })
  expect((await from('2001:db8:1:2:3::4')).status).toBe(403)
  for (let i = 0; i < 3; i++) {
    const allowed = await from('10.1.2.3')
    expect(allowed.status).toBe(200)
    expect(allowed.headers.ratelimit).toBeUndefined()
  }
})

test('sluice explain and /v1/explain name the entry', async () => {
  const file = rulesFile(RULES)
  expect((await run('explain', file, 'ip=203.0.113.9')).out).toBe(
    '+ deny applies: ip is in 203.0.113.0/24: refused, whatever the limits say\n',
  )
  expect((await run('explain', file, 'user=monitor')).out).toBe(
    "+ allow applies: user is 'monitor': not counted by any limit\n",
  )
  const { get } = await served(RULES)
  expect((await get('/v1/explain?ip=10.6.6.6')).json).toMatchObject([{ limit: 'deny', applies: true }])
})
