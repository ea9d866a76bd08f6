import { type BucketRule, decide, describe, over } from '../../algorithms/bucket.ts'
import type { KeyHash } from '../../hash.ts'
import { Charge, ENFORCED, type Entry, type Lane, type Limit } from '../store.ts'
import { type BucketLedger, FAR } from './bucket-ledger.ts'
import type { House } from './house.ts'
import type { KeyTable, Room } from './key-table.ts'
import type { Shared } from './keys.ts'
import type { MemorySpace } from './memory-space.ts'
import type { StoreTime } from './store-time.ts'

/**
 * The express lane of a bucket: one request, one bucket, nothing blocked or held. A key already here is read and written
 * once, and all else stays in registers. It is sought before the clock is read, so that the processor fetches its state
 * meanwhile. Whatever is less plain takes the long way.
 */
export class BucketLane implements Lane {
  readonly limit: Limit
  readonly rule: BucketRule
  readonly space: MemorySpace
  readonly table: KeyTable
  private readonly hash: KeyHash
  private readonly time: StoreTime
  private readonly room: Room
  private readonly house: House
  private readonly longWay: Lane

  constructor(limit: Limit, rule: BucketRule, shared: Shared, house: House, longWay: Lane) {
    this.limit = limit
    this.rule = rule
    this.space = limit.space as MemorySpace
    this.table = (this.space.ledger(rule) as BucketLedger).keys.table
    this.hash = shared.hash
    this.time = shared.time
    this.room = shared.room
    this.house = house
    this.longWay = longWay
  }

  take(entry: Entry): void {
    const { hash, rule, table, time } = this
    const lo = hash.of(entry.key)
    const { hi } = hash
    const segment = table.segmentOf(hi)
    const at = table.find(segment, hi, lo)
    time.read()
    const { now } = time
    const units = (now - segment.origin) * rule.perTick
    if (at < 0 || units >= FAR || !this.space.plain) {
      this.longWay.take(entry)
      return
    }
    let level = segment.cells[at]! - units
    if (level < 0) level = 0
    if (over(level, rule, 1) <= 0) {
      level += rule.perRequest
      segment.cells[at] = units + level
      entry.receipt = this.room.resets + 1
    }
    entry.tick = now
    entry.used = level
    this.house.keep()
  }

  chargeOf(entry: Entry): Charge {
    const { rule } = this
    const charge = new Charge(this.limit, rule, entry.key, 1, ENFORCED)
    charge.at = entry.tick
    charge.receipt = entry.receipt
    // Whether it passed shows in the receipt; what was not taken is judged again on the level it found.
    decide(entry.used, rule, entry.tick, entry.receipt > 0 ? 0 : 1, charge)
    describe(entry.used, rule, entry.tick, charge)
    return charge
  }
}
