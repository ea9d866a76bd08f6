import { describe, expect, test } from 'vitest'
import { flush, pass } from '../../fixtures/limiter/passing-time.ts'
import { laterMemory } from '../../fixtures/stores/later-memory.ts'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  gcra,
  type Limiter,
  leakyBucket,
  type Mode,
  memoryStore,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../index.ts'
import { type FakeClock, fakeClock } from '../../testing/index.ts'

const STORES = { memory: (clock: FakeClock) => memoryStore({ clock }), 'a store that answers later': laterMemory }

/** Two pass at once; of a leaky bucket, one. */
const EACH: readonly Policy[] = [
  tokenBucket({ capacity: 2, refill: '1/s' }),
  gcra({ rate: '1/s', burst: 2 }),
  fixedWindow({ limit: 2, window: '1s' }),
  slidingWindow({ limit: 2, window: '1s' }),
  slidingLog({ limit: 2, window: '1s' }),
  concurrency({ limit: 2, ttl: '1s' }),
]
const LEAKY = leakyBucket({ capacity: 9, leak: '1/s' })

type Outcome = 'starts' | 'waits' | 'is refused'

describe.each(Object.entries(STORES))('with maxQueue, over %s', (_, storeOf) => {
  const world = (policy: Policy) => {
    const clock = fakeClock()
    return {
      clock,
      limiter: createLimiter<string, Mode>({ store: storeOf(clock), limits: { one: { policy, key: k => k } } }),
    }
  }

  async function outcomes(limiter: Limiter<string, Mode>, bounds: readonly (number | undefined)[]): Promise<Outcome[]> {
    const seen: Outcome[] = bounds.map(() => 'waits')
    bounds.forEach((maxQueue, i) => {
      void limiter.wait('a', maxQueue === undefined ? {} : { maxQueue }).then(({ allowed }) => {
        seen[i] = allowed ? 'starts' : 'is refused'
      })
    })
    await flush()
    return seen
  }

  test.each(EACH)('a call is refused at once where so many of its key wait: $kind', async policy => {
    const { limiter } = world(policy)
    expect(await outcomes(limiter, [1, 1, 1, 1, 2, 2, undefined])).toEqual([
      ...['starts', 'starts', 'waits', 'is refused', 'waits', 'is refused', 'waits'],
    ])
  })

  test.each([
    [LEAKY, LEAKY],
    [LEAKY, tokenBucket({ capacity: 9, refill: '1/s' })],
  ])('a leaky bucket counts those who wait for their start', async (...policies) => {
    const clock = fakeClock()
    const limits = Object.fromEntries(policies.map((policy, i) => [`${i}`, { policy, key: (k: string) => k }]))
    const limiter = createLimiter<string, Mode>({ store: storeOf(clock), limits })
    expect(await outcomes(limiter, [1, 1, 1, 2])).toEqual(['starts', 'waits', 'is refused', 'waits'])
  })

  test.each([...EACH, LEAKY])('with 0 none waits: $kind', async policy => {
    const { limiter } = world(policy)
    await limiter.consume('a')
    await limiter.consume('a')
    expect(await outcomes(limiter, [0, 0])).toEqual(['is refused', 'is refused'])
  })

  test.each(EACH)('the refusal is the one of maxWait, and takes nothing: $kind', async policy => {
    const [full, twin] = [world(policy), world(policy)]
    for (const { limiter } of [full, twin]) {
      for (let i = 0; i < 3; i++) void limiter.wait('a')
      await flush()
    }
    const refused = await full.limiter.wait('a', { maxQueue: 1 })
    expect(refused.toJSON()).toEqual((await twin.limiter.wait('a', { maxWait: '0s' })).toJSON())
    expect(refused).toMatchObject({ allowed: false, reason: 'limited' })
    expect((await full.limiter.peek('a')).toJSON()).toEqual((await twin.limiter.peek('a')).toJSON())
  })

  test.each(EACH)('there is room again when one starts or leaves: $kind', async policy => {
    const { clock, limiter } = world(policy)
    const leaving = new AbortController()
    for (const signal of [undefined, undefined, undefined, leaving.signal]) {
      limiter.wait('a', { ...(signal && { signal }), maxQueue: 2 }).catch(() => {})
    }
    expect(await outcomes(limiter, [2])).toEqual(['is refused'])
    leaving.abort()
    expect(await outcomes(limiter, [2, 2])).toEqual(['waits', 'is refused'])
    await pass(clock, 2000)
    expect(await outcomes(limiter, [2])).not.toEqual(['is refused'])
  })

  test('other keys do not count', async () => {
    const { limiter } = world(EACH[0]!)
    await outcomes(limiter, [9, 9, 9, 9])
    void limiter.consume('b', { cost: 2 })
    const other = limiter.wait('b', { maxQueue: 1 })
    expect(await Promise.race([other, flush()])).toBeUndefined()
  })
})

test.each([-1, 1.5, Number.NaN, '5', null, true])('maxQueue: %j is refused', async maxQueue => {
  const limiter = createLimiter('5/s')
  await expect(limiter.wait('a', { maxQueue: maxQueue as never })).rejects.toMatchObject({ code: 'SLUICE_BAD_OPTION' })
})
