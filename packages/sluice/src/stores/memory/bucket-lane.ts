import { type BucketRule, decide, describe, highestFor } from '../../algorithms/bucket.ts'
import { remainingOf } from '../../algorithms/verdict.ts'
import type { HashListener, KeyHash } from '../../hash.ts'
import { Charge, ENFORCED } from '../charge.ts'
import type { LoneLane, Passage } from '../lane.ts'
import type { Limit } from '../store.ts'
import { type BucketLedger, FAR } from './bucket-ledger.ts'
import type { House } from './house.ts'
import type { KeyTable, Room } from './key-table.ts'
import type { Shared } from './keys.ts'
import type { MemorySpace } from './memory-space.ts'
import type { StoreTime } from './store-time.ts'

/** Makes the engine keep a field as a raw double from the start. */
const FRACTION = 0.5

/**
 * The express lane of a bucket: one request, one bucket, nothing blocked or held. A key already here is read and written
 * once, and all else stays in registers. Whatever is less plain takes the long way.
 */
export class BucketLane implements LoneLane, HashListener {
  receipt = 0
  tick = FRACTION
  used = FRACTION
  charges: readonly Charge[] | undefined = undefined
  readonly limit: Limit
  readonly rule: BucketRule
  /** Of the rule: read from there, the engine would have to look each time what kind of number each is. */
  readonly perTick: number
  readonly perRequest: number
  readonly highest: number
  /** An import is looked up anew each time it is read. */
  private readonly far = FAR
  readonly space: MemorySpace
  readonly table: KeyTable
  private readonly hash: KeyHash
  private readonly time: StoreTime
  private readonly room: Room
  private readonly house: House
  private readonly longWay: LoneLane

  constructor(limit: Limit, rule: BucketRule, shared: Shared, house: House, longWay: LoneLane) {
    this.limit = limit
    this.rule = rule
    this.perTick = rule.perTick
    this.perRequest = rule.perRequest
    this.highest = highestFor(1, rule)
    this.space = limit.space as MemorySpace
    this.table = (this.space.ledger(rule) as BucketLedger).keys.table
    this.hash = shared.hash
    this.time = shared.time
    this.room = shared.room
    this.house = house
    this.longWay = longWay
  }

  take(key: string): void {
    this.hash.tell(key, this)
  }

  /** The rest of `take`. */
  hashed(key: string, hi: number, lo: number): void {
    const { table } = this
    const now = this.time.read()
    const at = table.find(hi, lo)
    const { segment } = table
    const units = (now - segment.origin) * this.perTick
    if (at < 0 || units >= this.far || this.space.plain !== true) {
      this.takeTheLongWay(key)
      return
    }
    let level = segment.cells[at]! - units
    if (level < 0) level = 0
    if (level <= this.highest) {
      level += this.perRequest
      segment.cells[at] = units + level
      this.receipt = this.room.resets + 1
    } else this.receipt = 0
    this.tick = now
    this.used = level
    this.charges = undefined
    this.house.keep()
  }

  chargesOf(key: string, passage: Passage<number>): readonly Charge[] {
    return [this.chargeOf(key, passage)]
  }

  remainingOf(_index: number, { used }: Passage<number>): number {
    return remainingOf(used, this.rule)
  }

  resetAtOf(_index: number, passage: Passage<number>): number {
    return this.chargeOf('', passage).resetAt
  }

  private chargeOf(key: string, { receipt, tick, used }: Passage<number>): Charge {
    const { rule } = this
    const charge = new Charge(this.limit, rule, key, 1, ENFORCED)
    charge.at = tick
    charge.receipt = receipt
    // Whether it passed shows in the receipt; what was not taken is judged again on the level it found.
    decide(used, rule, tick, receipt > 0 ? 0 : 1, charge)
    describe(used, rule, tick, charge)
    return charge
  }

  private takeTheLongWay(key: string): void {
    this.longWay.take(key)
    this.receipt = this.longWay.receipt
    this.charges = this.longWay.charges
  }
}
