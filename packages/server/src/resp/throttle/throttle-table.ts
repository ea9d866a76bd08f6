import { HalfSipHash } from './half-sip-hash.ts'
import { TableShard } from './table-shard.ts'

/**
 * Maps each key to one time in typed arrays. No key needs an object, the garbage collector has nothing to walk, and a long
 * key takes no more room than a short one.
 *
 * A time is whole microseconds since the epoch and the nanoseconds beyond. A key whose time has passed is idle and behaves
 * like a new one, so rebuilding a shard drops idle keys; no key is removed in any other way. A full table does not give
 * keys a fresh start: keys without a slot share pooled cells, chosen by hash, and a key that gets a slot starts with the
 * time of its cell.
 */
export class ThrottleTable {
  /** The time of the last key that was looked up; long past if it has none. */
  micros = 0
  nanos = 0
  /** How often a key was decided on a pooled cell. */
  overflowed = 0
  private readonly hash: HalfSipHash
  private readonly shards: readonly TableShard[]
  /** How many keys a shard may hold. When one shard is full, the others nearly are, too. */
  private readonly mostKeys: number
  private readonly pool = new TableShard(POOL)
  private shard: TableShard
  /** The slot of the last key that was looked up; -1 if it has none. */
  private at = -1
  private isOwn = false
  private untilSweep = CALLS_PER_SWEEP
  private swept = 0

  constructor(maxKeys: number) {
    const secret = crypto.getRandomValues(new Int32Array(2))
    this.hash = new HalfSipHash(secret[0]!, secret[1]!)
    const shards = 2 ** Math.min(MOST_SHARDS_LOG2, Math.max(0, Math.floor(Math.log2(maxKeys / KEYS_PER_SHARD))))
    this.shards = Array.from({ length: shards }, () => new TableShard())
    this.mostKeys = Math.floor(maxKeys / shards)
    this.shard = this.shards[0]!
  }

  /** The number of taken slots, including those of idle keys. */
  get size(): number {
    return this.shards.reduce((sum, shard) => sum + shard.taken, 0)
  }

  /** Finds the time of a key; `now` is in whole microseconds. */
  seek(bytes: Buffer, start: number, end: number, now: number): void {
    if (--this.untilSweep === 0) this.sweep(now)
    const { hash } = this
    hash.of(bytes, start, end)
    const shard = this.shards[(hash.hi >>> SHARD_SHIFT) & (this.shards.length - 1)]!
    this.shard = shard
    this.at = shard.find(hash.hi, hash.lo)
    this.isOwn = this.at >= 0
    if (this.isOwn) this.read(shard, this.at)
    else this.read(this.pool, hash.hi & (POOL - 1))
  }

  /** Sets the time of the key that was just looked up. */
  write(micros: number, nanos: number, now: number): void {
    if (!this.isOwn) this.at = this.place(now)
    const isPooled = this.at < 0
    const shard = isPooled ? this.pool : this.shard
    const at = isPooled ? this.hash.hi & (POOL - 1) : this.at
    shard.micros[at] = micros
    shard.nanos[at] = nanos
    if (isPooled) this.overflowed++
  }

  /** Makes the key that was just looked up idle, unless it is pooled: all keys of its cell would get a fresh start. */
  forget(): void {
    if (!this.isOwn) return
    this.shard.micros[this.at] = 0
    this.shard.nanos[this.at] = 0
  }

  private read(shard: TableShard, at: number): void {
    this.micros = shard.micros[at]!
    this.nanos = shard.nanos[at]!
  }

  /** A slot for the key that was just looked up, or -1. */
  private place(now: number): number {
    const { hash, shard, mostKeys } = this
    if (shard.taken >= mostKeys ? shard.isWorthSearching() : shard.isCrowded) shard.rebuild(now)
    if (shard.taken >= mostKeys) return -1
    shard.taken++
    return shard.put(shard.freeFor(hash.lo), hash.hi, hash.lo)
  }

  /** Rebuilds one shard now and then if it has many idle keys, so that memory shrinks after a flood. */
  private sweep(now: number): void {
    const shard = this.shards[this.swept]!
    this.swept = (this.swept + 1) % this.shards.length
    if (shard.live(now) * 2 < shard.taken) shard.rebuild(now)
    this.untilSweep = CALLS_PER_SWEEP
  }
}

/** At most 256 shards, so that with four million keys growing one takes less than a millisecond. */
const MOST_SHARDS_LOG2 = 8
/** At least this many, so that no shard is full long before the others. */
const KEYS_PER_SHARD = 4096
const SHARD_SHIFT = 24
const POOL = 4096
const CALLS_PER_SWEEP = 4096
