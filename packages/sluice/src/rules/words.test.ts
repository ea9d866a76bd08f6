import { expect, test } from 'vitest'
import { concurrency, fixedWindow, gcra, leakyBucket, slidingLog, slidingWindow, tokenBucket } from '../index.ts'
import { policyWords } from './words.ts'

test.each([
  [tokenBucket({ capacity: 100, refill: '10/s' }), '100 at once, then 10 every 1s (token bucket)'],
  [leakyBucket({ capacity: 20, leak: '5/s' }), '20 in the queue, then 5 every 1s (leaky bucket)'],
  [gcra({ rate: '1/250ms', burst: 3 }), '3 at once, then 1 every 250ms (GCRA)'],
  [slidingWindow({ limit: 60, window: '1m' }), '60 in 1m (sliding window)'],
  [slidingWindow({ limit: 60, window: '1m', buckets: 6 }), '60 in 1m (sliding window of 6 parts)'],
  [slidingLog({ limit: 5, window: '36h' }), '5 in any 36h (sliding log)'],
  [fixedWindow({ limit: 1000, window: '1d' }), '1000 in 1d (fixed window)'],
  [fixedWindow({ limit: 9, window: '1h', align: 'key' }), '9 in 1h (fixed window of its own for each key)'],
  [fixedWindow({ limit: 9, window: '1h', align: 'first' }), '9 in 1h (fixed window from first use)'],
  [fixedWindow({ limit: 9, align: 'day', timeZone: 'Asia/Tokyo' }), '9 a calendar day in Asia/Tokyo (fixed window)'],
  [concurrency({ limit: 4, ttl: '30s' }), '4 under way at once, each for up to 30s (concurrency)'],
])('%o', (policy, words) => {
  expect(policyWords(policy)).toBe(words)
})
