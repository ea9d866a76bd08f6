import { expect, test } from 'vitest'
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
import { windowSeconds } from './pace.ts'

const windows: readonly (readonly [Policy, number])[] = [
  [tokenBucket({ capacity: 100, refill: '10/s' }), 10],
  [leakyBucket({ capacity: 100, leak: '1/m' }), 6000],
  [gcra({ burst: 20, rate: '5/s' }), 4],
  // Rounded up: 10 thirds of a second are no 3 s.
  [tokenBucket({ capacity: 10, refill: '3/s' }), 4],
  [tokenBucket({ capacity: 3, refill: '3/s' }), 1],
  // And not because 1/7 is no double: 7 of them are one second.
  [tokenBucket({ capacity: 7, refill: '7/s' }), 1],
  [tokenBucket({ capacity: 42, refill: '7/s' }), 6],
  [tokenBucket({ capacity: 2, refill: '3/s' }), 0],
  [tokenBucket({ capacity: 0, refill: '1/d' }), 0],
  [tokenBucket({ capacity: 1_000_000, refill: '1000000/d' }), 86_400],
  [fixedWindow({ limit: 100, window: '1m' }), 60],
  [fixedWindow({ limit: 100, window: '1s', align: 'first' }), 1],
  [fixedWindow({ limit: 100, window: '999ms' }), 0],
  [fixedWindow({ limit: 100, window: '1000.001ms', align: 'key' }), 2],
  [fixedWindow({ limit: 100, window: '366d' }), 31_622_400],
  [fixedWindow({ limit: 100, align: 'day' }), 86_400],
  [fixedWindow({ limit: 100, align: 'week', timeZone: 'Europe/Berlin' }), 604_800],
  [fixedWindow({ limit: 100, align: 'month' }), 2_678_400],
  [slidingWindow({ limit: 100, window: '1m', buckets: 6 }), 60],
  [slidingWindow({ limit: 100, window: '1500ms' }), 2],
  [slidingLog({ limit: 100, window: '1h' }), 3600],
  [slidingLog({ limit: 100, window: '1ms' }), 0],
  [concurrency({ limit: 10, ttl: '30s' }), 0],
]

test.each(windows)('the window of %j is %d s', (policy, seconds) => {
  expect(windowSeconds(policy)).toBe(seconds)
})
