import { startRedis, until } from 'sluice-harness'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ask, remaining } from '../../fixtures/proxies/ask.ts'
import { applied, BY_FACT, PROXY } from '../../fixtures/proxies/by-fact.ts'
import { serving } from '../../fixtures/proxies/serving.ts'

const uri = (value: string) => ({ 'X-Forwarded-Uri': value })
const LOGIN = uri('/login')

describe('a refusal', () => {
  const FIVE = 'limits: { per-ip: { key: ip, sliding-log: 5/1m } }'
  const asking = { headers: uri('/') }

  test('is 429, with Retry-After that holds to the second', async () => {
    const { ports, clock } = await serving(FIVE)
    for (let i = 4; i >= 0; i--) {
      const answer = await ask(ports.http, '/v1/decide', asking)
      expect(answer).toMatchObject({ status: 200, body: '', headers: { 'x-sluice-status': '200' } })
      expect(answer.headers['retry-after']).toBeUndefined()
      expect(remaining(answer)).toEqual({ 'per-ip': i })
    }
    clock.advance(500)
    const refused = await ask(ports.http, '/v1/decide', asking)
    expect(refused).toMatchObject({ status: 429, headers: { 'content-type': 'application/problem+json' } })
    expect(JSON.parse(refused.body)).toMatchObject({ title: 'Quota Exceeded', status: 429 })
    expect(refused.headers).toMatchObject({
      ...{ 'x-sluice-status': '429', 'retry-after': '60', 'cache-control': 'no-store' },
      ...{ ratelimit: '"per-ip";r=0;t=60', 'ratelimit-policy': '"per-ip";q=5;w=60' },
    })
    clock.advance(59_499)
    expect(await ask(ports.http, '/v1/decide', asking)).toMatchObject({ status: 429, headers: { 'retry-after': '1' } })
    clock.advance(501)
    expect(await ask(ports.http, '/v1/decide', asking)).toMatchObject({ status: 200 })
  })

  test('is 403 if the query asks for it, with the real status in a header', async () => {
    const { ports } = await serving(FIVE)
    const path = '/v1/decide?deny=403&cost=5'
    expect(await ask(ports.http, path, asking)).toMatchObject({ status: 200, headers: { 'x-sluice-status': '200' } })
    expect(await ask(ports.http, path, asking)).toMatchObject({
      status: 403,
      headers: { 'x-sluice-status': '429', 'retry-after': '60', ratelimit: '"per-ip";r=0;t=60' },
    })
  })

  test('has no Retry-After if retrying never helps', async () => {
    const { ports } = await serving(FIVE)
    const answer = await ask(ports.http, '/v1/decide?cost=6', asking)
    expect(answer).toMatchObject({ status: 429, headers: { 'x-sluice-status': '429', ratelimit: '"per-ip";r=5' } })
    expect(answer.headers['retry-after']).toBeUndefined()
  })

  test('names all limits except quiet ones and shadows', async () => {
    const { ports } = await serving(`
limits:
  all: { fixed-window: 3/1h }
  login: { key: ip, sliding-log: 1/15m, quiet: true }
  trial: { key: ip, sliding-window: 1/1m, mode: shadow }
  off: { key: ip, sliding-window: 1/1m, mode: 'off' }
  per-ip: { key: ip, plans: { by: plan, free: 2/1m, pro: 4/1m } }
`)
    const path = '/v1/decide?plan=pro'
    expect(remaining(await ask(ports.http, path, asking))).toEqual({ all: 2, 'per-ip': 3 })
    const refused = await ask(ports.http, path, asking)
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '900' } })
    expect(remaining(refused)).toEqual({ all: 2, 'per-ip': 3 })
    expect(refused.headers['ratelimit-policy']).toBe('"all";q=3;w=3600, "per-ip";q=4;w=60')
  })

  test('has no RateLimit fields if no limit applies', async () => {
    const { ports } = await serving('limits: { user: { key: user, sliding-window: 5/1m } }')
    const answer = await ask(ports.http, '/v1/decide', asking)
    expect(answer.status).toBe(200)
    expect(answer.headers).not.toHaveProperty('ratelimit')
  })
})

describe('with a Redis that hangs, the answer comes all the same', () => {
  const rules = (onOutage: string) => `limits: { per-ip: { key: ip, sliding-window: 4/1m, on_outage: ${onOutage} } }`
  const ALLOWED = { status: 200, headers: { 'x-sluice-status': '200' } }

  test.each<[onOutage: string, path: string, answers: object[]]>([
    ['open', '/v1/decide', [ALLOWED, ALLOWED, ALLOWED]],
    ['local', '/v1/decide', [ALLOWED, ALLOWED, { status: 429, headers: { 'x-sluice-status': '429' } }]],
    ['closed', '/v1/decide', [{ status: 503, headers: { 'x-sluice-status': '503', 'retry-after': '1' } }]],
    ['closed', '/v1/decide?deny=403', [{ status: 403, headers: { 'x-sluice-status': '503', 'retry-after': '1' } }]],
  ])('by a limit that is %s, at %s', async (onOutage, path, answers) => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const { ports } = await serving(rules(onOutage), { store: `redis://${redis.host}:${redis.port}` })
    const asked = (client: string) => ask(ports.http, path, { headers: { ...uri('/'), 'X-Forwarded-For': client } })
    await until('Redis decides', async () => (await asked('203.0.113.1')).status === 200)
    redis.pause()
    for (const expected of answers) expect(await asked('203.0.113.2')).toMatchObject(expected)
    expect(redis.isUp).toBe(false)
  })
})

test('with a Redis that hangs from the start, no call waits for it either', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  redis.pause()
  const rules = 'limits: { per-ip: { key: ip, sliding-window: 4/1m, on_outage: closed } }'
  const { ports } = await serving(rules, { store: `redis://${redis.host}:${redis.port}` })
  // It would take a second to give the connection up: far from the deadline, however busy the machine is.
  const late = new Promise<string>(resolve => setTimeout(resolve, 700, 'late').unref())
  const answer = ask(ports.http, '/v1/decide', { headers: uri('/') })
  expect(await Promise.race([answer, late])).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
})

describe('a caller that may not check', () => {
  test('gets no decision', async () => {
    const { ports } = await serving(BY_FACT, { 'check-token': 'opensesame' })
    const withToken = (Authorization: string) => ({ headers: { ...LOGIN, Authorization }, from: PROXY })
    expect((await ask(ports.http, '/v1/decide', { headers: LOGIN, from: PROXY })).status).toBe(401)
    expect((await ask(ports.http, '/any', withToken('Bearer opensesamf'))).status).toBe(401)
    expect(await applied(ports.http, '/any', withToken('Bearer opensesame'))).toBe('get login')
  })
})
