import { describe, expect, test } from 'vitest'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const token = tokenBucket({ capacity: 10, refill: '1/s' })
const leaky = leakyBucket({ capacity: 10, leak: '1/s' })
const rate = gcra({ rate: '1/s', burst: 10 })
const fixed = fixedWindow({ limit: 10, window: '10s' })
const first = fixedWindow({ limit: 10, window: '10s', align: 'first' })
const sliding = slidingWindow({ limit: 10, window: '10s' })
const fine = slidingWindow({ limit: 10, window: '10s', buckets: 10 })
const log = slidingLog({ limit: 10, window: '10s' })
const slots = concurrency({ limit: 10, ttl: '10s' })
const all: Policy[] = [token, leaky, rate, fixed, first, sliding, fine, log, slots]

/** Takes `refunded` at 2 s and `kept` a second later; `left` is what remains before and after the refund at `at`. */
type Row = [policy: Policy, refunded: number, kept: number, at: number, left: [before: number, after: number]]

const table: Row[] = [
  [token, 4, 0, 2000, [6, 10]],
  [token, 4, 0, 4000, [8, 10]],
  [token, 8, 2, 5000, [3, 8]], // three of the eight have drained: five are given back, not eight
  [token, 3, 7, 5000, [3, 3]],
  [token, 3, 7, 6000, [4, 4]],
  [leaky, 8, 2, 5000, [3, 8]],
  [rate, 8, 2, 5000, [3, 8]],
  [fixed, 4, 3, 9999.999, [3, 7]],
  [fixed, 4, 0, 10_000, [10, 10]],
  [first, 4, 3, 11_999.999, [3, 7]],
  [first, 4, 0, 12_000, [10, 10]],
  [sliding, 4, 3, 9999.999, [3, 7]],
  [sliding, 4, 4, 15_000, [6, 8]], // half of what is left in the counter still weighs
  [sliding, 4, 3, 20_000, [10, 10]],
  [fine, 4, 3, 12_500, [5, 7]],
  [fine, 4, 3, 13_000, [7, 7]],
  [log, 4, 3, 3000, [3, 7]],
  [log, 4, 3, 11_999.999, [3, 7]],
  [log, 4, 3, 12_000, [7, 7]],
  [slots, 4, 3, 11_999.999, [3, 7]],
  [slots, 4, 3, 12_000, [7, 7]],
]

describe('refund(decision)', () => {
  test.each(table)('%o: a charge of %d, then %d, refunded at %d', (policy, refunded, kept, at, [before, after]) => {
    const clock = fakeClock(2000)
    const limiter = createLimiter(policy, { clock })
    const decision = limiter.consume('a', { cost: refunded })
    clock.set(Math.min(3000, at))
    if (kept > 0) expect(limiter.consume('a', { cost: kept }).allowed).toBe(true)
    clock.set(at)
    expect(limiter.peek('a').remaining).toBe(before)
    limiter.refund(decision)
    expect(limiter.peek('a').remaining).toBe(after)
  })

  test.each(all)('counts once: $kind', policy => {
    const limiter = createLimiter(policy, { clock: fakeClock() })
    const decision = limiter.consume('a', { cost: 2 })
    limiter.consume('a', { cost: 6 })
    for (let i = 0; i < 3; i++) limiter.refund(decision)
    expect(limiter.peek('a').remaining).toBe(4)
  })

  test.each(all)('of a refusal, a look or a cost of 0 gives nothing: $kind', policy => {
    const limiter = createLimiter(policy, { clock: fakeClock() })
    limiter.consume('a', { cost: 8 })
    limiter.refund(limiter.consume('a', { cost: 3 }))
    limiter.refund(limiter.peek('a', { cost: 1 }))
    limiter.refund(limiter.consume('a', { cost: 0 }))
    expect(limiter.peek('a').remaining).toBe(2)
  })

  test.each(all)('after a reset gives nothing to what came later: $kind', policy => {
    const limiter = createLimiter(policy, { clock: fakeClock() })
    const decision = limiter.consume('a', { cost: 5 })
    limiter.reset('a')
    limiter.consume('a', { cost: 3 })
    limiter.refund(decision)
    expect(limiter.peek('a').remaining).toBe(7)
  })

  test('in a window that began anew gives nothing to it', () => {
    const clock = fakeClock()
    const limiter = createLimiter(fixed, { clock })
    const decision = limiter.consume('a', { cost: 5 })
    clock.set(10_000)
    limiter.consume('a', { cost: 3 })
    limiter.refund(decision)
    expect(limiter.peek('a').remaining).toBe(7)
  })

  test('of a log drops the oldest live times', () => {
    const clock = fakeClock()
    const limiter = createLimiter(log, { clock })
    limiter.consume('a', { cost: 2 })
    clock.set(5000)
    const later = limiter.consume('a', { cost: 3 })
    limiter.refund(later)
    expect(limiter.history('a')).toEqual([5000, 5000])
  })

  test('gives back to every limit that was charged, shadows too', () => {
    const limiter = createLimiter<{ user?: string }>({
      clock: fakeClock(),
      limits: {
        all: { policy: fixed },
        user: { policy: token, key: s => s.user },
        calls: { policy: log, cost: 1 },
        trial: { policy: sliding, mode: 'shadow' },
      },
    })
    const decision = limiter.consume({ user: 'u' }, { cost: 4 })
    const left = () => limiter.peek({ user: 'u' }).limits.map(({ remaining }) => remaining)
    expect(left()).toEqual([6, 6, 9, 6])
    limiter.refund(decision)
    expect(left()).toEqual([10, 10, 10, 10])
  })
})

describe('refund(subject)', () => {
  const counted = all.filter(policy => policy.kind !== 'concurrency')

  test.each(counted)('gives so much back: $kind', policy => {
    const limiter = createLimiter(policy, { clock: fakeClock() })
    limiter.consume('a', { cost: 9 })
    limiter.refund('a', { cost: 4 })
    limiter.refund('b', { cost: 4 })
    expect(limiter.peek('a').remaining).toBe(5)
  })

  test.each(all)('is clamped at full: $kind', policy => {
    const limiter = createLimiter(policy, { clock: fakeClock() })
    limiter.refund('a', { cost: 100 })
    expect(limiter.peek('a').remaining).toBe(10)
    limiter.consume('a')
    limiter.refund('a', { cost: Number.MAX_SAFE_INTEGER })
    const { remaining } = limiter.peek('a')
    expect(remaining).toBe(policy.kind === 'concurrency' ? 9 : 10)
    expect(limiter.consume('a', { cost: remaining + 1 }).allowed).toBe(false)
    expect(limiter.consume('a', { cost: remaining }).allowed).toBe(true)
  })
})
