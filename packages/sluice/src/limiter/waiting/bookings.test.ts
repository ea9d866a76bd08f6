import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TICKS_PER_MS } from '../../clock.ts'
import { flush, pass } from '../../fixtures/limiter/passing-time.ts'
import { createLimiter, type Decision, gcra, type Limiter, leakyBucket, type Policy, tokenBucket } from '../../index.ts'
import { envelopeViolation } from '../../testing/envelope.ts'
import { type FakeClock, fakeClock } from '../../testing/index.ts'

type Outcome = number | 'waiting' | `refused ${string}`

/** Waits with each cost in turn and notes when it started, or for how long it was refused. */
function queue(limiter: Limiter, clock: FakeClock, costs: readonly number[], maxWait?: number): Outcome[] {
  const outcomes: Outcome[] = costs.map(() => 'waiting')
  costs.forEach((cost, i) => {
    void limiter
      .wait('a', { cost, ...(maxWait !== undefined && { maxWait: `${maxWait}ms` as const }) })
      .then((d: Decision) => {
        outcomes[i] = d.allowed ? clock.now() : `refused ${d.retryAfterMs}`
      })
  })
  return outcomes
}

const token = tokenBucket({ capacity: 2, refill: '1/s' })
const leaky = leakyBucket({ capacity: 3, leak: '1/s' })
const rate = gcra({ rate: '1/s', burst: 2 })
const wide = tokenBucket({ capacity: 5, refill: '1/s' })

describe('a bucket starts who waits in turn', () => {
  test.each<[Policy, costs: number[], outcomes: Outcome[]]>([
    [token, [1, 1, 1, 1, 1], [0, 0, 1000, 2000, 3000]],
    [rate, [1, 1, 1, 1, 1], [0, 0, 1000, 2000, 3000]],
    [token, [2, 1, 2, 1], [0, 1000, 3000, 4000]],
    [wide, [5, 3, 1, 1], [0, 3000, 4000, 5000]],
    [wide, [4, 5, 1], [0, 4000, 5000]], // the last one would fit at once, and waits its turn
    [wide, [0, 5, 0], [0, 0, 0]],
    [leaky, [1, 1, 1], [0, 1000, 2000]], // one per 1/leak from the first on
    [leaky, [1, 2], [0, 1000]],
    [leaky, [3, 1], [0, 'refused 1000']], // the queue is full
    [leaky, [1, 1, 1, 1, 1], [0, 1000, 2000, 'refused 1000', 'refused 1000']],
    [token, [3], ['refused Infinity']],
    [leaky, [4], ['refused Infinity']],
  ])('%o: costs of %j start at %j', async (policy, costs, outcomes) => {
    const clock = fakeClock()
    const started = queue(createLimiter(policy, { clock }), clock, costs)
    await pass(clock, 10_000)
    expect(started).toEqual(outcomes)
  })

  test('and the leaky one starts at once after a pause', async () => {
    const clock = fakeClock()
    const limiter = createLimiter(leaky, { clock })
    queue(limiter, clock, [1, 1])
    await pass(clock, 10_000)
    const later = queue(limiter, clock, [1, 1])
    await pass(clock, 5000)
    expect(later).toEqual([10_000, 11_000])
  })
})

describe('nobody overtakes', () => {
  test.each([token, rate])('consume: a booked place is taken at once: $kind', async policy => {
    const clock = fakeClock()
    const limiter = createLimiter(policy, { clock })
    const started = queue(limiter, clock, [2, 1, 1])
    await flush()
    expect(limiter.consume('a')).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 3000 })
    await pass(clock, 1000)
    expect(limiter.consume('a')).toMatchObject({ allowed: false, retryAfterMs: 2000 })
    await pass(clock, 2000)
    expect(started).toEqual([0, 1000, 2000])
    expect(limiter.consume('a').allowed).toBe(true)
  })

  test('waits of other keys do not count', async () => {
    const clock = fakeClock()
    const limiter = createLimiter(token, { clock })
    queue(limiter, clock, [2, 2])
    await flush()
    expect(limiter.consume('b', { cost: 2 }).allowed).toBe(true)
  })

  test('a reservation: what is held is not there to be waited for', async () => {
    const clock = fakeClock()
    const limiter = createLimiter(tokenBucket({ capacity: 10, refill: '1/s' }), { clock })
    limiter.reserve('a', { cost: 5, ttl: '1h' })
    limiter.consume('a', { cost: 5 })
    const started = queue(limiter, clock, [5])
    await pass(clock, 6000)
    expect(started).toEqual([5000])
  })

  test('and one that needs what is held waits for the reservation to end', async () => {
    const clock = fakeClock()
    const limiter = createLimiter(tokenBucket({ capacity: 10, refill: '1/s' }), { clock })
    const call = limiter.reserve('a', { cost: 10, ttl: '1h' })
    const started = queue(limiter, clock, [4])
    await pass(clock, 2000)
    expect(started).toEqual(['waiting'])
    call.settle(3)
    await pass(clock, 1000)
    expect(started).toEqual([2000])
  })
})

test('starts keep to the envelope and to the order, whoever comes and goes', async () => {
  // All of it happens at multiples of 50 ms, so that steps of 50 ms meet every start.
  const gaps = fc.integer({ min: 0, max: 30 })
  const step = fc.tuple(gaps, fc.integer({ min: 1, max: 4 }), fc.constantFrom('wait', 'wait', 'consume', 'abort'))
  const policies = [
    tokenBucket({ capacity: 4, refill: '4/s' }),
    gcra({ rate: '5/2s', burst: 4 }),
    leakyBucket({ capacity: 9, leak: '2/s' }),
  ]
  const steps = fc.array(step, { maxLength: 25 })
  const property = fc.asyncProperty(fc.constantFrom(...policies), steps, async (policy, trace) => {
    const clock = fakeClock()
    const limiter = createLimiter(policy, { clock })
    const admitted: { at: number; cost: number }[] = []
    const note = (cost: number) => admitted.push({ at: Math.round(clock.now() * TICKS_PER_MS), cost })
    const waiting = new Map<number, AbortController>()
    const order: number[] = []
    for (const [i, [gap, cost, what]] of trace.entries()) {
      await pass(clock, 50 * gap, 50)
      if (what === 'consume' && limiter.consume('a', { cost }).allowed) note(cost)
      if (what === 'abort') [...waiting.values()][cost % Math.max(1, waiting.size)]?.abort()
      if (what !== 'wait') continue
      const abort = new AbortController()
      waiting.set(i, abort)
      limiter
        .wait('a', { cost, signal: abort.signal })
        .then(decision => {
          if (!decision.allowed) return
          note(cost)
          order.push(i)
        })
        .catch(() => {})
        .finally(() => waiting.delete(i))
      await flush()
    }
    await pass(clock, 50_000, 50)
    expect(waiting.size).toBe(0)
    expect(envelopeViolation(policy, admitted)).toBeUndefined()
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(limiter.peek('a').remaining).toBe(limiter.peek('b').remaining)
  })
  await fc.assert(property, { numRuns: 60 })
})

describe('maxWait', () => {
  test.each<[Policy, maxWait: number, outcomes: Outcome[]]>([
    [token, 2000, [0, 0, 1000, 2000, 'refused 3000', 'refused 3000']],
    [token, 1999.999, [0, 0, 1000, 'refused 2000', 'refused 2000', 'refused 2000']],
    [token, 0, [0, 0, 'refused 1000', 'refused 1000', 'refused 1000', 'refused 1000']],
    [leaky, 1500, [0, 1000, 'refused 500', 'refused 500', 'refused 500', 'refused 500']],
  ])('refuses at once what would take longer: %o, %d ms', async (policy, maxWait, outcomes) => {
    const clock = fakeClock()
    const started = queue(createLimiter(policy, { clock }), clock, [1, 1, 1, 1, 1, 1], maxWait)
    await flush()
    const at = (outcome: Outcome) => (typeof outcome === 'number' && outcome > 0 ? 'waiting' : outcome)
    expect(started).toEqual(outcomes.map(at))
    await pass(clock, 5000)
    expect(started).toEqual(outcomes)
  })

  test('takes nothing where it refuses', async () => {
    const clock = fakeClock()
    const limiter = createLimiter(token, { clock })
    limiter.consume('a', { cost: 2 })
    for (let i = 0; i < 9; i++) await limiter.wait('a', { maxWait: '500ms' })
    expect(limiter.peek('a')).toMatchObject({ retryAfterMs: 1000, resetAfterMs: 2000 })
  })
})

test('a blocked key waits for its block to end, and is refused at once where that is too long', async () => {
  const clock = fakeClock()
  const limiter = createLimiter(token, { clock })
  limiter.block('a', { for: '3s' })
  expect(await limiter.wait('a', { maxWait: '2s' })).toMatchObject({ reason: 'blocked', retryAfterMs: 3000 })
  const started = queue(limiter, clock, [1])
  await pass(clock, 5000)
  expect(started).toEqual([3000])
})

test.each<[Policy, startMs: number]>([
  [token, 1000],
  [rate, 1000],
  [leaky, 2000],
])('a refund of one that waited counts from its start: %o', async (policy, startMs) => {
  const clock = fakeClock()
  const limiter = createLimiter(policy, { clock })
  limiter.consume('a', { cost: 2 })
  const wait = limiter.wait('a')
  await pass(clock, startMs)
  const before = limiter.peek('a').remaining
  limiter.refund(await wait)
  expect(limiter.peek('a').remaining).toBe(before + 1)
})
