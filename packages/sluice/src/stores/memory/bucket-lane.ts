import { type BucketRule, over, ticksToDrain } from '../../algorithms/bucket.ts'
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
  private readonly limit: Limit
  private readonly rule: BucketRule
  private readonly space: MemorySpace
  private readonly table: KeyTable
  private readonly hash: KeyHash
  private readonly time: StoreTime
  private readonly room: Room
  private readonly house: House
  private readonly theLongWay: (charge: Charge) => void

  constructor(limit: Limit, rule: BucketRule, shared: Shared, house: House, theLongWay: (charge: Charge) => void) {
    this.limit = limit
    this.rule = rule
    this.space = limit.space as MemorySpace
    this.table = (this.space.ledger(rule) as BucketLedger).keys.table
    this.hash = shared.hash
    this.time = shared.time
    this.room = shared.room
    this.house = house
    this.theLongWay = theLongWay
  }

  take(entry: Entry): void {
    const { hash, rule, table, time } = this
    hash.of(entry.key)
    const segment = table.segmentOf(hash.hi)
    const at = table.find(segment, hash.hi, hash.lo)
    time.read()
    const { now } = time
    const units = (now - segment.origin) * rule.perTick
    if (at < 0 || units >= FAR || !this.space.plain) {
      this.takeLong(entry)
      return
    }
    let level = segment.cells[at]! - units
    if (level < 0) level = 0
    const excess = over(level, rule, 1)
    if (excess <= 0) {
      level += rule.perRequest
      segment.cells[at] = units + level
      entry.receipt = this.room.resets + 1
    } else entry.retryTick = now + ticksToDrain(excess, rule)
    entry.tick = now
    entry.used = level
    this.house.keep()
  }

  private takeLong(entry: Entry): void {
    const charge = new Charge(this.limit, this.rule, entry.key, 1, ENFORCED)
    this.theLongWay(charge)
    entry.receipt = charge.receipt
    entry.tick = charge.at
    entry.used = charge.used
    entry.charge = charge
    if (!charge.allowed) entry.retryTick = charge.retryAt
  }
}
