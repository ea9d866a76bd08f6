import { describe, expect, test } from 'vitest'
import { concurrency, fixedWindow, gcra, leakyBucket, slidingLog, slidingWindow, tokenBucket } from '../../index.ts'
import { type Policy, policyOf } from '../../policy.ts'
import { isStricter, strictest } from './plans.ts'

const NOTHING = fixedWindow({ limit: 0, window: '1s' })

describe('stricter is what lets less through in the long run', () => {
  test.each<[string, Policy, Policy]>([
    ['a rate', policyOf('60/h'), policyOf('100/m')],
    ['a rate, though its burst is larger', policyOf('1000/d'), policyOf('1/s')],
    ['of one rate, the smaller burst', policyOf('1/s'), policyOf('60/m')],
    ['bucket against window', tokenBucket({ capacity: 100, refill: '1/m' }), policyOf('2/m')],
    ['gcra against leaky bucket', gcra({ rate: '1/s', burst: 9 }), leakyBucket({ capacity: 1, leak: '2/s' })],
    ['log against window', slidingLog({ limit: 5, window: '1m' }), slidingWindow({ limit: 6, window: '1m' })],
    ['a calendar day', fixedWindow({ limit: 1000, align: 'day' }), policyOf('1000/h')],
    ['a calendar month', fixedWindow({ limit: 1000, align: 'month' }), fixedWindow({ limit: 1000, align: 'week' })],
    ['a bucket that holds nothing', tokenBucket({ capacity: 0, refill: '1000/s' }), policyOf('1/d')],
    ['a limit of nothing', NOTHING, policyOf('1/d')],
    ['any rate against slots, which come back at once', policyOf('1000000/s'), concurrency({ limit: 1, ttl: '1d' })],
    ['fewer slots', concurrency({ limit: 1, ttl: '1s' }), concurrency({ limit: 2, ttl: '1d' })],
    ['no slots at all', concurrency({ limit: 0, ttl: '1s' }), policyOf('1/d')],
  ])('%s', (_name, strict, lax) => {
    expect(isStricter(strict, lax)).toBe(true)
    expect(isStricter(lax, strict)).toBe(false)
    expect(strictest([lax, strict])).toBe(strict)
    expect(strictest([strict, lax])).toBe(strict)
  })
})

test('of equals it is the first, and of none there is none', () => {
  const [one, same] = [policyOf('5/m'), policyOf('5/m')]
  expect(strictest([one, same])).toBe(one)
  expect(strictest([])).toBeUndefined()
})
