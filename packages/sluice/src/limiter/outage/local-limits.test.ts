import { describe, expect, test } from 'vitest'
import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  type RateText,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../index.ts'
import { limitOfPolicy } from '../../policy.ts'
import { scaled } from './local-limits.ts'

test.each<[limit: number, share: number, local: number]>([
  [0, 0.5, 0],
  [1, 0.5, 1],
  [2, 0.5, 1],
  [5, 0.5, 3],
  [100, 0.5, 50],
  [100, 0.07, 7], // a double of which is a hair more
  [3, 1 / 3, 1],
  [10, 1 / 3, 4],
  [10, 1e-9, 1],
  [10, 1, 10],
  [2 ** 48, 0.5, 2 ** 47],
])('a limit of %d is %d of it %d, in every kind of policy', (limit, share, local) => {
  const policies: Policy[] = [
    fixedWindow({ limit, window: '1h' }),
    fixedWindow({ limit, align: 'month', timeZone: 'Europe/Berlin' }),
    slidingWindow({ limit, window: '1h', buckets: 6 }),
    ...(limit <= 2 ** 16 ? [slidingLog({ limit, window: '1h' })] : []),
    concurrency({ limit, ttl: '1m' }),
    tokenBucket({ capacity: limit, refill: '1000000/s' }),
    leakyBucket({ capacity: limit, leak: '1000000/s' }),
    gcra({ burst: limit, rate: '1000000/s' }),
  ]
  for (const policy of policies) {
    const part = scaled(policy, share)
    expect(limitOfPolicy(part)).toBe(local)
    expect(part.kind === 'fixedWindow' ? { ...part, limit } : part.kind).toEqual(
      policy.kind === 'fixedWindow' ? policy : policy.kind,
    )
  }
})

describe('the rate of a bucket is scaled with it, and never more than its share', () => {
  test.each<[rate: RateText, share: number, periodMs: number]>([
    ['10/s', 0.5, 2000],
    ['1/s', 0.25, 4000],
    ['3/s', 0.75, 1333.334],
    ['1/366d', 0.5, 732 * 86_400_000],
    ['1000000/s', 1, 1000],
  ])('%s, %d of it', (rate, share, periodMs) => {
    const { refill } = scaled(tokenBucket({ capacity: 10, refill: rate }), share) as { refill: { periodMs: number } }
    expect(refill).toMatchObject({ count: Number.parseInt(rate, 10), periodMs })
  })
})
