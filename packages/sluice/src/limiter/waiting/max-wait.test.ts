import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { flush } from '../../fixtures/limiter/passing-time.ts'
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
const STEP_MS = 100

/** What became of one wait, and when. */
type End = { allowed: boolean; at: number; retryAfterMs: number }

class Queue {
  readonly clock = fakeClock(1_700_000_000_000)
  readonly limiter: Limiter<string, Mode>
  private readonly start = this.clock.now()

  constructor(storeOf: (typeof STORES)['memory' | 'a store that answers later'], ...policies: readonly Policy[]) {
    const limits = policies.map((policy, i) => [`${i}`, { policy, key: (key: string) => key }])
    this.limiter = createLimiter<string, Mode>({ store: storeOf(this.clock), limits: Object.fromEntries(limits) })
  }

  get now(): number {
    return this.clock.now() - this.start
  }

  /** Returns what will hold its end. */
  async wait(cost: number, maxWaitMs?: number): Promise<Partial<End>> {
    const end: Partial<End> = {}
    const options = maxWaitMs === undefined ? { cost } : { cost, maxWait: `${maxWaitMs}ms` as const }
    void this.limiter.wait('a', options).then(({ allowed, retryAfterMs }) => {
      Object.assign(end, { allowed, retryAfterMs, at: this.now })
    })
    await flush()
    return end
  }

  async pass(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += STEP_MS) {
      this.clock.advance(STEP_MS)
      await flush()
    }
  }
}

/** One passes at once. When the second and the third would start. */
const EACH: [Policy, secondMs: number, thirdMs: number][] = [
  [tokenBucket({ capacity: 1, refill: '1/s' }), 1000, 2000],
  [gcra({ rate: '1/s', burst: 1 }), 1000, 2000],
  [leakyBucket({ capacity: 3, leak: '1/s' }), 1000, 2000],
  [fixedWindow({ limit: 1, window: '1s' }), 1000, 2000],
  [fixedWindow({ limit: 1, window: '1s', align: 'first' }), 1000, 2000],
  [slidingLog({ limit: 1, window: '1s' }), 1000, 2000],
  [slidingWindow({ limit: 1, window: '1s' }), 2000, 4000],
]

describe.each(Object.entries(STORES))('over %s', (_, storeOf) => {
  test.each(EACH)('a wait that would take longer than maxWait is refused at once: %o', async (policy, secondMs) => {
    const queue = new Queue(storeOf, policy)
    await queue.wait(1)
    expect(await queue.wait(1, secondMs - 1)).toMatchObject({ allowed: false, at: 0 })
    const second = await queue.wait(1, secondMs)
    await queue.pass(secondMs)
    expect(second).toEqual({ allowed: true, at: secondMs, retryAfterMs: 0 })
  })

  test.each(EACH)('behind others, too: %o', async (policy, secondMs, thirdMs) => {
    const queue = new Queue(storeOf, policy)
    await queue.wait(1)
    const second = await queue.wait(1)
    expect(await queue.wait(1, secondMs)).toMatchObject({ allowed: false, at: 0 })
    const third = await queue.wait(1, thirdMs)
    await queue.pass(thirdMs)
    expect([second.at, third.at]).toEqual([secondMs, thirdMs])
  })

  test('where what was counted frees bit by bit, each is told its own time', async () => {
    const queue = new Queue(storeOf, slidingLog({ limit: 3, window: '1s' }))
    for (let i = 0; i < 3; i++) {
      await queue.wait(1)
      await queue.pass(200)
    }
    const first = await queue.wait(1)
    expect(await queue.wait(1, 500)).toEqual({ allowed: false, at: 600, retryAfterMs: 600 })
    const second = await queue.wait(1, 600)
    await queue.pass(1000)
    expect([first.at, second.at]).toEqual([1000, 1200])
  })

  const four = slidingWindow({ limit: 4, window: '1s' })
  test.each<[what: string, consumed: [atMs: number, cost: number][], waits: number[], startsAt: number]>([
    [
      'counts what went before it less in the next window',
      [
        [0, 3],
        [1100, 1],
      ],
      [1, 1, 1, 1],
      2400,
    ],
    ['admits a whole limit in the next window', [[0, 4]], [3, 2], 2400],
  ])('a sliding window %s', async (_, consumed, costs, startsAt) => {
    const queue = new Queue(storeOf, four)
    for (const [atMs, cost] of consumed) {
      await queue.pass(atMs)
      await queue.limiter.consume('a', { cost })
    }
    const begun = queue.now
    for (const cost of costs.slice(0, -1)) await queue.wait(cost)
    const last = await queue.wait(costs.at(-1)!, startsAt - begun)
    await queue.pass(startsAt - begun)
    expect(last).toMatchObject({ allowed: true, at: startsAt })
  })

  test('the end of a block is no end of a window', async () => {
    const queue = new Queue(storeOf, fixedWindow({ limit: 1, window: '1s' }))
    await queue.limiter.block('a', { for: '500ms' })
    const first = await queue.wait(1)
    const second = await queue.wait(1, 1000)
    await queue.pass(1000)
    expect([first.at, second.at]).toEqual([500, 1000])
  })

  test('a calendar window that is over before its turn is the next one', async () => {
    const queue = new Queue(storeOf, fixedWindow({ limit: 1, align: 'day' }))
    await queue.wait(1)
    await queue.wait(1)
    expect(await queue.wait(1, 86_400_000)).toMatchObject({ allowed: false, at: 0 })
  })

  test('over several limits the one that serves last decides', async () => {
    const queue = new Queue(storeOf, fixedWindow({ limit: 1, window: '1s' }), fixedWindow({ limit: 2, window: '10s' }))
    await queue.wait(1)
    await queue.wait(1)
    expect(await queue.wait(1, 5000)).toMatchObject({ allowed: false, at: 0 })
  })

  test('a cost that never passes is refused at once, and nobody waits for it', async () => {
    const queue = new Queue(storeOf, slidingLog({ limit: 2, window: '1s' }))
    await queue.wait(2)
    await queue.wait(1)
    expect(await queue.wait(3)).toEqual({ allowed: false, at: 0, retryAfterMs: Infinity })
    const behind = await queue.wait(1, 1000)
    await queue.pass(1000)
    expect(behind).toMatchObject({ allowed: true, at: 1000 })
  })

  test('a slot may be released at any moment: no wait for one is refused before maxWait ends', async () => {
    const queue = new Queue(storeOf, concurrency({ limit: 1, ttl: '10s' }))
    const held = await queue.limiter.consume('a')
    const ends = [await queue.wait(1), await queue.wait(1, 20_000), await queue.wait(1, 300)]
    await queue.pass(200)
    expect(ends).toEqual([{}, {}, {}])
    await queue.pass(100)
    expect(ends).toEqual([{}, {}, { allowed: false, at: 300, retryAfterMs: 9700 }])
    held.release()
    await flush()
    expect(ends[0]).toMatchObject({ allowed: true, at: 300 })
  })
})

test('who comes while a question is on its way is judged by its answer, though that takes longer than maxWait', async () => {
  const queue = new Queue(laterMemory, fixedWindow({ limit: 2, window: '1s' }))
  const ends = [queue.wait(1, 0), queue.wait(1, 0), queue.wait(1, 0)]
  queue.clock.advance(1)
  expect((await Promise.all(ends)).map(({ allowed }) => allowed)).toEqual([true, true, false])
})

describe('who would be served in time is not refused, and who would not is', () => {
  const costs = fc.array(fc.record({ cost: fc.integer({ min: 0, max: 3 }), gap: fc.nat(4) }), { maxLength: 8 })
  const last = fc.integer({ min: 1, max: 3 })
  const policies: Policy[] = [
    ...EACH.map(([policy]) => policy),
    fixedWindow({ limit: 4, window: '1s' }),
    fixedWindow({ limit: 4, window: '1s', align: 'key' }),
    fixedWindow({ limit: 4, window: '1s', align: 'first' }),
    slidingLog({ limit: 4, window: '1s' }),
    slidingWindow({ limit: 40, window: '1s' }),
    slidingWindow({ limit: 6, window: '1200ms', buckets: 3 }),
    tokenBucket({ capacity: 4, refill: '4/s' }),
  ]
  const oneOrTwo = fc.subarray(policies, { minLength: 1, maxLength: 2 })

  test.each(Object.entries(STORES))(
    'over %s',
    async (_, storeOf) => {
      const property = fc.asyncProperty(oneOrTwo, costs, costs, last, async (chosen, before, ahead, cost) => {
        const run = async (maxWaitMs?: number) => {
          const queue = new Queue(storeOf, ...chosen)
          for (const { cost, gap } of before) {
            await queue.limiter.consume('a', { cost })
            await queue.pass(gap * STEP_MS)
          }
          for (const { cost } of ahead) await queue.wait(cost)
          const begun = queue.now
          const end = await queue.wait(cost, maxWaitMs)
          await queue.pass(60_000)
          return { ...end, afterMs: end.at === undefined ? Infinity : end.at - begun }
        }
        const patient = await run()
        fc.pre(patient.allowed === true && patient.afterMs > 0)
        const { afterMs } = patient
        expect(await run(afterMs)).toMatchObject({ allowed: true, afterMs })
        const hurried = await run(afterMs - STEP_MS)
        expect(hurried.allowed).toBe(false)
        expect(hurried.afterMs).toBeLessThanOrEqual(afterMs)
      })
      await fc.assert(property, { numRuns: 60 })
    },
    60_000,
  )
})
