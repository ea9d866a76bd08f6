import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createLimiter } from '../../../index.ts'
import { limitOfPolicy, type Policy } from '../../../policy.ts'
import { fakeClock } from '../../../testing/index.ts'
import { KINDS, random, randomPolicy } from '../../../testing/trace.ts'
import { paceOf, windowSeconds } from './pace.ts'
import { effectiveSeconds } from './seconds.ts'

const TICK_MS = 0.001
const seeds = fc.integer({ min: 0, max: 2 ** 31 })
const start = 1_790_013_600_000

/** A limiter under any policy of those kinds, after a few requests. */
function worn(seed: number, kinds: readonly Policy['kind'][]) {
  const rng = random(seed)
  let policy: Policy
  do policy = randomPolicy(rng, kinds[Math.floor(rng() * kinds.length)])
  while (isVast(policy))
  const clock = fakeClock(start + Math.floor(rng() * 1e9) / 1000)
  const limiter = createLimiter(policy, { clock })
  const limit = limitOfPolicy(policy)
  for (let i = 0; i < 3; i++) {
    limiter.consume('a', { cost: Math.floor(rng() * rng() * (limit + 1)) })
    clock.advance(Math.floor(rng() * 2e6) / 1000)
  }
  const take = (cost: number) => {
    const decision = limiter.consume('a', { cost })
    const { allowed, remaining, at } = decision
    return { allowed, remaining, seconds: effectiveSeconds(paceOf(policy), decision, at) }
  }
  return { policy, clock, limit, limiter, take, passes: (cost: number) => limiter.peek('a', { cost }).allowed }
}

/** A bucket so large that its rate is not kept exactly, but a little slower than it says. */
function isVast(policy: Policy): boolean {
  return limitOfPolicy(policy) * paceOf(policy).ticks > 2 ** 50 && isBucket(policy)
}

const BUCKETS = ['tokenBucket', 'leakyBucket', 'gcra'] as const
const isBucket = ({ kind }: Policy) => BUCKETS.some(bucket => bucket === kind)

test('whoever was refused passes after so many seconds', () => {
  fc.assert(
    fc.property(seeds, seed => {
      const { clock, limit, take, passes } = worn(seed, KINDS)
      const { allowed, seconds } = take(limit)
      if (allowed || seconds === undefined) return
      clock.advance(seconds * 1000)
      expect(passes(limit)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('whoever has nothing left has something after so many seconds, and of a bucket not a second sooner', () => {
  fc.assert(
    fc.property(seeds, seed => {
      const { policy, clock, limit, take, passes } = worn(seed, KINDS)
      const { remaining } = take(0)
      const { allowed, seconds } = take(remaining)
      expect(allowed).toBe(true)
      expect(seconds === undefined).toBe(limit === 0 || policy.kind === 'concurrency')
      if (seconds === undefined) return
      if (isBucket(policy) && seconds > 1) {
        clock.advance((seconds - 1) * 1000 - TICK_MS)
        expect(passes(1)).toBe(false)
        clock.advance(1000 + TICK_MS)
      } else clock.advance(seconds * 1000)
      expect(passes(1)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('what is left of a bucket grows by one after so many seconds, and not a second sooner', () => {
  fc.assert(
    fc.property(seeds, seed => {
      const { clock, limit, take, passes } = worn(seed, BUCKETS)
      take(1)
      const { remaining, seconds } = take(0)
      if (remaining === 0 || remaining === limit) return
      if (seconds! > 1) {
        clock.advance((seconds! - 1) * 1000 - TICK_MS)
        expect(passes(remaining + 1)).toBe(false)
        clock.advance(1000 + TICK_MS)
      } else clock.advance(seconds! * 1000)
      expect(passes(remaining + 1)).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('with something left the time is never longer than the window', () => {
  fc.assert(
    fc.property(seeds, seed => {
      const { policy, limit, take } = worn(seed, KINDS)
      take(1)
      const { remaining, seconds } = take(0)
      if (remaining === 0 || limit === 0 || seconds === undefined) return
      expect(seconds).toBeLessThanOrEqual(Math.max(1, windowSeconds(policy)))
    }),
    { numRuns: 500 },
  )
})
