import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KeyHash } from '../../../hash.ts'
import { fakeClock } from '../../../testing/fake-clock.ts'
import { StoreTime } from '../../store-time.ts'
import { type KeyBudget, newBudget, type TableSegment } from './key-table.ts'
import { PooledKeyTable } from './pooled-key-table.ts'

/** Keys whose one cell is the tick from which they are idle. */
class Counted {
  readonly keys: PooledKeyTable
  overflowed = 0
  readonly room: KeyBudget

  constructor(max: number) {
    this.room = newBudget(max)
    const owner = {
      idleUpTo: (_: TableSegment, now: number) => now,
      dropped() {},
      copy(from: TableSegment, fromOffset: number, to: TableSegment, toOffset: number) {
        to.cells[toOffset] = from.cells[fromOffset]!
        return true
      },
    }
    const time = new StoreTime(fakeClock(), () => {})
    const overflowed = () => void this.overflowed++
    const shared = { hash: new KeyHash(1, 2), time, budget: this.room, resets: 0, overflowed }
    this.keys = new PooledKeyTable(1, owner, shared)
  }

  read(key: string, now: number): number {
    const at = this.keys.find(key, now)
    return at < 0 ? 0 : this.keys.segment.cells[at]!
  }

  write(key: string, now: number, value: number): void {
    this.keys.find(key, now)
    const at = this.keys.make(now)
    this.keys.segment.cells[at] = value
  }
}

describe('keys', () => {
  test('with room for all do what a Map of strings does', () => {
    const commands = fc.array(fc.tuple(fc.constantFrom('write', 'write', 'forget', 'sweep'), fc.nat(80), fc.nat(30)))
    const asMap = fc.property(commands, all => {
      const one = new Counted(Infinity)
      const model = new Map<string, number>()
      for (const [now, [op, which, life]] of all.entries()) {
        const key = `key ${which}`
        if (op === 'write') {
          one.write(key, now, now + 1 + life)
          model.set(key, now + 1 + life)
        } else if (op === 'forget') {
          one.keys.forget(key, now)
          model.delete(key)
        } else one.keys.sweep(16, now)
        for (let n = 0; n <= 80; n += 9) {
          const idleAt = model.get(`key ${n}`) ?? 0
          // What is idle may be gone or not: nobody can tell.
          if (idleAt > now) expect(one.read(`key ${n}`, now)).toBe(idleAt)
        }
      }
      expect(one.overflowed).toBe(0)
    })
    fc.assert(asMap, { numRuns: 200 })
  })

  test('without room share a place, find it again, and take its state along when there is room', () => {
    const one = new Counted(2)
    for (const key of ['a', 'b']) one.write(key, 0, 10)
    one.write('c', 1, 99)
    expect([one.room.live, one.read('c', 2), one.keys.pooled]).toEqual([2, 99, true])
    expect(one.overflowed).toBeGreaterThan(0)
    one.keys.forget('c', 3)
    expect([one.read('c', 3), one.read('a', 3)]).toEqual([99, 10])
    one.keys.sweep(100, 10)
    expect([one.read('c', 11), one.keys.pooled, one.room.live]).toEqual([99, false, 1])
    one.keys.forget('c', 12)
    expect(one.room.live).toBe(0)
  })

  test('without room are never more than there may be, and the pool is dropped when it is idle', () => {
    const one = new Counted(5)
    for (let n = 0; n < 10_000; n++) one.write(`key ${n}`, 0, 50)
    expect(one.room.live).toBe(5)
    const before = one.overflowed
    one.keys.sweep(100, 50)
    for (let n = 0; n < 5; n++) one.write(`new ${n}`, 51, 100)
    expect([one.overflowed - before, one.room.live]).toEqual([0, 5])
  })
})
