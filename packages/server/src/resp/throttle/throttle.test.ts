import fc from 'fast-check'
import { expect, test } from 'vitest'
import { intervalOf } from './throttle.ts'

test.each([
  [30, 60, 2_000_000_000],
  [7, 60, 8_571_428_571],
  [1, 1, 1_000_000_000],
  [1_000_000_000, 1, 1],
  [1_000_000_001, 1, 0],
  [1, 31_536_000, 31_536_000_000_000_000n],
  [31_536_000, 31_536_000, 1_000_000_000],
  [2n ** 63n - 1n, 1, 0],
  [1, 2n ** 63n - 1n, (2n ** 63n - 1n) * 1_000_000_000n],
])('%s in %s seconds are %s ns apart', (count, period, interval) => {
  expect(intervalOf(count, period)).toBe(interval)
})

test('an interval is cut to a whole nanosecond, never rounded, however long', () => {
  const period = fc.integer({ min: 1, max: 4_000_000_000 })
  // Just above a whole quotient, the next one below is nearest to being lost.
  fc.assert(
    fc.property(
      period,
      fc.integer({ min: 1, max: 1000 }),
      fc.integer({ min: -1, max: 2 }),
      (seconds, quotient, off) => {
        const count = Math.max(1, Math.floor((seconds * 1e9) / quotient) + off)
        fc.pre(count < 1e15)
        expect(BigInt(intervalOf(count, seconds))).toBe((BigInt(seconds) * 1_000_000_000n) / BigInt(count))
      },
    ),
    { numRuns: 2000 },
  )
})
