import { describe, test } from 'vitest'
import { allow, refuse, runTable } from '../../fixtures/oracle/table.ts'
import type { Policy } from '../../policy.ts'

describe('a log of 3 a second', () => {
  const policy: Policy = { kind: 'slidingLog', limit: 3, windowMs: 1000 }
  test('an entry exactly a window old is gone', () =>
    runTable(policy, [
      [0, 1, allow(2, 1000)],
      [400, 2, allow(0, 1400)],
      [999.999, 1, refuse(0, 1400, 1000)],
      [1000, 2, refuse(1, 1400, 1400)],
      [1000, 1, allow(0, 2000)],
      [1000, 3, refuse(0, 2000, 2000)],
      [1000, 4, refuse(0, 2000, Infinity)],
      [1400, 0, allow(2, 2000)],
      [1300, 2, allow(0, 2400)],
      [3400, { peek: 3 }, allow(3, 3400)],
    ]))
  test('a refund drops the oldest live entries, whosever they are', () =>
    runTable(policy, [
      [0, 1, allow(2, 1000)],
      [400, 1, allow(1, 1400)],
      [500, 1, allow(0, 1500)],
      [600, { refund: 1, chargedAt: 500 }],
      [600, 0, allow(1, 1500)],
      [600, 2, refuse(1, 1500, 1400)],
    ]))
  test('a refund drops nothing once the charge has expired', () =>
    runTable(policy, [
      [0, 1, allow(2, 1000)],
      [400, 2, allow(0, 1400)],
      [1000, { refund: 1, chargedAt: 0 }],
      [1000, 0, allow(1, 1400)],
      [1399.999, { refund: 2, chargedAt: 400 }],
      [1399.999, 0, allow(3, 1399.999)],
    ]))
  test('a credit drops the oldest, all of them at most', () =>
    runTable(policy, [
      [0, 2, allow(1, 1000)],
      [400, 1, allow(0, 1400)],
      [500, { credit: 1 }],
      [500, 2, refuse(1, 1400, 1000)],
      [500, { credit: 9 }],
      [500, 3, allow(0, 1500)],
      [500, 'reset'],
      [500, 3, allow(0, 1500)],
    ]))
})
