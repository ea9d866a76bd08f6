const SMALLEST = 64
/** How many slots a key without room may search, on average. */
const PLACES_PER_SEARCH = 16

/** Open addressing with linear probing: a key is in its own slot or in the next one that was free. */
export class TableShard {
  /** The two halves of a hash for each slot. The first is 0 if the slot is free. */
  words!: Int32Array
  micros!: Float64Array
  nanos!: Uint16Array
  taken = 0
  private mask = 0
  private turnedAway = 0

  constructor(size = SMALLEST) {
    this.clear(size)
  }

  get isCrowded(): boolean {
    return (this.taken + 1) * 4 > (this.mask + 1) * 3
  }

  /** Called when there is no room for a key. A search for idle keys takes long, so it is worthwhile only now and then. */
  isWorthSearching(): boolean {
    return ++this.turnedAway * PLACES_PER_SEARCH >= this.mask
  }

  find(hi: number, lo: number): number {
    const { words, mask } = this
    for (let at = lo & mask; ; at = (at + 1) & mask) {
      const found = words[at << 1]
      if (found === lo && words[(at << 1) + 1] === hi) return at
      if (found === 0) return -1
    }
  }

  freeFor(lo: number): number {
    const { words, mask } = this
    let at = lo & mask
    while (words[at << 1] !== 0) at = (at + 1) & mask
    return at
  }

  put(at: number, hi: number, lo: number): number {
    this.words[at << 1] = lo
    this.words[(at << 1) + 1] = hi
    return at
  }

  live(now: number): number {
    const { words, micros, mask } = this
    let live = 0
    for (let at = 0; at <= mask; at++) if (words[at << 1] !== 0 && micros[at]! >= now) live++
    return live
  }

  /** Drops idle keys, and chooses a size at which at most half of the slots are taken. */
  rebuild(now: number): void {
    const { words, micros, nanos, mask } = this
    const live = this.live(now)
    let size = SMALLEST
    while (size < live * 2) size *= 2
    if (live === 0 && size === mask + 1) words.fill(0)
    else this.clear(size)
    this.taken = live
    this.turnedAway = 0
    for (let from = 0; from <= mask; from++) {
      const lo = words[from << 1]!
      if (lo === 0 || micros[from]! < now) continue
      const at = this.put(this.freeFor(lo), words[(from << 1) + 1]!, lo)
      this.micros[at] = micros[from]!
      this.nanos[at] = nanos[from]!
    }
  }

  private clear(size: number): void {
    this.words = new Int32Array(size * 2)
    this.micros = new Float64Array(size)
    this.nanos = new Uint16Array(size)
    this.mask = size - 1
    this.taken = 0
  }
}
