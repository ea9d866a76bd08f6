import { describe, test } from 'vitest'
import { allow, refuse, runTable } from '../../fixtures/oracle/table.ts'
import type { FixedWindowPolicy } from '../../policy.ts'

const threePerSecond = (align: FixedWindowPolicy['align']): FixedWindowPolicy => ({
  kind: 'fixedWindow',
  limit: 3,
  windowMs: 1000,
  align,
})

describe('3 a second from the epoch on', () => {
  test('a window counts from its first tick up to its last', () =>
    runTable(threePerSecond('epoch'), [
      [1500, 2, allow(1, 2000)],
      [1999.999, 2, refuse(1, 2000, 2000)],
      [2000, 3, allow(0, 3000)],
      [2500, 4, refuse(0, 3000, Infinity)],
      [3000, 0, allow(3, 3000)],
      [3000, 4, refuse(3, 3000, Infinity)],
    ]))
  test('time running backwards does not go back to an older window', () =>
    runTable(threePerSecond('epoch'), [
      [2000, 3, allow(0, 3000)],
      [1999, 1, refuse(0, 3000, 3000)],
    ]))
  test('a refund counts only in the window that was charged', () =>
    runTable(threePerSecond('epoch'), [
      [3100, 2, allow(1, 4000)],
      [3900, { refund: 2, chargedAt: 3100 }],
      [3900, 2, allow(1, 4000)],
      [4000, 1, allow(2, 5000)],
      [4100, { refund: 2, chargedAt: 3900 }],
      [4100, 0, allow(2, 5000)],
      [4200, { credit: 5 }],
      [4200, { peek: 3 }, allow(3, 4200)],
      [4200, 3, allow(0, 5000)],
      [4200, 'reset'],
      [4200, 3, allow(0, 5000)],
    ]))
})

test('windows of a key start at its phase, the first of them before the epoch', () =>
  runTable(
    threePerSecond('key'),
    [
      [100, 3, allow(0, 300)],
      [299.999, 1, refuse(0, 300, 300)],
      [300, 1, allow(2, 1300)],
    ],
    { phase: 300_000 },
  ))

describe('3 a second from first use on', () => {
  test('neither a look nor a refusal starts a window', () =>
    runTable(threePerSecond('first'), [
      [1234.567, 1, allow(2, 2234.567)],
      [2000, 3, refuse(2, 2234.567, 2234.567)],
      [2234.567, 0, allow(3, 2234.567)],
      [2300, 4, refuse(3, 2300, Infinity)],
      [2400, 1, allow(2, 3400)],
    ]))
  test('a window that was refunded to nothing still ends where it would have', () =>
    runTable(threePerSecond('first'), [
      [5001, 1, allow(2, 6001)],
      [5500, { refund: 1, chargedAt: 5001 }],
      [5500, 0, allow(3, 5500)],
      [5900, 1, allow(2, 6001)],
      [5900, 'reset'],
      [5950, 1, allow(2, 6950)],
    ]))
})

describe('calendar windows', () => {
  const utc = (month: number, day: number, hour: number) => Date.UTC(2026, month - 1, day, hour)
  const calendar = (align: 'day' | 'week' | 'month', timeZone: string): FixedWindowPolicy => ({
    kind: 'fixedWindow',
    limit: 1,
    windowMs: 0,
    align,
    timeZone,
  })
  test('the day the clocks go forward in New York has 23 hours', () =>
    runTable(calendar('day', 'America/New_York'), [
      [utc(3, 8, 5) - 0.001, 1, allow(0, utc(3, 8, 5))],
      [utc(3, 8, 5), 1, allow(0, utc(3, 9, 4))],
      [utc(3, 9, 4) - 0.001, 1, refuse(0, utc(3, 9, 4), utc(3, 9, 4))],
      [utc(3, 9, 4), 1, allow(0, utc(3, 10, 4))],
    ]))
  test('a week starts on Monday', () =>
    runTable(calendar('week', 'UTC'), [
      [utc(11, 15, 23), 1, allow(0, utc(11, 16, 0))],
      [utc(11, 16, 0), 1, allow(0, utc(11, 23, 0))],
    ]))
  test('February of 2026 in Berlin is 28 days from 23:00 UTC on', () =>
    runTable(calendar('month', 'Europe/Berlin'), [
      [utc(1, 31, 23), 1, allow(0, utc(2, 28, 23))],
      [utc(2, 28, 22), 1, refuse(0, utc(2, 28, 23), utc(2, 28, 23))],
    ]))
})
