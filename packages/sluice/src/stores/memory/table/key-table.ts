/**
 * Maps keys to a few numbers each, in typed arrays: no object per key, so the garbage collector has nothing to visit.
 *
 * A slot is the 64-bit hash of its key and `width` doubles. The top bits of the hash choose a segment (extendible
 * hashing). A small segment doubles, a full-grown one splits in two, so growing never touches more than a quarter of a
 * megabyte at once. In a segment a key is at its place or in the next free slot (linear probing). Removing a key closes
 * the gap, so there are no tombstones.
 */
export class KeyTable {
  readonly width: number
  readonly segments: TableSegment[]
  private readonly stride: number
  private readonly largest: number
  /** The first segment: the only one until it splits. */
  private readonly root: TableSegment
  private directory: TableSegment[]
  private depth = 0
  private readonly budget: KeyBudget
  /** The bytes that a key takes beyond `KEY_BYTES`. */
  private readonly extraBytes: number
  /** Where the sweep goes on: the segment, and the slot in it. */
  private sweptSegment = 0
  private sweptSlot = 0

  constructor(width: number, budget: KeyBudget) {
    this.width = width
    this.stride = width + 1
    this.largest = 2 ** Math.floor(Math.log2(SEGMENT_BYTES / (8 * this.stride)))
    this.budget = budget
    this.extraBytes = ((width - 1) * KEY_BYTES) / 2
    this.root = new TableSegment(SMALLEST, this.stride, 0, 0)
    this.segments = [this.root]
    this.directory = [this.root]
  }

  /**
   * Where the doubles of a key are in the cells of its segment, or -1. `lo` is never 0, which marks a free slot.
   */
  find({ words, mask }: TableSegment, hi: number, lo: number): number {
    const step = this.stride << 1
    // `Math.imul` and `| 0` keep these numbers 32-bit integers, which spares the engine overflow checks.
    for (let slot = lo & mask; ; slot = (slot + 1) & mask) {
      const at = Math.imul(slot, step)
      const found = words[at]
      if (found === lo && words[(at + 1) | 0] === hi) return (at >> 1) + 1
      if (found === 0) return -1
    }
  }

  /** The segment of a key, whether or not the key is there. A small table has one and needs no hash to find it. */
  segmentOf(hi: number): TableSegment {
    return this.depth === 0 ? this.root : this.directory[(hi >>> 1) >>> (31 - this.depth)]!
  }

  /**
   * Makes a slot for a key that `find` has not found; its doubles are 0. The key takes over the first idle slot on its
   * way. So a table of keys that come and go neither grows nor needs cleaning. The key may get another segment.
   */
  insert(hi: number, lo: number, owner: TableOwner, now: number): number {
    let segment = this.segmentOf(hi)
    let offset = this.replaceIdle(segment, hi, lo, owner, now)
    if (offset < 0) {
      while ((segment.live + 1) * 5 > (segment.mask + 1) * 4) {
        this.makeRoom(segment, owner, now)
        segment = this.segmentOf(hi)
      }
      this.budget.live++
      if (this.extraBytes > 0) occupy(this.budget, this.extraBytes)
      offset = place(segment, this.stride, hi, lo)
    }
    // A loop: for one double `fill` takes 26 ns, and the loop takes 2 ns.
    for (let i = 0; i < this.width; i++) segment.cells[offset + i] = 0
    return offset
  }

  /**
   * Gives the slot of the first idle key between a key's place and the next free slot to that key. Returns -1 if there
   * is none.
   */
  private replaceIdle(segment: TableSegment, hi: number, lo: number, owner: TableOwner, now: number): number {
    const { words, cells, mask } = segment
    const stride = this.stride
    let slot = lo & mask
    if (words[slot * stride * 2] === 0) return -1
    const idleUpTo = owner.idleUpTo(segment, now)
    for (; words[slot * stride * 2] !== 0; slot = (slot + 1) & mask) {
      const at = slot * stride
      if (cells[at + 1]! > idleUpTo) continue
      owner.dropped(segment, at + 1)
      words[at * 2] = lo
      words[at * 2 + 1] = hi
      return at + 1
    }
    return -1
  }

  /** Forgets the key whose doubles stand at `offset` of `segment`. */
  remove(segment: TableSegment, offset: number): void {
    const { words, cells, mask } = segment
    const stride = this.stride
    let hole = (offset - 1) / stride
    for (let next = (hole + 1) & mask; words[next * stride * 2] !== 0; next = (next + 1) & mask) {
      // A key may move back into the hole unless its own place is after it.
      const home = words[next * stride * 2]! & mask
      if (((next - home) & mask) < ((next - hole) & mask)) continue
      copySlot(words, cells, next * stride, hole * stride, stride)
      hole = next
    }
    words[hole * stride * 2] = 0
    segment.live--
    this.budget.live--
    if (this.extraBytes > 0) occupy(this.budget, -this.extraBytes)
  }

  /** Goes on looking for idle keys, up to `slots` slots and one segment. Returns true when it has looked at all. */
  sweep(slots: number, owner: TableOwner, now: number): boolean {
    const segment = this.segments[this.sweptSegment]!
    this.sweptSlot = this.clean(segment, this.sweptSlot, slots, owner, now)
    if (this.sweptSlot <= segment.mask) return false
    this.shrink(segment)
    this.sweptSlot = 0
    this.sweptSegment = (this.sweptSegment + 1) % this.segments.length
    return this.sweptSegment === 0
  }

  /** Removes the idle keys among `slots` slots of `segment` from `from` on. Returns where to go on. */
  private clean(segment: TableSegment, from: number, slots: number, owner: TableOwner, now: number): number {
    const end = Math.min(from + slots, segment.mask + 1)
    const idleUpTo = owner.idleUpTo(segment, now)
    let slot = from
    while (slot < end) {
      const at = slot * this.stride
      if (segment.words[at * 2] !== 0 && segment.cells[at + 1]! <= idleUpTo) {
        owner.dropped(segment, at + 1)
        this.remove(segment, at + 1) // may move another key into this slot: look again
      } else slot++
    }
    return slot
  }

  get size(): number {
    return this.segments.reduce((sum, segment) => sum + segment.live, 0)
  }

  /** Frees memory that a past flood of keys has left behind. */
  private shrink(segment: TableSegment): void {
    let size = segment.mask + 1
    if (segment.live * 8 >= size || size === SMALLEST) return
    while (size > SMALLEST && segment.live * 4 < size) size /= 2
    this.resize(segment, size)
  }

  /** Forgets the idle keys of a segment. If too many are left, the segment grows. */
  private makeRoom(segment: TableSegment, owner: TableOwner, now: number): void {
    const size = segment.mask + 1
    this.clean(segment, 0, size, owner, now)
    if (segment.live * CROWDED_PER < size * CROWDED) return
    if (size < this.largest) this.resize(segment, size * 2)
    else this.split(segment)
  }

  private resize(segment: TableSegment, size: number): void {
    const { words, cells, mask } = segment
    segment.clear(size, this.stride)
    reinsert(words, cells, mask + 1, this.stride, 0, segment, segment)
  }

  /** Splits a segment in two by the next bit of the hash. */
  private split(segment: TableSegment): void {
    const bit = segment.depth++
    const size = segment.mask + 1
    const twin = new TableSegment(size, this.stride, segment.depth, segment.origin)
    this.segments.push(twin)
    if (segment.depth > this.depth) {
      this.depth++
      this.directory = this.directory.flatMap(one => [one, one])
    }
    const wide = this.depth - segment.depth
    for (let i = 0; i < this.directory.length; i++) {
      if (this.directory[i] === segment && ((i >>> wide) & 1) === 1) this.directory[i] = twin
    }
    const bytes = segment.words.byteLength
    scratch ??= new ArrayBuffer(SEGMENT_BYTES)
    const words = new Int32Array(scratch, 0, bytes / 4)
    words.set(segment.words)
    segment.words.fill(0)
    segment.live = 0
    reinsert(words, new Float64Array(scratch, 0, bytes / 8), size, this.stride, bit, segment, twin)
  }
}

/** The owner of the doubles in a table. Only the owner can tell when a key may be forgotten. */
export interface TableOwner {
  /** A key is idle when its first double is at most this: a fresh key would behave the same. */
  idleUpTo(segment: TableSegment, now: number): number
  /** Called before a key is removed. */
  dropped(segment: TableSegment, offset: number): void
}

/**
 * The bytes of a key of one number when all keys are in use: two doubles, in a segment two fifths full after a split.
 */
export const KEY_BYTES = 40

/** How many keys all tables of a store have, and how many they may have. */
export interface KeyBudget {
  live: number
  /** How many keys fit beside everything else that is kept. */
  max: number
  /** How many keys fit if nothing else is kept. */
  readonly maxKeys: number
  /** The bytes kept beside keys of one number: wider slots, times of logs, concurrency slots, reservations. */
  bytes: number
}

export function newBudget(maxKeys: number): KeyBudget {
  return { live: 0, max: maxKeys, maxKeys, bytes: 0 }
}

/** Takes room for this many bytes, or gives it back if negative. */
export function occupy(budget: KeyBudget, bytes: number): void {
  budget.bytes += bytes
  budget.max = budget.maxKeys - Math.ceil(budget.bytes / KEY_BYTES)
}

export class TableSegment {
  /** The hash words and the doubles of a slot share one buffer, so they are mostly in one cache line. */
  words!: Int32Array
  cells!: Float64Array
  mask = 0
  live = 0
  /** How many top bits of the hash all keys here share. */
  depth: number
  /** The tick from which `cells` may count. */
  origin: number

  constructor(size: number, stride: number, depth: number, origin: number) {
    this.depth = depth
    this.origin = origin
    this.clear(size, stride)
  }

  clear(size: number, stride: number): void {
    const buffer = new ArrayBuffer(size * stride * 8)
    this.words = new Int32Array(buffer)
    this.cells = new Float64Array(buffer)
    this.mask = size - 1
    this.live = 0
  }
}

const SMALLEST = 8
/**
 * A segment that is still 5/16 full after cleaning grows. A lower bound costs memory, a higher one cleans more often.
 * At this bound, cleaning looks at two slots for each key inserted.
 */
const CROWDED = 5
const CROWDED_PER = 16
const SEGMENT_BYTES = 2 ** 18

/** Holds the slots of a segment while it splits. All tables share it, because a split is not interrupted. */
let scratch: ArrayBuffer | undefined

/** Takes a free slot for a key. Its doubles still hold old numbers. */
function place(segment: TableSegment, stride: number, hi: number, lo: number): number {
  const { words, mask } = segment
  let slot = lo & mask
  while (words[slot * stride * 2] !== 0) slot = (slot + 1) & mask
  const at = slot * stride
  words[at * 2] = lo
  words[at * 2 + 1] = hi
  segment.live++
  return at + 1
}

/**
 * Chooses one of two segments by a bit of the hash. It is no callback, because the engine would not have optimised a
 * new one.
 */
function reinsert(
  words: Int32Array,
  cells: Float64Array,
  size: number,
  stride: number,
  bit: number,
  whereClear: TableSegment,
  whereSet: TableSegment,
): void {
  for (let slot = 0; slot < size; slot++) {
    const at = slot * stride
    const lo = words[at * 2]!
    if (lo === 0) continue
    const hi = words[at * 2 + 1]!
    const segment = hi << bit < 0 ? whereSet : whereClear
    const offset = place(segment, stride, hi, lo)
    for (let i = 0; i < stride - 1; i++) segment.cells[offset + i] = cells[at + 1 + i]!
  }
}

/** The hash is copied word by word: as a double it could be a NaN, whose bits an engine need not keep. */
function copySlot(words: Int32Array, cells: Float64Array, from: number, to: number, stride: number): void {
  words[to * 2] = words[from * 2]!
  words[to * 2 + 1] = words[from * 2 + 1]!
  for (let i = 1; i < stride; i++) cells[to + i] = cells[from + i]!
}
