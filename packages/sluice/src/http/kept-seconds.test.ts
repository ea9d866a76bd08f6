import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fixedWindow, type Policy, slidingWindow, tokenBucket } from '../policy.ts'
import { paceOf } from './headers/pace.ts'
import { effectiveSeconds } from './headers/seconds.ts'
import { KeptSeconds } from './kept-seconds.ts'

const POLICIES: readonly Policy[] = [
  tokenBucket({ capacity: 1e6, refill: '3/s' }),
  tokenBucket({ capacity: 1e3, refill: '7/d' }),
  fixedWindow({ limit: 1e9, window: '5s' }),
  slidingWindow({ limit: 1e9, window: '5s' }),
  slidingWindow({ limit: 1e9, window: '9s', buckets: 3 }),
]
const START = 1_790_000_123_456_789

/** Around whole seconds, where the answer changes, and anywhere, back and forth. */
const ticks = fc.oneof(
  fc.tuple(fc.nat({ max: 12 }), fc.integer({ min: -2, max: 2 })).map(([seconds, more]) => seconds * 1e6 + more),
  fc.nat({ max: 20_000_000 }),
  fc.constantFrom(0, 1, 1e15, 2 ** 53),
)
const request = fc.record({
  later: ticks,
  left: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.nat({ max: 1e9 })),
  reset: ticks,
})

test.each(POLICIES.map(policy => [JSON.stringify(policy), policy] as const))('%s', (_, policy) => {
  const pace = paceOf(policy)
  fc.assert(
    fc.property(fc.array(request, { minLength: 2 }), requests => {
      const kept = new KeptSeconds(pace)
      for (const { later, left, reset } of requests) {
        const tick = START - (START % 45_000_000) + Math.min(later, 1e9)
        const remaining = Math.max(1, left)
        const state = {
          allowed: true,
          limit: 1e9,
          remaining,
          resetAt: 0,
          resetAfterMs: (tick + reset - tick) / 1000,
          retryAfterMs: 0,
        }
        const expected = effectiveSeconds(pace, state, remaining, tick / 1000)
        expect(kept.of(remaining, { tick, resetAtOf: () => tick + reset }, 0)).toBe(expected)
      }
    }),
    { numRuns: 500 },
  )
})
