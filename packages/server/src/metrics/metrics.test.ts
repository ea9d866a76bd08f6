import { startRedis, until } from 'sluice-harness'
import { describe, expect, test } from 'vitest'
import { type Served, served } from '../fixtures/http/served.ts'
import { scrape } from '../fixtures/prometheus.ts'
import { RawClient } from '../fixtures/resp/raw-client.ts'
import { rulesFile } from '../fixtures/rules-file.ts'
import { Metrics, type Readings } from './metrics.ts'

const RULES = `
limits:
  per-ip: { key: ip, sliding-log: 2/1h }
  per-user: { key: user, sliding-log: 100/1h }
  trial: { key: user, sliding-log: 1/1h, mode: shadow }
`
const NOTHING: Readings = { activeKeys: 0, holds: 0, overflowed: 0, breakerOpen: false, shadows: [] }

async function scraped({ get }: Served) {
  return scrape((await get('/metrics')).body)
}

const decisions = (policy: string, decision: string, outcome: string) =>
  `ratelimit_decisions_total{policy="${policy}",decision="${decision}",outcome="${outcome}"}`

test('every metric of the contract is there from the start, by its name and type', async () => {
  const { types, helped } = await scraped(await served(RULES))
  expect(Object.fromEntries(types)).toEqual({
    ratelimit_decisions_total: 'counter',
    ratelimit_check_duration_seconds: 'histogram',
    ratelimit_store_errors_total: 'counter',
    ratelimit_breaker_state: 'gauge',
    ratelimit_active_keys: 'gauge',
    ratelimit_held_reservations: 'gauge',
    ratelimit_overflow_keys_total: 'counter',
    ratelimit_shadow_divergence_total: 'counter',
    sluice_requests_total: 'counter',
    sluice_rules_reloads_total: 'counter',
    sluice_unmatched_total: 'counter',
  })
  expect(helped).toEqual(new Set(types.keys()))
})

test('decisions are counted by the limit that made them, shadows by themselves', async () => {
  const service = await served(RULES)
  const { post } = service
  for (let i = 0; i < 3; i++) await post('/v1/check', { ip: '203.0.113.7' })
  await post('/v1/check', [{ user: 'a' }, { user: 'a' }, { host: 'CH' }])
  await post('/v1/reserve', { user: 'a', cost: 5 })
  await post('/v1/peek', { user: 'a' })
  const { series } = await scraped(service)
  expect(Object.fromEntries(series)).toMatchObject({
    [decisions('per-ip', 'allowed', 'ok')]: 2,
    [decisions('per-ip', 'refused', 'ok')]: 1,
    [decisions('per-user', 'allowed', 'ok')]: 3,
    [decisions('trial', 'allowed', 'shadow')]: 1,
    [decisions('trial', 'refused', 'shadow')]: 2,
    [decisions('none', 'allowed', 'ok')]: 1,
    'ratelimit_shadow_divergence_total{policy="trial",from="allowed",to="refused"}': 2,
    'ratelimit_shadow_divergence_total{policy="trial",from="refused",to="allowed"}': 0,
    'sluice_requests_total{door="http"}': 6,
    ratelimit_check_duration_seconds_count: 7,
    ratelimit_active_keys: 4,
    ratelimit_held_reservations: 1,
    ratelimit_breaker_state: 0,
    ratelimit_overflow_keys_total: 0,
  })
})

test('requests over the other protocols are counted, too', async () => {
  const envoy = rulesFile(`
domain: edge
descriptors:
  - { key: user, rate_limit: { unit: hour, requests_per_unit: 1 } }
  - { key: dark, shadow_mode: true, rate_limit: { unit: hour, requests_per_unit: 1 } }
`)
  const service = await served(RULES, { envoy })
  const entry = (key: string) => ({ entries: [{ key, value: 'alice' }] })
  for (let i = 0; i < 2; i++) {
    await service.post('/json', { domain: 'edge', descriptors: [entry('user'), entry('unknown')] })
    await service.post('/json', { domain: 'edge', descriptors: [entry('dark')] })
    await service.get('/v1/decide', { 'x-forwarded-uri': '/' })
  }
  const resp = await RawClient.connected(service.ports.resp)
  await resp.send('CL.THROTTLE alice 0 1 3600\r\nCL.THROTTLE alice 0 1 3600\r\nQUIT\r\n').untilClosed()
  const { series, labelValues } = await scraped(service)
  expect(Object.fromEntries(series)).toMatchObject({
    [decisions('edge.user', 'allowed', 'ok')]: 1,
    [decisions('edge.user', 'refused', 'ok')]: 1,
    [decisions('edge.dark', 'allowed', 'ok')]: 1,
    [decisions('edge.dark', 'refused', 'shadow')]: 1,
    [decisions('cl.throttle', 'allowed', 'ok')]: 1,
    [decisions('cl.throttle', 'refused', 'ok')]: 1,
    'sluice_requests_total{door="http"}': 4,
    'sluice_requests_total{door="decide"}': 2,
    'sluice_requests_total{door="resp"}': 3,
    ratelimit_check_duration_seconds_count: 6,
  })
  expect(labelValues).not.toContain('alice')
})

test('no label ever holds a key', async () => {
  const service = await served(RULES)
  const keys = ['alice', '203.0.113.9', '"},x{"', 'a\nb', '\\']
  for (const key of keys) await service.post('/v1/check', { user: key, ip: key })
  const { labelValues } = await scraped(service)
  expect(labelValues.filter(value => keys.includes(value))).toEqual([])
  const text = (await service.get('/metrics')).body
  expect(text).not.toContain('alice')
  expect(text).not.toContain('203.0.113.9')
})

test('a limit may have any name', async () => {
  const names = ['a"b', 'back\\slash', 'two\nlines', 'é', 'a,b="c"} 1']
  const limits = Object.fromEntries(names.map(name => [name, { key: 'user', 'sliding-log': '9/1h' }]))
  const service = await served(JSON.stringify({ limits }))
  await service.post('/v1/check', { user: 'a' })
  for (const limit of names.slice(1)) await service.post('/v1/modes', { limit, mode: 'shadow' })
  await service.post('/v1/check', { user: 'a' })
  const { labelValues } = await scraped(service)
  expect(labelValues).toEqual(expect.arrayContaining(names))
})

test('the times of decisions add up', async () => {
  const metrics = new Metrics()
  for (const seconds of [0, 0.000_05, 0.000_051, 0.003, 0.1, 7]) metrics.took(seconds)
  const { series } = scrape(metrics.text(NOTHING))
  const buckets = [...series].filter(([name]) => name.includes('_bucket')).map(([, count]) => count)
  expect(buckets).toEqual([2, 3, 3, 3, 3, 3, 4, 4, 4, 5, 6])
  expect(series.get('ratelimit_check_duration_seconds_bucket{le="0.00005"}')).toBe(2)
  expect(series.get('ratelimit_check_duration_seconds_bucket{le="+Inf"}')).toBe(6)
  expect(series.get('ratelimit_check_duration_seconds_sum')).toBeCloseTo(7.103_101, 9)
  expect(series.get('ratelimit_check_duration_seconds_count')).toBe(6)
})

describe('outages', () => {
  test('are counted and shown while they last, and their decisions are counted by what decided', async () => {
    const redis = await startRedis()
    const rules = `
limits:
  closed: { key: closed, on_outage: closed, sliding-window: 10/1h }
  open: { key: open, on_outage: open, sliding-window: 10/1h }
  local: { key: local, on_outage: local, sliding-window: 10/1h }
`
    const service = await served(rules, { store: `redis://${redis.host}:${redis.port}` })
    const ask = (attribute: string) => service.post('/v1/check', { [attribute]: 'a' })
    await until('Redis decides', async () => (await ask('open')).json.degraded === false)
    await redis.kill()
    await until('that is noticed', async () => (await ask('open')).json.degraded === 'open')
    await ask('closed')
    await ask('local')
    const { series } = await scraped(service)
    expect(series.get(decisions('closed', 'refused', 'fail_closed'))).toBe(1)
    expect(series.get(decisions('open', 'allowed', 'fail_open'))).toBeGreaterThan(0)
    expect(series.get(decisions('local', 'allowed', 'local'))).toBe(1)
    expect(series.get('ratelimit_breaker_state')).toBe(1)
    const errors = [...series].filter(([name]) => name.startsWith('ratelimit_store_errors_total{store="redis",error="'))
    expect(errors.length).toBeGreaterThan(0)
    await redis.restart()
    await until('Redis decides again', async () => (await ask('open')).json.degraded === false)
    await until('that is shown', async () => (await scraped(service)).series.get('ratelimit_breaker_state') === 0)
    await redis.stop()
  })
})

test('beyond a bound, further names are counted together', () => {
  const metrics = new Metrics()
  for (let i = 0; i < 10_005; i++) {
    metrics.descriptors({
      overall: 'OK',
      degraded: false,
      statuses: [{ code: 'OK', rule: `edge.user_${i}`, over: false }],
    })
  }
  const { series } = scrape(metrics.text(NOTHING))
  const counted = [...series.keys()].filter(name => name.startsWith('ratelimit_decisions_total'))
  expect(counted).toHaveLength(10_001)
  expect(series.get(decisions('others', 'allowed', 'ok'))).toBe(5)
})

test('counts taken from one process are added to another exactly once', () => {
  const [worker, supervisor] = [new Metrics(), new Metrics()]
  for (let round = 1; round <= 2; round++) {
    worker.asked('http')
    worker.took(0.001)
    worker.descriptors({ overall: 'OK', degraded: false, statuses: [{ code: 'OK', rule: 'edge.user', over: false }] })
    worker.reloaded('refused')
    supervisor.merge(worker.take())
    supervisor.merge(worker.take())
    const { series } = scrape(supervisor.text(NOTHING))
    expect(series.get(decisions('edge.user', 'allowed', 'ok'))).toBe(round)
    expect(series.get('sluice_requests_total{door="http"}')).toBe(round)
    expect(series.get('sluice_rules_reloads_total{result="refused"}')).toBe(round)
    expect(series.get('ratelimit_check_duration_seconds_count')).toBe(round)
  }
})
