import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ask, askLater, factsOf, headersOf, statusOf } from '../../fixtures/http/fake-exchange.ts'
import { farMemory } from '../../fixtures/stores/far-memory.ts'
import { type Decision, fixedWindow, gcra, type Policy, slidingLog, slidingWindow, tokenBucket } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type Guard } from './guard.ts'

const HEADERS = ['draft-11', 'draft-6', 'x-bucket'] as const

const POLICIES: readonly (readonly [kind: string, Policy])[] = [
  ['a token bucket', tokenBucket({ capacity: 5, refill: '3/m' })],
  ['a gcra', gcra({ burst: 4, rate: '7/m' })],
  ['a fixed window', fixedWindow({ limit: 5, window: '1m' })],
  ['a sliding window', slidingWindow({ limit: 3, window: '1m' })],
  ['sub-windows', slidingWindow({ limit: 5, window: '1m', buckets: 6 })],
  ['a sliding log', slidingLog({ limit: 5, window: '1m' })],
]

/** What the fields of an answer say, in milliseconds where a family has them. */
function told(fields: Record<string, string>) {
  const [, r, t] = /;r=(\d+);t=(\d+)/.exec(fields.RateLimit!)!
  const [, w] = /;w=(\d+)/.exec(fields['RateLimit-Policy']!)!
  return {
    left: Number(r),
    seconds: Number(t),
    windowSeconds: Number(w),
    draft6: Number(fields['RateLimit-Reset']),
    waitMs: Math.round(Number(fields['X-RateLimit-Reset-After']) * 1000),
    resetMs: Math.round(Number(fields['X-RateLimit-Reset']) * 1000),
    retryAfter: fields['Retry-After'],
  }
}

const passes = (guard: Guard) => (guard.limiter.peek(factsOf()) as Decision).allowed
const pauses = fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 5, maxLength: 40 })
const start = fc.integer({ min: 0, max: 60_000 })

describe.each(POLICIES)('%s', (kind, policy) => {
  test('all families tell the same time, within the window, and exactly if nothing is left', () => {
    fc.assert(
      fc.property(start, pauses, (startMs, waits) => {
        const clock = fakeClock(1_790_013_600_000 + startMs)
        const guard = createGuard({ policy, clock, headers: HEADERS })
        for (const ms of waits) {
          const outcome = ask(guard)
          const { left, seconds, windowSeconds, draft6, waitMs, resetMs, retryAfter } = told(headersOf(outcome))
          expect([draft6, resetMs - clock.now()]).toEqual([seconds, waitMs])
          expect(seconds).toBe(left === 0 ? Math.max(1, Math.ceil(waitMs / 1000)) : Math.ceil(waitMs / 1000))
          if (statusOf(outcome) === 429) expect(retryAfter).toBe(`${seconds}`)
          if (left > 0) expect(seconds).toBeLessThanOrEqual(windowSeconds)
          else {
            clock.advance(Math.max(0, waitMs - 1))
            expect(passes(guard)).toBe(false)
            clock.advance(1)
            expect(passes(guard)).toBe(true)
          }
          clock.advance(ms)
        }
      }),
      // Whole milliseconds until a unit comes back, of a reset that is not.
      { numRuns: 50, examples: [[0, Array(10).fill(0)]] },
    )
  })

  test('the time never moves away between two answers with the same number left', () => {
    fc.assert(
      fc.property(start, pauses, (startMs, waits) => {
        const clock = fakeClock(1_790_013_600_000 + startMs)
        const guard = createGuard({ policy, clock, headers: HEADERS })
        let before = { left: -1, resetMs: 0 }
        for (const ms of waits) {
          const { left, resetMs } = told(headersOf(ask(guard)))
          const isPast = clock.now() >= before.resetMs
          // In a log an entry may have left meanwhile, and another one come.
          const isComparable = left === 0 || kind !== 'a sliding log'
          if (left === before.left && !isPast && isComparable) expect(resetMs).toBeLessThanOrEqual(before.resetMs + 1)
          before = { left, resetMs }
          clock.advance(ms)
        }
      }),
      { numRuns: 50 },
    )
  })
})

test('with a store across a network the time is as exact, for one more call when nothing is left', async () => {
  const clock = fakeClock(1_790_013_652_000)
  const store = farMemory(clock)
  const guard = createGuard({ policy: slidingLog({ limit: 2, window: '1m' }), store, headers: HEADERS })
  await askLater(guard)
  expect(store.asked).toBe(1)
  clock.advance(20_000)
  expect(told(headersOf(await askLater(guard)))).toMatchObject({ left: 0, seconds: 40 })
  expect(store.asked).toBe(3)
  expect(told(headersOf(await askLater(guard)))).toMatchObject({ left: 0, seconds: 40 })
})
