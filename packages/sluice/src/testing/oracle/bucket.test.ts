import { describe, expect, test } from 'vitest'
import { allow, type Row, refuse, runTable } from '../../fixtures/oracle/table.ts'
import type { Policy } from '../../policy.ts'
import { oracleFor } from './oracle.ts'

const fivePerTwoSeconds: Policy = { kind: 'tokenBucket', capacity: 5, refill: { count: 2, periodMs: 1000 } }

describe('a token bucket of 5 that refills 2/s', () => {
  const tables: Record<string, Row[]> = {
    'starts full, and a token comes every 500 ms': [
      [0, 1, allow(4, 500)],
      [0, 4, allow(0, 2500)],
      [0, 1, refuse(0, 2500, 500)],
      [499.999, 1, refuse(0, 2500, 500)],
      [500, 1, allow(0, 3000)],
      [1250, 2, refuse(1, 3000, 1500)],
      [1250, { peek: 1 }, allow(1, 3000)],
      [1250, 6, refuse(1, 3000, Infinity)],
      [3000, 5, allow(0, 5500)],
      [3000, 0, allow(0, 5500)],
      [9000, 0, allow(5, 9000)],
    ],
    'time running backwards stands still': [
      [1000, 5, allow(0, 3500)],
      [1500, { peek: 1 }, allow(1, 3500)],
      [0, 1, allow(0, 4000)],
      [1400, 1, refuse(0, 4000, 2000)],
    ],
    'a refund gives back what time has not': [
      [0, 3, allow(2, 1500)],
      [0, 1, allow(1, 2000)],
      [500, { refund: 3, chargedAt: 0 }],
      [500, 0, allow(4, 1000)],
    ],
    'a refund gives back nothing once the charge has drained': [
      [0, 5, allow(0, 2500)],
      [2000, 1, allow(3, 3000)],
      [2500, { refund: 5, chargedAt: 0 }],
      [2500, 0, allow(4, 3000)],
    ],
    'a charge from the future is refunded as one from now': [
      [0, 5, allow(0, 2500)],
      [0, { refund: 1, chargedAt: 1000 }],
      [0, 0, allow(1, 2000)],
    ],
    'a credit ends at full, a reset is full': [
      [0, 5, allow(0, 2500)],
      [0, { credit: 2 }],
      [0, 0, allow(2, 1500)],
      [0, { credit: 9 }],
      [0, 5, allow(0, 2500)],
      [0, 'reset'],
      [0, 0, allow(5, 0)],
    ],
  }
  for (const [name, rows] of Object.entries(tables)) test(name, () => runTable(fivePerTwoSeconds, rows))
})

test('a leaky bucket of 3 that leaks 1/s fills and drains', () =>
  runTable({ kind: 'leakyBucket', capacity: 3, leak: { count: 1, periodMs: 1000 } }, [
    [10_000, 2, allow(1, 12_000)],
    [10_500, 2, refuse(1, 12_000, 11_000)],
    [10_500, 1, allow(0, 13_000)], // 1.5 + 1 = 2.5
    [10_999.999, 1, refuse(0, 13_000, 11_000)],
    [11_000, 1, allow(0, 14_000)],
  ]))

test('an interval of 142857 1/7 ticks is rounded up for one and does not drift over many', () => {
  const sevenPerSecond = { count: 7, periodMs: 1000 }
  runTable({ kind: 'gcra', burst: 1, rate: sevenPerSecond }, [
    [0, 1, allow(0, 142.858)],
    [142.857, 1, refuse(0, 142.858, 142.858)],
    [142.858, 1, allow(0, 285.716)],
  ])
  const oracle = oracleFor({ kind: 'gcra', burst: 2, rate: sevenPerSecond })
  oracle.consume(0, 2)
  for (let n = 1; n <= 7000; n++) {
    const { retryAt } = oracle.peek(0, 1)
    expect(retryAt).toBe(Math.ceil((n * 1_000_000) / 7))
    expect(oracle.consume(retryAt, 1).allowed).toBe(true)
  }
})

test('999983 a day waits 86401 and a fraction ticks: 86400000000 / 999983 = 86401.4688', () =>
  runTable({ kind: 'tokenBucket', capacity: 1000, refill: { count: 999_983, periodMs: 86_400_000 } }, [
    [1.79e12, 1000, allow(0, 1.79e12 + 86_401.469)],
    [1.79e12, 1, refuse(0, 1.79e12 + 86_401.469, 1.79e12 + 86.402)],
  ]))

test('a million a second is one a tick', () =>
  runTable({ kind: 'tokenBucket', capacity: 1000, refill: { count: 1_000_000, periodMs: 1000 } }, [
    [1.79e12, 1000, allow(0, 1.79e12 + 1)],
    [1.79e12 + 0.001, 2, refuse(1, 1.79e12 + 1, 1.79e12 + 0.002)],
    [1.79e12 + 0.002, 2, allow(0, 1.79e12 + 1.002)],
  ]))

describe('redis-cell, whose max_burst + 1 is the burst and whose −1 and whole seconds are its own', () => {
  test('user123 15 30 60', () => {
    const rows: Row[] = Array.from({ length: 16 }, (_, n) => [0, 1, allow(15 - n, 2000 * (n + 1))])
    rows.push([0, 1, refuse(0, 32_000, 2000)])
    runTable({ kind: 'gcra', burst: 16, rate: { count: 30, periodMs: 60_000 } }, rows)
  })
  test('foo 4 1 1 6, more than the burst', () =>
    runTable({ kind: 'gcra', burst: 5, rate: { count: 1, periodMs: 1000 } }, [[0, 6, refuse(5, 0, Infinity)]]))
  test('k 0 1 2', () =>
    runTable({ kind: 'gcra', burst: 1, rate: { count: 1, periodMs: 2000 } }, [
      [0, 1, allow(0, 2000)],
      [0, 1, refuse(0, 2000, 2000)],
      [2000, 1, allow(0, 4000)],
    ]))
})
