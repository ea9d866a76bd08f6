import { describe, expect, test } from 'vitest'
import { DOWN, FIVE, outageWorld } from '../../fixtures/limiter/outage-world.ts'
import { flush, pass } from '../../fixtures/limiter/passing-time.ts'
import { concurrency, leakyBucket, slidingLog, tokenBucket } from '../../index.ts'

const slots = concurrency({ limit: 4, ttl: '1h' })
const bucket = tokenBucket({ capacity: 4, refill: '1/s' })

describe('what was decided here', () => {
  test('is refunded here, and what the store decided in the store', async () => {
    const { store, limiter, stored } = outageWorld({ one: {} })
    const far = await limiter.consume('a', { cost: 2 })
    store.set(DOWN)
    const near = await limiter.consume('a', { cost: 3 })
    await limiter.refund(near)
    expect(await limiter.peek('a', { cost: 3 })).toMatchObject({ allowed: true, degraded: 'local' })
    store.set('up')
    expect(stored('one', 'a')).toBe(2)
    await limiter.refund(near) // once
    await limiter.refund(far)
    expect(stored('one', 'a')).toBe(0)
  })

  test('is released here, and whoever waits for it starts', async () => {
    const { store, limiter, stored } = outageWorld({ one: { policy: slots } })
    store.set(DOWN)
    const held = [await limiter.consume('a'), await limiter.consume('a')]
    const wait = limiter.wait('a')
    await flush()
    held[0]!.release()
    expect(await wait).toMatchObject({ allowed: true, degraded: 'local' })
    expect(stored('one', 'a')).toBe(0)
  })

  test('is settled here', async () => {
    const { store, limiter } = outageWorld({ one: {} })
    store.set(DOWN)
    const call = await limiter.reserve('a', { cost: 3, ttl: '1m' })
    expect(call.allowed).toBe(true)
    expect((await limiter.consume('a')).allowed).toBe(false)
    store.set('up')
    expect(await call.settle(1)).toEqual({ reserved: 3, charged: 1, overdrawn: false })
    store.set(DOWN)
    expect((await limiter.peek('a')).remaining).toBe(2)
  })

  test('with open there is nothing to give back or to settle', async () => {
    const { store, limiter, stored } = outageWorld({ one: { onOutage: 'open' } })
    store.set(DOWN)
    const call = await limiter.reserve('a', { cost: 3, ttl: '1m' })
    expect(call.allowed).toBe(true)
    await limiter.refund(await limiter.consume('a'))
    expect(await call.settle(2)).toEqual({ reserved: 3, charged: 0, overdrawn: false })
    expect(stored('one', 'a')).toBe(0)
  })

  test('a decision over both is given back in both', async () => {
    const { store, limiter, stored } = outageWorld({ far: { key: key => `0${key}` }, near: { key: key => `1${key}` } })
    store.set(DOWN, 1)
    const decision = await limiter.consume('a', { cost: 3 })
    expect(stored('far', '0a')).toBe(3)
    await limiter.refund(decision)
    expect(stored('far', '0a')).toBe(0)
    expect((await limiter.consume('a', { cost: 3 })).allowed).toBe(true)
  })
})

describe('while the store is down', () => {
  const error = expect.objectContaining({ name: 'StoreUnavailable', code: DOWN })
  const storeError = { type: 'store-error', limiter: 'api', error }

  test('the end of a request does not fail, and the failure is told', async () => {
    const { store, limiter, events } = outageWorld({ one: {}, two: { policy: concurrency({ limit: 9, ttl: '1h' }) } })
    const decision = await limiter.consume('a')
    const [one, two] = [
      await limiter.reserve('a', { cost: 3, ttl: '1m' }),
      await limiter.reserve('a', { cost: 1, ttl: '1m' }),
    ]
    store.set(DOWN)
    decision.release()
    await flush()
    // What expiry will charge is what was reserved.
    expect(await one.settle(1)).toEqual({ reserved: 3, charged: 3, overdrawn: false })
    expect(await two.cancel()).toEqual({ reserved: 1, charged: 1, overdrawn: false })
    expect(events).toEqual([storeError, storeError, storeError])
  })

  test('an operator is told that it was not done', async () => {
    const { store, limiter } = outageWorld({ one: { policy: slidingLog({ limit: 5, window: '1m' }) } })
    store.set(DOWN)
    const calls = [limiter.reset('a'), limiter.unblock('a'), limiter.refund('a', { cost: 1 }), limiter.history('a')]
    for (const call of calls) await expect(call).rejects.toEqual(error)
  })
})

describe('wait', () => {
  test('books in the local bucket, at its rate', async () => {
    const { clock, store, limiter } = outageWorld({ one: { policy: bucket } })
    store.set(DOWN)
    const started: number[] = []
    for (let i = 0; i < 5; i++) void limiter.wait('a').then(() => started.push(clock.now() - 1000))
    await pass(clock, 10_000)
    expect(started).toEqual([0, 0, 2000, 4000, 6000])
  })

  test('one who leaves moves up those in the same bucket, and no others', async () => {
    const { clock, store, limiter } = outageWorld({ one: { policy: tokenBucket({ capacity: 1, refill: '1/s' }) } })
    const started: Record<string, number> = {}
    const wait = (name: string, signal?: AbortSignal) =>
      limiter.wait('a', signal && { signal }).then(
        () => (started[name] = clock.now() - 1000),
        () => {},
      )
    const leaving = new AbortController()
    wait('far 1')
    wait('far 2', leaving.signal)
    wait('far 3')
    await flush()
    store.set(DOWN)
    wait('near 1')
    wait('near 2')
    await flush()
    store.set('up')
    leaving.abort()
    await pass(clock, 10_000)
    expect(started).toEqual({ 'far 1': 0, 'far 3': 1000, 'near 1': 0, 'near 2': 2000 })
  })

  test.each([bucket, leakyBucket({ capacity: 4, leak: '1/s' }), slots, FIVE])(
    'goes on when the store is back, or ends with a refusal at maxWait: $kind',
    async policy => {
      const { clock, store, limiter } = outageWorld({ one: { policy, onOutage: 'closed' } })
      store.set(DOWN)
      const [patient, hasty] = [limiter.wait('a'), limiter.wait('a', { maxWait: '3500ms' })]
      await pass(clock, 4000)
      expect(await hasty).toMatchObject({ allowed: false, reason: 'outage', degraded: 'closed' })
      store.set('up')
      await pass(clock, 1000)
      expect(await patient).toMatchObject({ allowed: true, degraded: false })
    },
  )

  test('for more than the local limit goes on when the store is back', async () => {
    const { clock, store, limiter } = outageWorld({ one: { policy: bucket } })
    store.set(DOWN)
    const wait = limiter.wait('a', { cost: 4 })
    await pass(clock, 2500)
    store.set('up')
    await pass(clock, 1000)
    expect(await wait).toMatchObject({ allowed: true, degraded: false })
  })

  test.each([bucket, leakyBucket({ capacity: 4, leak: '1/s' }), slots, FIVE])(
    'starts at once with open: $kind',
    async policy => {
      const { store, limiter } = outageWorld({ one: { policy, onOutage: 'open' } })
      store.set(DOWN)
      for (let i = 0; i < 10; i++) expect(await limiter.wait('a')).toMatchObject({ allowed: true, degraded: 'open' })
    },
  )
})
