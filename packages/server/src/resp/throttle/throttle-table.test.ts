import { random } from 'sluice/testing'
import { expect, test } from 'vitest'
import { TableShard } from './table-shard.ts'
import { ThrottleTable } from './throttle-table.ts'

const NOW = 1_700_000_000_000_000
const HOUR = 3_600_000_000

function seek(cells: ThrottleTable, key: string, now: number): number {
  const bytes = Buffer.from(key)
  cells.seek(bytes, 0, bytes.length, now)
  return cells.micros
}

/** Sets the time of a key, `aheadUs` from now. */
function put(cells: ThrottleTable, key: string, now: number, aheadUs = HOUR): void {
  seek(cells, key, now)
  cells.write(now + aheadUs, 7, now)
}

test('a key is found with the time it was given, among many, through growth', () => {
  const cells = new ThrottleTable(2 ** 20)
  const known = new Map<string, number>()
  const next = random(1)
  const wrong: string[] = []
  for (let i = 0; i < 40_000; i++) {
    const key = `key ${Math.floor(next() * 20_000)}`
    if (seek(cells, key, NOW) !== (known.get(key) ?? 0)) wrong.push(key)
    known.set(key, NOW + HOUR + i)
    cells.write(NOW + HOUR + i, i % 1000, NOW)
  }
  for (const [key, micros] of known) {
    if (seek(cells, key, NOW) !== micros || cells.nanos !== (micros - NOW - HOUR) % 1000) wrong.push(key)
  }
  expect(wrong).toEqual([])
  expect(cells.size).toBe(known.size)
})

test('a deleted key is like a new one, and its neighbours stay', () => {
  const cells = new ThrottleTable(1000)
  for (let i = 0; i < 500; i++) put(cells, `${i}`, NOW)
  for (let i = 0; i < 500; i += 2) {
    seek(cells, `${i}`, NOW)
    cells.forget()
  }
  for (let i = 0; i < 500; i++) expect([i, seek(cells, `${i}`, NOW)]).toEqual([i, i % 2 === 0 ? 0 : NOW + HOUR])
})

test('idle keys give up their slots: a stream of new keys takes no more room than the live ones', () => {
  const cells = new ThrottleTable(2 ** 20)
  for (let i = 0; i < 100_000; i++) put(cells, `${i}`, NOW + i, 1000)
  expect(cells.size).toBeLessThan(30_000)
  expect(cells.overflowed).toBe(0)
})

test('a passed flood leaves nothing behind', () => {
  const cells = new ThrottleTable(2 ** 20)
  for (let i = 0; i < 50_000; i++) put(cells, `${i}`, NOW)
  expect(cells.size).toBe(50_000)
  const later = NOW + 2 * HOUR
  for (let i = 0; i < 256 * 4096; i++) seek(cells, 'looked at', later)
  expect(cells.size).toBe(0)
})

test('a full table gives no fresh start: keys without a place share a few', () => {
  const cells = new ThrottleTable(100)
  let fresh = 0
  for (let i = 0; i < 50_000; i++) {
    if (seek(cells, `${i}`, NOW) < NOW) {
      fresh++
      cells.write(NOW + HOUR, 0, NOW)
    }
  }
  expect(cells.size).toBe(100)
  expect(fresh).toBeLessThanOrEqual(100 + 4096)
  expect(cells.overflowed).toBe(fresh - 100)
})

test('a full table finds the places of idle keys again', () => {
  const cells = new ThrottleTable(10_000)
  for (let i = 0; i < 10_000; i++) put(cells, `${i}`, NOW, i < 5000 ? 1000 : HOUR)
  const overflowed = cells.overflowed
  for (let i = 0; i < 5000; i++) put(cells, `new ${i}`, NOW + 2000)
  // The search comes when enough keys were turned away to pay for it.
  expect(cells.overflowed - overflowed).toBeLessThan(16_384 / 16 + 1)
  expect(cells.size).toBeLessThanOrEqual(10_000)
})

test('keys that have a place keep it when the table is full', () => {
  const cells = new ThrottleTable(100)
  for (let i = 0; i < 5000; i++) put(cells, `${i}`, NOW, HOUR + i)
  for (let i = 0; i < 100; i++) expect([i, seek(cells, `${i}`, NOW)]).toEqual([i, NOW + HOUR + i])
})

test('a key that gets a place starts from the cell it shared, and then has it for itself', () => {
  const cells = new ThrottleTable(1)
  put(cells, 'first', NOW)
  put(cells, 'second', NOW, 5 * HOUR)
  expect(cells.overflowed).toBe(1)
  const later = NOW + 2 * HOUR // the first is idle by now, the second is not
  for (let i = 1; i < 5; i++) {
    expect(seek(cells, 'second', later)).toBe(NOW + (4 + i) * HOUR)
    cells.write(NOW + (5 + i) * HOUR, 0, later)
  }
  expect(cells.overflowed).toBeLessThan(5)
  cells.forget()
  expect(seek(cells, 'second', later)).toBeLessThan(NOW + 9 * HOUR)
})

test('a pooled key cannot be forgotten: it would be a fresh start for all who share it', () => {
  const cells = new ThrottleTable(1)
  put(cells, 'first', NOW)
  put(cells, 'second', NOW)
  seek(cells, 'second', NOW)
  cells.forget()
  expect(seek(cells, 'second', NOW)).toBe(NOW + HOUR)
})

test('a full shard is searched once for many keys that were turned away, not for each of them', () => {
  const shard = new TableShard() // of 64 places
  const asked = (times: number) => Array.from({ length: times }, () => shard.isWorthSearching())
  expect(asked(4)).toEqual([false, false, false, true])
  shard.rebuild(NOW)
  expect(asked(4)).toEqual([false, false, false, true])
})
