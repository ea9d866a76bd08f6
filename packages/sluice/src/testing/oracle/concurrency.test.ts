import { describe, test } from 'vitest'
import { allow, refuse, runTable } from '../../fixtures/oracle/table.ts'
import type { Policy } from '../../policy.ts'

describe('3 at once, each for a second at most', () => {
  const policy: Policy = { kind: 'concurrency', limit: 3, ttlMs: 1000 }
  test('a slot is held until it is released, and released once', () =>
    runTable(policy, [
      [0, 1, allow(2, 1000)],
      [100, 2, allow(0, 1100)],
      [200, 1, refuse(0, 1100, 1000)],
      [300, { release: 1 }, true],
      [300, { release: 1 }, false],
      [300, 3, refuse(2, 1000, 1000)],
      [300, 2, allow(0, 1300)],
    ]))
  test('a slot expires on the tick, and a release after that is too late', () =>
    runTable(policy, [
      [0, 1, allow(2, 1000)],
      [100, 2, allow(0, 1100)],
      [999.999, 1, refuse(0, 1100, 1000)],
      [999.999, 2, refuse(0, 1100, 1100)],
      [999.999, 4, refuse(0, 1100, Infinity)],
      [1000, { release: 0 }, false],
      [1000, 1, allow(0, 2000)],
    ]))
  test('a cost of 0 holds nothing but is numbered, and a reset frees all without starting over', () =>
    runTable(policy, [
      [0, 0, allow(3, 0)],
      [0, 3, allow(0, 1000)],
      [0, { release: 0 }, false],
      [0, 'reset'],
      [0, { release: 1 }, false],
      [0, 3, allow(0, 1000)],
      [0, { release: 2 }, true],
      [0, { release: 3 }, false],
    ]))
  test('neither a refund nor a credit frees a slot', () =>
    runTable(policy, [
      [0, 3, allow(0, 1000)],
      [0, { refund: 3, chargedAt: 0 }],
      [0, { credit: 3 }],
      [0, 1, refuse(0, 1000, 1000)],
    ]))
})
