import { startRedis, until } from 'sluice-harness'
import { describe, expect, test } from 'vitest'
import { served } from '../../fixtures/http/served.ts'
import { rulesFile } from '../../fixtures/rules-file.ts'

const TWO = `
limits:
  per-ip: { key: ip, token-bucket: { capacity: 5, refill: 1/1m } }
  per-user: { key: user, sliding-log: 3/1h }
`
const SUBJECT = { ip: '203.0.113.7', user: '42' }

const remaining = (json: { limits?: readonly { name: string; remaining: number }[] }) =>
  Object.fromEntries((json.limits ?? []).map(limit => [limit.name, limit.remaining]))

describe('a check', () => {
  test('passes until a limit refuses, and takes from all limits or from none', async () => {
    const { post } = await served(TWO)
    for (let left = 2; left >= 0; left--) {
      const { status, json } = await post('/v1/check', SUBJECT)
      expect(status).toBe(200)
      expect(json).toMatchObject({ allowed: true, reason: 'ok', policy: 'per-user', remaining: left, retryAfterMs: 0 })
      expect(remaining(json)).toEqual({ 'per-ip': left + 2, 'per-user': left })
    }
    const { status, json } = await post('/v1/check', SUBJECT)
    expect(status).toBe(429)
    expect(json).toMatchObject({ allowed: false, reason: 'limited', policy: 'per-user', limit: 3, remaining: 0 })
    expect(remaining(json)).toEqual({ 'per-ip': 2, 'per-user': 0 })
  })

  test('that is refused says in Retry-After, in whole seconds, when it passes, and then it does', async () => {
    const { post, clock } = await served(TWO)
    await post('/v1/check', { ...SUBJECT, cost: 3 })
    clock.advance(500)
    const refused = await post('/v1/check', SUBJECT)
    expect(refused.json.retryAfterMs).toBe(3_599_500)
    expect(refused.headers['retry-after']).toBe('3600')
    clock.advance(3_599_499)
    expect((await post('/v1/check', SUBJECT)).headers['retry-after']).toBe('1')
    clock.advance(1)
    expect((await post('/v1/check', SUBJECT)).status).toBe(200)
  })

  test('of a cost that can never pass says so, and has no Retry-After', async () => {
    const { post } = await served(TWO)
    const { status, json, headers } = await post('/v1/check', { ip: '203.0.113.7', cost: 6 })
    expect([status, json.reason, json.retryAfterMs]).toEqual([429, 'cost-exceeds-limit', null])
    expect(headers['retry-after']).toBeUndefined()
  })

  test('to which no limit applies passes, without a number', async () => {
    const { post } = await served(TWO)
    const { status, json } = await post('/v1/check', { host: 'CH' })
    expect(status).toBe(200)
    expect(json).toMatchObject({ allowed: true, policy: '', limit: null, remaining: null, limits: [] })
  })

  test.each([
    ['a number', { user: 42 }, { user: '42' }],
    ['a truth', { user: true }, { user: 'true' }],
  ])('that brings %s counts with those that bring its text', async (_, one, other) => {
    const { post } = await served(TWO)
    await post('/v1/check', one)
    expect((await post('/v1/check', other)).json.remaining).toBe(1)
  })

  test('that brings null for an attribute does not have it', async () => {
    const { post } = await served(TWO)
    expect((await post('/v1/check', { user: null, ip: '203.0.113.7' })).json.limits).toHaveLength(1)
  })

  test('is 503 if the store is gone and the limit fails closed', async () => {
    const redis = await startRedis()
    const rules = 'attributes: [user]\nlimits: { strict: { key: ip, on_outage: closed, sliding-window: 9/1h } }'
    const { post } = await served(rules, { store: `redis://${redis.host}:${redis.port}` })
    await until('Redis decides', async () => (await post('/v1/check', SUBJECT)).status === 200)
    await redis.stop()
    const { status, json, headers } = await post('/v1/check', SUBJECT)
    expect([status, json.reason, json.degraded]).toEqual([503, 'outage', 'closed'])
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  })
})

describe('a batch', () => {
  test('is decided one by one in its order, and answers 200 whatever is decided', async () => {
    const { post } = await served(TWO)
    const asks = [{ user: 'a', cost: 2 }, { user: 'a', cost: 2 }, { user: 'a' }, { user: 'b' }]
    const { status, json } = await post('/v1/check', asks)
    expect(status).toBe(200)
    expect(json).toMatchObject([
      { allowed: true, remaining: 1 },
      { allowed: false, remaining: 1 },
      { allowed: true, remaining: 0 },
      { allowed: true, remaining: 2 },
    ])
  })

  test('with an invalid check is refused as a whole, and takes nothing', async () => {
    const { post } = await served(TWO)
    expect((await post('/v1/check', [{ user: 'a' }, { user: 'a', cost: -1 }])).status).toBe(400)
    expect((await post('/v1/peek', { user: 'a' })).json.remaining).toBe(3)
  })

  test('with an error that only a limit can find still has the decisions on the other checks', async () => {
    const { post } = await served('limits: { tokens: { key: user, cost: tokens, sliding-log: 9/1h } }')
    const asks = [{ user: 'a', tokens: 4 }, { user: 'a', tokens: 'many' }, { user: 'a' }, { user: 'a', tokens: 4 }]
    const { status, json } = await post('/v1/check', asks)
    expect(status).toBe(200)
    expect(json).toMatchObject([
      { allowed: true, remaining: 5 },
      { error: expect.stringContaining("expected attribute 'tokens' as a cost") },
      { error: expect.stringContaining("expected attribute 'tokens' as a cost") },
      { allowed: true, remaining: 1 },
    ])
    expect((await post('/v1/check', asks[1])).status).toBe(400)
  })

  test('of a thousand checks is answered, one of 1,001 is not', async () => {
    const { post } = await served(TWO)
    const asks = (length: number) => Array.from({ length }, (_, i) => ({ user: i }))
    expect((await post('/v1/check', asks(1000))).json).toHaveLength(1000)
    const { status, json } = await post('/v1/check', asks(1001))
    expect([status, json.error]).toEqual([400, 'expected 1 to 1000 checks, got 1001'])
  })
})

describe('a peek', () => {
  test('says what a check would, and takes nothing', async () => {
    const { post } = await served(TWO)
    for (let i = 0; i < 3; i++) {
      expect((await post('/v1/peek', { user: '42', cost: 3 })).json).toMatchObject({ allowed: true, remaining: 3 })
    }
    const { status, headers } = await post('/v1/peek', { user: '42', cost: 4 })
    expect([status, headers['retry-after']]).toEqual([429, undefined])
    expect((await post('/v1/check', SUBJECT)).json.remaining).toBe(2)
  })

  test('may be a batch', async () => {
    const { post } = await served(TWO)
    const { json } = await post('/v1/peek', [
      { user: 'a', cost: 3 },
      { user: 'a', cost: 4 },
    ])
    expect(json).toMatchObject([{ allowed: true }, { allowed: false }])
  })
})

test('explain says of every limit whether it applies and why, and counts nothing', async () => {
  const { get, post } = await served(TWO)
  const { status, json } = await get('/v1/explain?user=4%202&cost=2')
  expect(status).toBe(200)
  expect(json).toEqual([
    {
      ...{ limit: 'per-ip', applies: false, mode: 'enforce' },
      why: 'it counts by ip, and there is no ip',
    },
    {
      ...{ limit: 'per-user', applies: true, mode: 'enforce', why: 'user is there', key: 'user=4 2' },
      ...{ policy: '3 in any 1h (sliding log)', cost: 2 },
    },
  ])
  expect((await post('/v1/peek', { user: '4 2' })).json.remaining).toBe(3)
})

describe('/json', () => {
  const ENVOY = 'domain: edge\ndescriptors: [{ key: user, rate_limit: { unit: hour, requests_per_unit: 1 } }]'
  const body = { domain: 'edge', descriptors: [{ entries: [{ key: 'user', value: '42' }] }] }

  test('decides as for Envoy: 200, then 429', async () => {
    const { post } = await served(TWO, { envoy: rulesFile(ENVOY) })
    expect(await post('/json', body)).toMatchObject({ status: 200, json: { overallCode: 'OK' } })
    expect(await post('/json', body)).toMatchObject({ status: 429, json: { overallCode: 'OVER_LIMIT' } })
  })

  test('is 400 for a body that is not a request', async () => {
    const { post } = await served(TWO, { envoy: rulesFile(ENVOY) })
    const { status, json } = await post('/json', { ...body, domain: '' })
    expect([status, json]).toEqual([400, { code: 3, message: 'expected a domain, got an empty one' }])
  })

  test('is 500 while no rules for Envoy are loaded', async () => {
    const { post } = await served(TWO)
    expect(await post('/json', body)).toMatchObject({ status: 500, json: { code: 14 } })
  })
})

test('a service with rules for Envoy alone answers a check with what it lacks', async () => {
  const { post } = await served('', { rules: '', envoy: rulesFile('domain: edge\ndescriptors: [{ key: user }]') })
  const { status, json } = await post('/v1/check', { user: '42' })
  expect([status, json.error]).toEqual([400, expect.stringContaining('no rules file')])
})

describe('a probable mistake of a caller', () => {
  const RULES =
    'limits: { per-user: { key: user, sliding-log: 9/1h }, search: { key: user, when: { route: /search }, sliding-log: 9/1h } }'

  test.each(['/v1/check', '/v1/peek', '/v1/reserve'])(
    '%s refuses an attribute that no rule names, and suggests the nearest',
    async path => {
      const { post } = await served(RULES)
      const { status, json } = await post(path, { usr: '42' })
      expect([status, json.error]).toEqual([
        400,
        expect.stringMatching(/attributes that the rules name, got 'usr'; write user/),
      ])
      expect((await post(path, { user: '42', plan: 'pro' })).json.error).toContain(
        "got 'plan'; named are ip, method, route, host, proto, user; to send it all the same, list it under attributes",
      )
    },
  )

  test.each([
    ['costs', 'cost'],
    ['ttl', 'ttl_ms'],
  ])('%s is no attribute: %s was meant', async (name, meant) => {
    const { post } = await served(RULES)
    const { status, json } = await post('/v1/reserve', { user: '42', [name]: 5 })
    expect([status, json.error]).toEqual([400, expect.stringContaining(`got '${name}'; write ${meant} [`)])
  })

  test('a check may send the attributes that the rules list and those that every request has', async () => {
    const { post } = await served(`attributes: [plan]\n${RULES}`)
    expect((await post('/v1/check', { user: '42', plan: 'pro', ip: '::1', host: 'a', method: 'GET' })).status).toBe(200)
  })

  test('a check that no limit applies to says so, and is warned of once', async () => {
    const { post, lines } = await served(RULES)
    for (let i = 0; i < 3; i++) {
      const { status, json } = await post('/v1/check', { ip: '203.0.113.7' })
      expect([status, json]).toEqual([
        200,
        expect.objectContaining({ limits: [], note: expect.stringContaining('no limit applies') }),
      ])
    }
    expect((await post('/v1/check', [{ ip: '203.0.113.7' }])).json).toMatchObject([{ note: expect.any(String) }])
    expect(lines.filter(line => line.includes('no limit applies'))).toEqual([
      expect.stringContaining('with ip: see sluice explain'),
    ])
    expect((await post('/v1/check', { user: '42' })).json).not.toHaveProperty('note')
  })
})

test('/v1/limits tells the limits that are served, with their modes now', async () => {
  const { get, post } = await served(
    'limits: { free: { key: user, when: { route: [/a, /b] }, plans: { by: plan, pro: 60/1m } }, all: { cost: tokens, token-bucket: { capacity: 5, refill: 1/s } } }',
  )
  await post('/v1/modes', { limit: 'all', mode: 'off' })
  expect((await get('/v1/limits')).json).toEqual([
    {
      limit: 'free',
      key: ['user'],
      when: { route: ['/a', '/b'] },
      by: 'plan',
      policy: { pro: '60 in 1m (sliding window)' },
      mode: 'enforce',
    },
    {
      ...{ limit: 'all', key: [], when: {}, cost: 'tokens', mode: 'off' },
      policy: '5 at once, then 1 every 1s (token bucket)',
    },
  ])
  expect((await get('/v1/modes')).json).toEqual([
    { limit: 'free', mode: 'enforce' },
    { limit: 'all', mode: 'off' },
  ])
})

describe('the further endpoints and warnings of envoyproxy/ratelimit', () => {
  const ENVOY =
    'domain: edge\ndescriptors: [{ key: user, value: vip, rate_limit: { unit: hour, requests_per_unit: 9 } }]'
  const started = () => served('', { rules: '', envoy: rulesFile(ENVOY) })

  test('/healthcheck and /rlconfig', async () => {
    const service = await started()
    expect(await service.get('/healthcheck')).toMatchObject({ status: 200, body: 'OK' })
    expect((await service.get('/rlconfig')).body).toBe(
      'edge.user_vip: unit=HOUR requests_per_unit=9, shadow_mode: false\n',
    )
    service.drain()
    expect((await service.get('/healthcheck')).status).toBe(500)
  })

  test('the log names a rule that gets hits above 1 once, unless it sets overdraw', async () => {
    const rule = (key: string, more = '') =>
      `  - { key: ${key}, ${more}rate_limit: { unit: hour, requests_per_unit: 9 } }`
    const marked = [rule('late', 'overdraw: true, '), rule('known', 'overdraw: false, ')]
    const file = ['domain: llm', 'descriptors:', rule('tokens'), ...marked].join('\n')
    const { post, lines } = await served('', { rules: '', envoy: rulesFile(file) })
    const ask = (hitsAddend: number, key: string) =>
      post('/json', { domain: 'llm', hitsAddend, descriptors: [{ entries: [{ key, value: 'a' }] }] })
    await ask(1, 'tokens')
    expect(lines).toEqual([])
    for (const key of ['tokens', 'tokens', 'late', 'known']) expect((await ask(3, key)).status).toBe(200)
    expect(lines).toEqual([expect.stringMatching(/'llm.tokens' gets hits above 1.*overdraw: true/)])
  })

  test('with counting apart every rule counts late hits, so the log names none', async () => {
    const { post, lines } = await served('', { rules: '', envoy: rulesFile(ENVOY), counting: 'apart' })
    await post('/json', { domain: 'edge', hitsAddend: 3, descriptors: [{ entries: [{ key: 'user', value: 'vip' }] }] })
    expect(lines).toEqual([])
  })

  test('a domain that no file has passes, is counted, and is warned of once', async () => {
    const { post, get, lines } = await started()
    const asked = { domain: 'egde', descriptors: [{ entries: [{ key: 'user', value: 'vip' }] }] }
    for (let i = 0; i < 2; i++) expect((await post('/json', asked)).status).toBe(200)
    expect((await get('/metrics')).body).toContain('sluice_unmatched_total{reason="domain_not_found"} 2')
    expect(lines).toEqual([expect.stringContaining('domain "egde", which no file has')])
  })
})
