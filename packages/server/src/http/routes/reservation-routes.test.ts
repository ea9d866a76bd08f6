import { startRedis } from 'sluice-harness'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Served, served, undisturbed } from '../../fixtures/http/served.ts'

const RULES = `
limits:
  requests: { key: user, cost: 1, sliding-log: 100/1h }
  tokens: { key: user, token-bucket: { capacity: 1000, refill: 1/1h } }
  bytes: { key: user, cost: bytes, token-bucket: { capacity: 5000, refill: 1/1h } }
`
const SUBJECT = { user: '42', bytes: 2000 }

async function left({ post }: Served, user = SUBJECT.user): Promise<Record<string, number>> {
  const { json } = await post('/v1/peek', { ...SUBJECT, user, cost: 0 })
  return Object.fromEntries(json.limits!.map(({ name, remaining }) => [name, remaining]))
}

async function reserved({ post }: Served, more: object = {}): Promise<string> {
  const { status, json } = await post('/v1/reserve', { ...SUBJECT, cost: 600, ...more })
  expect(status).toBe(200)
  return json.id!
}

describe('in memory', () => {
  test('a reservation takes its cost until it is settled for the actual cost', async () => {
    const service = await served(RULES)
    const id = await reserved(service)
    expect(await left(service)).toEqual({ requests: 99, tokens: 400, bytes: 3000 })
    const { status, json } = await service.post('/v1/settle', { id, actual: 150 })
    expect([status, json]).toEqual([200, { reserved: 600, charged: 150, overdrawn: false }])
    expect(await left(service)).toEqual({ requests: 99, tokens: 850, bytes: 3000 })
  })

  test('limits that count different things are settled by name', async () => {
    const service = await served(RULES)
    const id = await reserved(service)
    await service.post('/v1/settle', { id, actual: { tokens: 150, bytes: 500 } })
    expect(await left(service)).toEqual({ requests: 99, tokens: 850, bytes: 4500 })
  })

  test('an actual cost above the reservation is charged and reported as overdrawn', async () => {
    const service = await served(RULES)
    const { json } = await service.post('/v1/settle', { id: await reserved(service), actual: 900 })
    expect(json).toEqual({ reserved: 600, charged: 900, overdrawn: true })
    expect(await left(service)).toMatchObject({ tokens: 100 })
  })

  test('a cancelled reservation costs nothing', async () => {
    const service = await served(RULES)
    const { status } = await service.post('/v1/settle', { id: await reserved(service), cancel: true })
    expect(status).toBe(200)
    expect(await left(service)).toMatchObject({ tokens: 1000 })
  })

  test('a reservation that is refused has no id, and takes nothing', async () => {
    const service = await served(RULES)
    const { status, json, headers } = await service.post('/v1/reserve', { ...SUBJECT, cost: 1001 })
    expect([status, headers['retry-after']]).toEqual([429, undefined])
    expect(json).toMatchObject({ id: null, decision: { allowed: false, policy: 'tokens' } })
    expect(await left(service)).toEqual({ requests: 100, tokens: 1000, bytes: 5000 })
  })

  test('settled twice, it counts once, and the answer is the same', async () => {
    const service = await served(RULES)
    const id = await reserved(service)
    const first = await service.post('/v1/settle', { id, actual: 100 })
    for (const more of [{ actual: 100 }, { actual: 0 }, { cancel: true }]) {
      const { status, json } = await service.post('/v1/settle', { id, ...more })
      expect([status, json]).toEqual([200, first.json])
    }
    expect(await left(service)).toMatchObject({ tokens: 900 })
  })

  test('a reservation of cost 0 holds nothing, and settling it charges the actual cost', async () => {
    const service = await served(RULES)
    const before = await left(service)
    const id = await reserved(service, { cost: 0, bytes: 0, ttl_ms: 86_400_000 })
    expect(await left(service)).toEqual({ ...before, requests: 99 })
    expect((await service.post('/v1/settle', { id, actual: 70 })).json).toMatchObject({ charged: 70 })
    expect(await left(service)).toMatchObject({ tokens: 930 })
  })

  test('an expired reservation counts as settled at its reserved cost', async () => {
    const service = await served(RULES)
    const id = await reserved(service, { ttl_ms: 5000 })
    service.clock.advance(5000)
    expect((await service.post('/v1/settle', { id, actual: 0 })).status).toBe(404)
    expect(await left(service)).toMatchObject({ tokens: 400 })
  })

  test('settling by an unknown limit is an error that keeps the reservation', async () => {
    const service = await served(RULES)
    const id = await reserved(service)
    const { status, json } = await service.post('/v1/settle', { id, actual: { token: 150 } })
    expect([status, json.error]).toEqual([400, expect.stringContaining("got 'token'")])
    expect((await service.post('/v1/settle', { id, actual: { tokens: 150 } })).status).toBe(200)
    expect(await left(service)).toMatchObject({ tokens: 850 })
  })

  test('a reservation holds a slot of a concurrency limit until it is settled', async () => {
    const { post, clock } = await served('limits: { jobs: { key: user, concurrency: { limit: 2, ttl: 1m } } }')
    const reserve = () => post('/v1/reserve', { user: '42' })
    const [first] = [await reserve(), await reserve()]
    expect((await reserve()).status).toBe(429)
    expect((await post('/v1/settle', { id: first!.json.id, actual: 1 })).status).toBe(200)
    expect([(await reserve()).status, (await reserve()).status]).toEqual([200, 429])
    clock.advance(60_000)
    expect((await reserve()).status).toBe(200)
  })

  test.each([
    ['no id', { actual: 1 }, 'expected the id that reserve answered'],
    ['an id that is none', { id: 7, actual: 1 }, 'expected the id that reserve answered'],
    ['nothing to settle at', { id: 'x' }, 'expected actual as a whole number'],
    ['less than nothing', { id: 'x', actual: -1 }, 'expected actual as a whole number'],
    ['a part of one', { id: 'x', actual: 0.5 }, 'expected actual as a whole number'],
    ['a text', { id: 'x', actual: '5' }, 'expected actual as a whole number'],
    ['a list', { id: 'x', actual: [5] }, 'expected actual as a whole number'],
    ['no names', { id: 'x', actual: {} }, 'expected actual as a whole number'],
    ['a name with less than nothing', { id: 'x', actual: { tokens: -1 } }, 'expected actual as a whole number'],
    ['half a cancel', { id: 'x', cancel: 'yes' }, 'expected actual as a whole number'],
  ])('to settle with %s is a mistake', async (_, body, message) => {
    const { post } = await served(RULES)
    const { status, json } = await post('/v1/settle', body)
    expect([status, json.error]).toEqual([400, expect.stringContaining(message)])
  })

  test.each([0, -1, 1.5, '60000', null, 86_400_001, 1e308])('to reserve for %j ms is a mistake', async ttl => {
    const { post } = await served(RULES)
    const { status, json } = await post('/v1/reserve', { ...SUBJECT, ttl_ms: ttl })
    expect([status, json.error]).toEqual([400, 'expected ttl_ms as a whole number from 1 to 86400000'])
  })

  test.each(['', 'x', 'AAAAAAAAAAAAAAAAAAAAAA', '__proto__', 'x'.repeat(100_000), '\u0000'])(
    'an id that was never issued is not found',
    async id => {
      const { post } = await served(RULES)
      expect((await post('/v1/settle', { id, actual: 1 })).status).toBe(404)
    },
  )
})

describe('in Redis', () => {
  const SECRET = 'a secret that replicas share'

  async function replicas(...secrets: string[]): Promise<Served[]> {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const store = `redis://${redis.host}:${redis.port}`
    return Promise.all(secrets.map(secret => served(RULES, { store, ...(secret && { secret }) })))
  }

  test('another replica can settle or cancel a reservation', async () => {
    const [one, other] = (await replicas(SECRET, SECRET)) as [Served, Served]
    await undisturbed([one, other], async user => {
      const id = await reserved(one, { user })
      expect(await left(other, user)).toEqual({ requests: 99, tokens: 400, bytes: 3000 })
      const { status, json } = await other.post('/v1/settle', { id, actual: { tokens: 150, bytes: 500 } })
      expect([status, json]).toEqual([200, { reserved: 600, charged: 150, overdrawn: false }])
      expect(await left(one, user)).toEqual({ requests: 99, tokens: 850, bytes: 4500 })
      expect((await other.post('/v1/settle', { id: await reserved(one, { user }), cancel: true })).status).toBe(200)
      expect(await left(one, user)).toMatchObject({ tokens: 850 })
    })
  })

  test('settled twice, it counts once', async () => {
    const [one, other] = (await replicas(SECRET, SECRET)) as [Served, Served]
    await undisturbed([one, other], async user => {
      const id = await reserved(one, { user })
      const first = await one.post('/v1/settle', { id, actual: 150 })
      const again = [
        await other.post('/v1/settle', { id, actual: 150 }),
        await other.post('/v1/settle', { id, actual: 0 }),
        await one.post('/v1/settle', { id, cancel: true }),
      ]
      for (const { status, json } of again) expect([status, json]).toEqual([200, first.json])
      expect(await left(one, user)).toMatchObject({ tokens: 850 })
    })
  })

  test('a replica with another secret, or with none, does not know the id', async () => {
    const [one, other, third] = (await replicas(SECRET, `${SECRET}!`, '')) as [Served, Served, Served]
    await undisturbed([one, other, third], async user => {
      const id = await reserved(one, { user })
      expect((await other.post('/v1/settle', { id, actual: 0 })).status).toBe(404)
      expect((await third.post('/v1/settle', { id, actual: 0 })).status).toBe(404)
      expect(await left(one, user)).toMatchObject({ tokens: 400 })
    })
  })

  test('a truncated id is invalid, and an id reveals nothing of its reservation', async () => {
    const [one] = (await replicas(SECRET)) as [Served]
    await undisturbed([one], async user => {
      const bytes = Buffer.from(await reserved(one, { user }), 'base64url')
      for (const hidden of [user, 'tokens', 'requests']) expect(bytes.includes(hidden)).toBe(false)
      for (const length of [0, 11, 12, 27, 28, bytes.length - 1]) {
        const id = bytes.subarray(0, length).toString('base64url')
        expect((await one.post('/v1/settle', { id, actual: 0 })).status).toBe(404)
      }
      expect(await left(one, user)).toMatchObject({ tokens: 400 })
    })
  })
})

test('a settled reservation tells what the limit reserved, also where an attribute says the cost', async () => {
  const { post } = await served(
    'limits: { tokens: { key: user, cost: tokens, token-bucket: { capacity: 1000, refill: 1/h } } }',
  )
  const { json } = await post('/v1/reserve', { user: '42', tokens: 500 })
  expect((await post('/v1/settle', { id: json.id, actual: { tokens: 300 } })).json).toEqual({
    reserved: 500,
    charged: 300,
    overdrawn: false,
  })
})
