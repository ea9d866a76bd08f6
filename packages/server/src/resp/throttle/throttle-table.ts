import { HalfSipHash } from './half-sip-hash.ts'
import { TableShard } from './table-shard.ts'

/**
 * Keys to one time each, in typed arrays: no object for a key, nothing for the garbage collector to walk, and a long key
 * takes no more room than a short one.
 *
 * The times are whole microseconds since the epoch and the nanoseconds beyond. A key whose time has passed is idle: a
 * fresh one would behave the same, so idle keys are left out whenever a shard is built anew, and no key is ever removed.
 * A full table gives no fresh start: keys without a place share pooled cells, chosen by hash, and a key that gets a place
 * starts from there.
 */
export class ThrottleTable {
  /** The time of the key sought last: long past without one. */
  micros = 0
  nanos = 0
  /** How often a key was decided on a pooled cell. */
  overflowed = 0
  private readonly hash: HalfSipHash
  private readonly shards: readonly TableShard[]
  /** How many keys a shard may hold: when one is full, the others nearly are, too. */
  private readonly mostKeys: number
  private readonly pool = new TableShard(POOL)
  private shard: TableShard
  /** Where the key sought last stands; -1 without a place of its own. */
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

  /** Places taken, those of idle keys not yet given away included. */
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

  /** Sets the time of the key that was just sought. */
  write(micros: number, nanos: number, now: number): void {
    if (!this.isOwn) this.at = this.place(now)
    const isPooled = this.at < 0
    const shard = isPooled ? this.pool : this.shard
    const at = isPooled ? this.hash.hi & (POOL - 1) : this.at
    shard.micros[at] = micros
    shard.nanos[at] = nanos
    if (isPooled) this.overflowed++
  }

  /** Makes the key that was just sought idle, unless it is pooled: that would be a fresh start for all who share it. */
  forget(): void {
    if (!this.isOwn) return
    this.shard.micros[this.at] = 0
    this.shard.nanos[this.at] = 0
  }

  private read(shard: TableShard, at: number): void {
    this.micros = shard.micros[at]!
    this.nanos = shard.nanos[at]!
  }

  /** A place for the key that was just sought, or -1. */
  private place(now: number): number {
    const { hash, shard, mostKeys } = this
    if (shard.taken >= mostKeys ? shard.isWorthSearching() : shard.isCrowded) shard.rebuild(now)
    if (shard.taken >= mostKeys) return -1
    shard.taken++
    return shard.put(shard.freeFor(hash.lo), hash.hi, hash.lo)
  }

  /** Now and then one shard forgets its idle keys, so that a passed flood leaves nothing behind. */
  private sweep(now: number): void {
    const shard = this.shards[this.swept]!
    this.swept = (this.swept + 1) % this.shards.length
    if (shard.live(now) * 2 < shard.taken) shard.rebuild(now)
    this.untilSweep = CALLS_PER_SWEEP
  }
}

/** 256 at most, so that growing one when there are four million keys takes less than a millisecond. */
const MOST_SHARDS_LOG2 = 8
/** At least, so that none is full long before the others. */
const KEYS_PER_SHARD = 4096
const SHARD_SHIFT = 24
const POOL = 4096
const CALLS_PER_SWEEP = 4096
