import { expect, test } from 'vitest'
import { AT, refused, shown } from '../../../fixtures/headers/read-back.ts'
import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../../policy.ts'
import type { Shown } from './description.ts'
import { paceOf } from './pace.ts'
import { effectiveSeconds, retryAfterSeconds } from './seconds.ts'

const TICK_MS = 0.001

test.each([
  [1, 1],
  [0, 1],
  [-5, 1],
  [NaN, 1],
  [TICK_MS, 1],
  [1000, 1],
  [1000.001, 2],
  [59_999.999, 60],
  [86_400_000, 86_400],
  [1e300, 999_999_999_999_999],
  [Infinity, undefined],
])('Retry-After for %d ms is %s s', (ms, seconds) => {
  expect(retryAfterSeconds(ms)).toBe(seconds)
})

function effective(policy: Policy, state: Shown, at = AT): number | undefined {
  return effectiveSeconds(paceOf(policy), state, at)
}

const bucket = tokenBucket({ capacity: 100, refill: '10/s' })
const slow = leakyBucket({ capacity: 3, leak: '1/m' })
/** One takes 4,285,714 2/7 ticks. */
const sevenths = leakyBucket({ capacity: 2, leak: '7/30s' })
const window = fixedWindow({ limit: 100, window: '1m' })
const sliding = slidingWindow({ limit: 100, window: '1m' })
const inSixths = slidingWindow({ limit: 100, window: '1m', buckets: 6 })
const log = slidingLog({ limit: 100, window: '1m' })
const slots = concurrency({ limit: 10, ttl: '30s' })

/** Seconds into the minute, and sixths of one: AT is 0.123457 s after a whole minute. */
const minute = AT - 123.457

const rows: readonly (readonly [what: string, Policy, Shown, at: number, number | undefined])[] = [
  ['a full bucket', bucket, shown({ remaining: 100 }), AT, 0],
  ['a bucket with 99 left', bucket, shown({ remaining: 99, resetAfterMs: 100 }), AT, 1],
  ['a slow bucket with 2 left', slow, shown({ limit: 3, remaining: 2, resetAfterMs: 60_000 }), AT, 60],
  ['the same a while later', slow, shown({ limit: 3, remaining: 2, resetAfterMs: 21_000.001 }), AT, 22],
  ['a slow bucket with 1 left', slow, shown({ limit: 3, remaining: 1, resetAfterMs: 119_000 }), AT, 59],
  ['a bucket with 1 left', bucket, shown({ remaining: 1, resetAfterMs: 9900 }), AT, 1],
  ['a bucket just emptied', slow, shown({ limit: 3, remaining: 0, resetAfterMs: 180_000 }), AT, 60],
  ['an empty bucket that gains one soon', slow, shown({ limit: 3, remaining: 0, resetAfterMs: 120_000.001 }), AT, 1],
  ['an empty bucket to the tick', slow, shown({ limit: 3, remaining: 0, resetAfterMs: 150_000.001 }), AT, 31],
  ['an empty bucket between ticks', sevenths, shown({ limit: 2, remaining: 0, resetAfterMs: 5285.715 }), AT, 2],
  ['an overdrawn bucket', slow, shown({ limit: 3, remaining: 0, resetAfterMs: 300_000 }), AT, 180],
  ['a bucket of one', gcra({ burst: 1, rate: '1/m' }), shown({ limit: 1, remaining: 0, resetAfterMs: 500 }), AT, 1],
  ['a bucket of none', tokenBucket({ capacity: 0, refill: '1/s' }), shown({ limit: 0 }), AT, undefined],
  ['a refused bucket', slow, refused(42_000.5, { limit: 3, resetAfterMs: 180_000 }), AT, 43],
  ['a cost no bucket holds', slow, refused(Infinity, { remaining: 3, resetAfterMs: 0 }), AT, undefined],
  ['a fixed window', window, shown({ remaining: 7, resetAfterMs: 59_876.543 }), AT, 60],
  ['a spent fixed window', window, shown({ remaining: 0, resetAfterMs: 12_000 }), AT, 12],
  ['a fixed window nobody used', window, shown(), AT, 0],
  ['a fixed window of none', fixedWindow({ limit: 0, window: '1m' }), shown({ limit: 0 }), AT, undefined],
  ['a refused fixed window', window, refused(12_000), AT, 12],
  ['a sliding window', sliding, shown({ remaining: 7, resetAfterMs: 119_876.543 }), AT, 60],
  ['a sliding window at the turn', sliding, shown(), minute, 60],
  ['a sliding window a tick before the turn', sliding, shown(), minute - TICK_MS, 1],
  ['a sliding window nobody used', sliding, shown(), minute + 1000, 59],
  ['a spent sliding window', sliding, shown({ remaining: 0, retryAfterMs: 12_345.6 }), AT, 13],
  ['a spent sliding window not looked at', sliding, shown({ remaining: 0, resetAfterMs: 119_876.543 }), AT, 61],
  ['the example of a 60 s window of 3', sliding, shown({ limit: 3, remaining: 0, resetAfterMs: 68_000 }), AT, 28],
  ['sub-windows', inSixths, shown({ remaining: 7, resetAfterMs: 69_876.543 }), AT, 10],
  ['sub-windows later', inSixths, shown({ remaining: 7, resetAfterMs: 69_000 }), minute + 17_000, 3],
  ['a sliding log', log, shown({ remaining: 7, resetAfterMs: 60_000 }), AT, 60],
  ['a spent sliding log', log, shown({ remaining: 0, resetAfterMs: 60_000, retryAfterMs: 4000.001 }), AT, 5],
  ['a spent sliding log not looked at', log, shown({ remaining: 0, resetAfterMs: 60_000 }), AT, 60],
  ['slots', slots, shown({ limit: 10, remaining: 3, resetAfterMs: 30_000 }), AT, undefined],
  ['slots all taken', slots, shown({ limit: 10, remaining: 0, resetAfterMs: 30_000 }), AT, undefined],
  ['refused slots', slots, refused(29_000.1, { limit: 10 }), AT, 30],
]

test.each(rows)('%s', (_, policy, state, at, seconds) => {
  expect(effective(policy, state, at)).toBe(seconds)
})
