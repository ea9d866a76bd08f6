import { describe, expect, test } from 'vitest'
import { DOWN, FIVE, outageWorld } from '../../fixtures/limiter/outage-world.ts'
import { flush, pass } from '../../fixtures/limiter/passing-time.ts'
import { RemoteMemory } from '../../fixtures/stores/remote-memory.ts'
import { createLimiter, type LimiterEvent, memoryStore, type OnOutage, tokenBucket } from '../../index.ts'
import { resilient } from '../../stores/remote/resilient.ts'
import { fakeClock } from '../../testing/index.ts'

const error = expect.objectContaining({ name: 'StoreUnavailable', code: DOWN })
const storeError = { type: 'store-error', limiter: 'api', error }

describe('a block made while the store is away', () => {
  test.each<OnOutage>(['local', { local: '2/m' }, 'open', 'closed'])(
    'refuses here at once, with %j',
    async onOutage => {
      const { store, limiter } = outageWorld({ one: { onOutage } })
      store.set(DOWN)
      await limiter.block('a', { for: '1m' })
      for (const call of [limiter.consume('a'), limiter.peek('a'), limiter.wait('a', { maxWait: '1s' })]) {
        expect(await call).toMatchObject({ allowed: false, reason: 'blocked', remaining: 0, retryAfterMs: 60_000 })
      }
      expect((await limiter.peek('b')).reason).not.toBe('blocked')
    },
  )

  test('is carried out when the store is back, with the time that is left', async () => {
    const { clock, store, limiter, elsewhere, events } = outageWorld({ one: {} })
    store.set(DOWN)
    await limiter.block('a', { for: '1m' })
    await pass(clock, 10_000)
    expect(elsewhere('one').peek('a').allowed).toBe(true)
    store.set('up')
    // Also before the store has it.
    expect(await limiter.consume('a')).toMatchObject({ allowed: false, reason: 'blocked', retryAfterMs: 50_000 })
    await pass(clock, 1000)
    expect(elsewhere('one').peek('a')).toMatchObject({ reason: 'blocked', retryAfterMs: 49_000 })
    expect(await limiter.consume('a')).toMatchObject({ reason: 'blocked', retryAfterMs: 49_000, degraded: false })
    await pass(clock, 49_000)
    expect((await limiter.consume('a')).allowed).toBe(true)
    expect(events.filter(({ type }) => type === 'store-error')).toEqual([])
  })

  test('takes nothing from the limits beside it', async () => {
    const { store, limiter, stored } = outageWorld({ near: { key: key => `1${key}` }, far: { key: key => `0${key}` } })
    store.set(DOWN, 1)
    await limiter.block('a', { limit: 'near', for: '1m' })
    expect(await limiter.consume('a')).toMatchObject({ allowed: false, policy: 'near', reason: 'blocked' })
    await flush()
    expect(stored('far', '0a')).toBe(0)
  })

  test('ends by unblock or reset, also where the store cannot be asked', async () => {
    for (const end of ['unblock', 'reset'] as const) {
      const { clock, store, limiter, elsewhere } = outageWorld({ one: {} })
      store.set(DOWN)
      await limiter.block('a', { for: '1m' })
      await expect(limiter[end]('a')).rejects.toEqual(error)
      expect((await limiter.consume('a')).allowed).toBe(true)
      store.set('up')
      await pass(clock, 2000)
      expect(elsewhere('one').peek('a').allowed).toBe(true)
    }
  })

  test('makes way for a later one', async () => {
    const { clock, store, limiter, elsewhere } = outageWorld({ one: {} })
    store.set(DOWN)
    await limiter.block('a', { for: '1h' })
    await limiter.block('a', { for: '1m' })
    expect((await limiter.consume('a')).retryAfterMs).toBe(60_000)
    store.set('up')
    await pass(clock, 1000)
    expect(elsewhere('one').peek('a').retryAfterMs).toBe(59_000)
  })

  test('that the store never got is told when it ends', async () => {
    const { clock, store, limiter, events } = outageWorld({ one: {} })
    store.set(DOWN)
    await limiter.block('a', { for: '5s' })
    await pass(clock, 6000)
    expect(events).toEqual([storeError])
  })

  test('in a store of this process is not touched', async () => {
    const { clock } = outageWorld({ one: {} })
    const remote = new RemoteMemory(clock)
    const limiter = createLimiter<string>({
      store: remote,
      limits: {
        near: { policy: FIVE, key: key => key, bucket: 'same', store: memoryStore({ clock }) },
        far: { policy: FIVE, key: key => key, bucket: 'same' },
      },
    })
    remote.set(DOWN)
    await limiter.block('a', { limit: 'far', for: '1m' })
    const { limits } = await limiter.peek('a')
    expect(limits.map(({ name, allowed }) => [name, allowed])).toEqual([
      ['near', true],
      ['far', false],
    ])
  })
})

describe('a refund made while the store is away', () => {
  test('is carried out when it is back, once', async () => {
    const { clock, store, limiter, stored, events } = outageWorld({ one: {} })
    const [first] = [await limiter.consume('a', { cost: 2 }), await limiter.consume('a', { cost: 2 })]
    store.set(DOWN)
    for (let i = 0; i < 3; i++) await limiter.refund(first!)
    await pass(clock, 5000)
    expect(stored('one', 'a')).toBe(4)
    store.set('up')
    await pass(clock, 1000)
    expect(stored('one', 'a')).toBe(2)
    await limiter.refund(first!)
    await pass(clock, 5000)
    expect(stored('one', 'a')).toBe(2)
    expect(events).toEqual([])
  })

  test('gives back what has not come back by itself since', async () => {
    const policy = tokenBucket({ capacity: 100, refill: '1/s' })
    const { clock, store, limiter, stored } = outageWorld({ one: { policy } })
    const decision = await limiter.consume('a', { cost: 10 })
    await limiter.consume('a', { cost: 50 })
    store.set(DOWN)
    await limiter.refund(decision)
    await pass(clock, 6000)
    store.set('up')
    await pass(clock, 1000)
    // 60 were taken, 7 have come back, and of the 10 those 7 are not given back again.
    expect(stored('one', 'a')).toBe(50)
  })

  test('is told and forgotten after an hour', async () => {
    const { clock, store, limiter, stored, events } = outageWorld({ one: {} })
    const decision = await limiter.consume('a', { cost: 2 })
    store.set(DOWN)
    await limiter.refund(decision)
    await pass(clock, 3_602_000, 1000)
    expect(events).toEqual([storeError])
    store.set('up')
    await pass(clock, 2000)
    expect(stored('one', 'a')).toBe(0) // a window later there is nothing of it
  })

  test('that was under way when the store fell silent is not sent again', async () => {
    const clock = fakeClock(1000)
    const inner = new RemoteMemory(clock)
    const events: LimiterEvent[] = []
    const store = resilient(inner, inner, { clock, random: () => 0.5 })
    const limiter = createLimiter(FIVE, { store, onEvent: event => events.push(event) })
    const turn = () => new Promise(resolve => setImmediate(resolve))
    const decision = await limiter.consume('a', { cost: 3 })
    await limiter.consume('a', { cost: 2 })
    inner.set('hung')
    const refunded = limiter.refund(decision)
    await turn()
    clock.advance(25)
    await refunded
    inner.set('up')
    for (let i = 0; i < 10; i++) {
      await turn()
      clock.advance(250)
    }
    await turn()
    expect(await limiter.peek('a')).toMatchObject({ degraded: false, remaining: 3 })
  })
})

test('no more than so many are kept: a block is refused to whoever asks for it, a refund is told', async () => {
  const { store, limiter, events } = outageWorld({ one: {} })
  const decision = await limiter.consume('a')
  store.set(DOWN)
  for (let i = 0; i < 10_000; i++) await limiter.block(`0-${i}`, { for: '1m' })
  await limiter.block('0-0', { for: '2m' }) // in place of its first
  await expect(limiter.block('0-more', { for: '1m' })).rejects.toEqual(error)
  await limiter.refund(decision)
  expect(events).toEqual([storeError])
})

test('what is still kept at close is told', async () => {
  const { clock, store, limiter, events, elsewhere } = outageWorld({ one: {} })
  store.set(DOWN)
  await limiter.block('a', { for: '1m' })
  await limiter.close()
  expect(events).toEqual([storeError])
  store.set('up')
  await pass(clock, 2000)
  expect(elsewhere('one').peek('a').allowed).toBe(true)
})
