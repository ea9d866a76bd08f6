import { startRedis, until } from 'sluice-harness'
import { describe, expect, test } from 'vitest'
import { served } from '../../fixtures/http/served.ts'

const RULES = `
limits:
  everybody: { sliding-log: 100/1h }
  per-ip: { key: ip, sliding-log: 5/1h }
  per-user: { key: user, token-bucket: { capacity: 10, refill: 1/1h } }
  trial: { key: user, sliding-log: 2/1h, mode: shadow }
`
const SUBJECT = { ip: '203.0.113.7', user: '42' }

async function serving() {
  const service = await served(RULES)
  const left = async () => {
    const { json } = await service.post('/v1/peek', SUBJECT)
    return Object.fromEntries(json.limits!.map(({ name, remaining }) => [name, remaining]))
  }
  return { ...service, left }
}

describe('refund', () => {
  test('gives back to all limits that apply, never beyond full', async () => {
    const { post, left } = await serving()
    await post('/v1/check', { ...SUBJECT, cost: 4 })
    expect(await post('/v1/refund', { ...SUBJECT, cost: 3 })).toMatchObject({ status: 200, json: { refunded: true } })
    expect(await left()).toMatchObject({ everybody: 99, 'per-ip': 4, 'per-user': 9 })
    await post('/v1/refund', { ...SUBJECT, cost: 50 })
    expect(await left()).toMatchObject({ everybody: 100, 'per-ip': 5, 'per-user': 10 })
  })
})

describe('reset', () => {
  test('forgets what is counted for a subject, and leaves what all share', async () => {
    const { post, left } = await serving()
    await post('/v1/check', { ...SUBJECT, cost: 4 })
    expect(await post('/v1/reset', SUBJECT)).toMatchObject({ status: 200, json: { reset: true } })
    expect(await left()).toMatchObject({ everybody: 96, 'per-ip': 5, 'per-user': 10 })
  })

  test('forgets in the limits named', async () => {
    const { post, left } = await serving()
    await post('/v1/check', { ...SUBJECT, cost: 4 })
    await post('/v1/reset', { ...SUBJECT, limits: ['everybody', 'per-ip'] })
    expect(await left()).toMatchObject({ everybody: 100, 'per-ip': 5, 'per-user': 6 })
  })

  test.each([
    [{ limits: 'per-ip' }, 'expected limits as names of limits'],
    [{ limits: [1] }, 'expected limits as names of limits'],
    [{ limits: ['nope'] }, 'nope'],
    [{ limits: ['__proto__'] }, '__proto__'],
    [{ limits: null }, 'expected limits as names of limits'],
  ])('with %j is a mistake', async (body, message) => {
    const { post } = await serving()
    const { status, json } = await post('/v1/reset', { ...SUBJECT, ...body })
    expect([status, json.error]).toEqual([400, expect.stringContaining(message)])
  })
})

describe('modes', () => {
  test('turn a limit off, on again, and into a shadow', async () => {
    const { post } = await serving()
    const check = async () => (await post('/v1/check', { ...SUBJECT, cost: 6 })).status
    const turn = (mode: string) => post('/v1/modes', { limit: 'per-ip', mode })
    expect(await check()).toBe(429)
    expect(await turn('off')).toMatchObject({ status: 200, json: { limit: 'per-ip', mode: 'off' } })
    expect(await check()).toBe(200)
    await turn('enforce')
    expect(await check()).toBe(429)
    await post('/v1/reset', SUBJECT)
    await turn('shadow')
    expect(await check()).toBe(200)
  })

  test.each([
    [{ limit: 'nope', mode: 'off' }, 'nope'],
    [{ limit: 'constructor', mode: 'off' }, 'constructor'],
    [{ limit: 'per-ip', mode: 'maybe' }, 'maybe'],
    [{ limit: 'per-ip' }, 'undefined'],
    [{ mode: 'off' }, 'expected limit as the name of one'],
  ])('%j is a mistake', async (body, message) => {
    const { post, left } = await serving()
    const { status, json } = await post('/v1/modes', body)
    expect([status, json.error]).toEqual([400, expect.stringContaining(message)])
    expect(await left()).toMatchObject({ 'per-ip': 5 })
  })
})

test('shadows tell what enforcing them would change, and for whom', async () => {
  const { get, post } = await serving()
  for (let i = 0; i < 3; i++) await post('/v1/check', SUBJECT)
  const { status, json } = await get('/v1/shadows')
  expect(status).toBe(200)
  expect(json).toMatchObject([{ limit: 'trial', decided: 3, newlyRefused: 1, newlyAllowed: 0, top: [{ count: 1 }] }])
})

test('an operator is told, with 503, that the store cannot be asked', async () => {
  const redis = await startRedis()
  const { post } = await served(RULES, { store: `redis://${redis.host}:${redis.port}` })
  await until('Redis decides', async () => (await post('/v1/peek', SUBJECT)).json.degraded === false)
  await redis.stop()
  for (const path of ['/v1/reset', '/v1/refund']) {
    const { status, json, headers } = await post(path, SUBJECT)
    expect([status, json, headers['retry-after']]).toEqual([503, { error: 'the store cannot be asked now' }, '1'])
  }
})
