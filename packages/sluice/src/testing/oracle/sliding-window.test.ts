import { describe, test } from 'vitest'
import { allow, refuse, runTable } from '../../fixtures/oracle/table.ts'
import type { Policy } from '../../policy.ts'

describe('10 a second, one bucket', () => {
  const policy: Policy = { kind: 'slidingWindow', limit: 10, windowMs: 1000, buckets: 1 }
  test('the window before counts by the part of it that is still in sight', () =>
    runTable(policy, [
      [1200, 8, allow(2, 3000)],
      [2000, 0, allow(2, 3000)],
      [2250, 0, allow(4, 3000)], // 8 × 0.75 = 6
      [2250, 5, refuse(4, 3000, 2375)], // 8 × 0.625 = 5
      [2300, 0, allow(4, 3000)], // 8 × 0.7 = 5.6
      [2374.999, 5, refuse(4, 3000, 2375)],
      [2375, 5, allow(0, 4000)],
      [2999.999, 10, refuse(4, 4000, 4000)], // 8 × 0.000001 + 5
      [3000, 6, refuse(5, 4000, 3200)], // 5 × 0.8 = 4
      [3000, 11, refuse(5, 4000, Infinity)],
      [4000, 10, allow(0, 6000)],
    ]))
  test('a third of the window past is no round number of ticks', () =>
    runTable(policy, [
      [0, 3, allow(7, 2000)],
      [1000, 8, refuse(7, 2000, 1333.334)], // 3 × 2/3 = 2
      [1333.333, 8, refuse(7, 2000, 1333.334)],
      [1333.334, 8, allow(0, 3000)],
    ]))
  test('time running backwards does not go back to an older weight', () =>
    runTable(policy, [
      [1200, 8, allow(2, 3000)],
      [2250, 0, allow(4, 3000)],
      [1900, 4, allow(0, 4000)],
    ]))
})

describe('4 a second in 4 buckets of 250 ms', () => {
  const policy: Policy = { kind: 'slidingWindow', limit: 4, windowMs: 1000, buckets: 4 }
  test('only the oldest of the five counters is weighted', () =>
    runTable(policy, [
      [1000, 2, allow(2, 2250)],
      [1300, 2, allow(0, 2500)],
      [1999.999, 1, refuse(0, 2500, 2125)], // counter 4 weighs half at 2125
      [2124.999, 1, refuse(0, 2500, 2125)],
      [2125, 1, allow(0, 3250)],
      [2249.999, 0, allow(0, 3250)],
      [2250, 0, allow(1, 3250)],
    ]))
  test('a refund takes from the counter that was charged, while there is one', () =>
    runTable(policy, [
      [1000, 2, allow(2, 2250)],
      [1300, 2, allow(0, 2500)],
      [2240, { refund: 1, chargedAt: 1000 }], // half of 2 × 0.04 is left of counter 4
      [2240, 0, allow(1, 2500)],
      [2250, { refund: 1, chargedAt: 1000 }],
      [2250, 0, allow(2, 2500)],
      [2300, { refund: 2, chargedAt: 1300 }],
      [2300, 0, allow(4, 2300)],
    ]))
  test('a credit takes whole units from the newest counter first', () =>
    runTable(policy, [
      [1000, 2, allow(2, 2250)],
      [1300, 1, allow(1, 2500)],
      [1550, 1, allow(0, 2750)],
      [2000, { credit: 2 }], // those of 1550 and 1300
      [2000, 0, allow(2, 2250)],
      [2125, { credit: 1 }], // one of the two of 1000, which count half by now
      [2125, 0, allow(3, 2250)],
      [2125, { credit: 7 }],
      [2125, 0, allow(4, 2125)],
      [2125, 4, allow(0, 3250)],
      [2125, 'reset'],
      [2125, 4, allow(0, 3250)],
    ]))
})

test('products far past 2^53 stay exact', () =>
  // Half of 2^48 a year and two ticks on: 31622400000000 ticks make a window, so each takes 8.9 units of the weight away.
  runTable({ kind: 'slidingWindow', limit: 2 ** 48, windowMs: 31_622_400_000, buckets: 1 }, [
    [0, 2 ** 48, allow(0, 63_244_800_000)],
    [31_622_400_000, 1, refuse(0, 63_244_800_000, 31_622_400_000.001)],
    [31_622_400_000.001, 1, allow(7, 94_867_200_000)],
  ]))
