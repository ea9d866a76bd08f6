import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KeyTable, type TableOwner, type TableSegment } from './key-table.ts'
import { boundless } from './pooled-key-table.ts'

/** A table whose keys carry the tick they are idle from and a number of their own, beside the Map it must equal. */
class Modelled implements TableOwner {
  readonly room = boundless()
  readonly table: KeyTable
  readonly model = new Map<number, { hi: number; lo: number; idleAt: number }>()

  constructor(width: number) {
    this.table = new KeyTable(width, this.room)
  }

  put(id: number, hi: number, lo: number, idleAt: number, now: number): void {
    if (this.model.has(id)) return
    const offset = this.table.insert(hi, lo, this, now)
    const { cells } = this.table.segmentOf(hi)
    expect(cells.slice(offset, offset + this.table.width).every(cell => cell === 0)).toBe(true)
    cells[offset] = idleAt
    cells[offset + this.table.width - 1] = id
    this.model.set(id, { hi, lo, idleAt })
  }

  take(id: number): void {
    const { hi, lo } = this.model.get(id)!
    const segment = this.table.segmentOf(hi)
    this.table.remove(segment, this.table.find(segment, hi, lo))
    this.model.delete(id)
  }

  idleUpTo(_: TableSegment, now: number): number {
    return now
  }

  /** Only what is idle may go, and once. */
  dropped(segment: TableSegment, offset: number): void {
    expect(this.model.delete(segment.cells[offset + this.table.width - 1]!)).toBe(true)
  }

  check(absent: Iterable<{ hi: number; lo: number }> = []): void {
    expect([this.table.size, this.room.live]).toEqual([this.model.size, this.model.size])
    for (const [id, { hi, lo, idleAt }] of this.model) {
      const segment = this.table.segmentOf(hi)
      const offset = this.table.find(segment, hi, lo)
      const { cells } = segment
      expect([cells[offset], cells[offset + this.table.width - 1]]).toEqual([idleAt, id])
    }
    for (const { hi, lo } of absent) expect(this.table.find(this.table.segmentOf(hi), hi, lo)).toBe(-1)
  }

  get slots(): number {
    return this.table.segments.reduce((sum, segment) => sum + segment.mask + 1, 0)
  }

  sweepRound(now: number): void {
    while (!this.table.sweep(7, this, now));
  }
}

/** Few places and few neighbours, so that everything collides; and hashes that would be NaN as a double. */
const HASHES = Array.from({ length: 120 }, (_, id) => ({
  id,
  hi: [0, -1, 0x7ff00001, -0x000fffff, 1 << 31, id << 24][id % 6]! | 0,
  lo: 1 + (id % 5) + ((id % 7) << 29) + Math.floor(id / 30) * 64,
}))

const command = fc.record({
  op: fc.constantFrom('put', 'put', 'put', 'take', 'sweep', 'round'),
  which: fc.nat(HASHES.length - 1),
  life: fc.nat(20),
})

describe('a key table', () => {
  test('does what a Map does, through insertions, removals and sweeps', () => {
    const asMap = fc.property(fc.array(command, { maxLength: 150 }), commands => {
      const one = new Modelled(2)
      for (const [now, { op, which, life }] of commands.entries()) {
        const { id, hi, lo } = HASHES[which]!
        if (op === 'put') one.put(id, hi, lo, now + 1 + life, now)
        else if (op === 'take' && one.model.has(id)) one.take(id)
        else if (op === 'sweep') one.table.sweep(5, one, now)
        else if (op === 'round') one.sweepRound(now)
      }
      one.check(HASHES.filter(({ id }) => !one.model.has(id)))
    })
    fc.assert(asMap, { numRuns: 300 })
  })

  test('keeps the hashes of its keys apart', () => {
    expect(new Set(HASHES.map(({ hi, lo }) => `${hi} ${lo}`)).size).toBe(HASHES.length)
  })

  test('forgets in a round of the sweep all that is idle and nothing else', () => {
    const forgets = fc.property(fc.array(fc.nat(100), { minLength: 1, maxLength: 120 }), fc.nat(100), (lives, now) => {
      const one = new Modelled(3)
      for (const [n, life] of lives.entries()) one.put(n, HASHES[n]!.hi, HASHES[n]!.lo, life + 1, 0)
      one.sweepRound(now)
      // A round may begin in the middle of a segment that shrinks on the way: the next one sees it all.
      one.sweepRound(now)
      expect([...one.model.values()].every(({ idleAt }) => idleAt > now)).toBe(true)
      expect(one.model.size).toBe(lives.filter(life => life + 1 > now).length)
      one.check()
    })
    fc.assert(forgets, { numRuns: 200 })
  })

  // So wide that a segment is full grown with 64 slots.
  const WIDE = 1000
  const spread = (id: number) => ({ hi: Math.imul(id + 1, 0x9e3779b1), lo: Math.imul(id + 1, 0x85ebca6b) | 1 })

  test('splits segments that are full grown, and loses nothing', () => {
    const one = new Modelled(WIDE)
    for (let id = 0; id < 2000; id++) one.put(id, spread(id).hi, spread(id).lo, Infinity, 0)
    expect(one.table.segments.length).toBeGreaterThan(32)
    expect(one.table.segments.every(segment => segment.mask + 1 <= 64)).toBe(true)
    one.check(Array.from({ length: 200 }, (_, n) => spread(5000 + n)))
    for (let id = 0; id < 2000; id += 2) one.take(id)
    one.check(Array.from({ length: 1000 }, (_, n) => spread(2 * n)))
  })

  test('splits again where all keys fall on one side', () => {
    const one = new Modelled(WIDE)
    for (let id = 0; id < 200; id++) one.put(id, (id << 20) & 0x0fffffff, 1 + id, Infinity, 0)
    one.check()
    expect(one.table.segments.length).toBeGreaterThan(4)
  })

  test('gives memory back when a flood has passed', () => {
    const one = new Modelled(2)
    for (let id = 0; id < 20_000; id++) one.put(id, spread(id).hi, spread(id).lo, id < 10 ? Infinity : 5, 0)
    expect(one.slots).toBeGreaterThan(20_000)
    one.sweepRound(5)
    one.sweepRound(5)
    expect(one.model.size).toBe(10)
    expect(one.slots).toBeLessThan(100)
    one.check()
  })

  test('forgets the idle before it grows', () => {
    const one = new Modelled(2)
    for (let id = 0; id < 10_000; id++) one.put(id, spread(id).hi, spread(id).lo, id + 50, id)
    expect(one.slots).toBeLessThanOrEqual(256)
    one.check()
  })
})
