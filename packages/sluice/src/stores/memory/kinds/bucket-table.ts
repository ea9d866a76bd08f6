import type { BucketRule } from '../../../algorithms/bucket.ts'
import * as bucket from '../../../algorithms/bucket.ts'
import type { Charge } from '../../charge.ts'
import { bucketData, type LimitData } from '../../inspection.ts'
import type { TableSegment } from '../table/key-table.ts'
import type { MemoryContext } from '../table/pooled-key-table.ts'
import { StateTable } from './state-table.ts'

/** Beyond this many units from a segment's origin, sums of doubles may no longer be exact. */
const FAR = 2 ** 52
/** Bookings may raise a level up to here: one more on top is still exact. */
const MAX_BOOKED = 2 ** 51

type BucketCharge = Charge<BucketRule>

/**
 * Buckets. A key keeps one number: the moment its bucket is dry, in units since the segment's origin. The level is that
 * minus now.
 */
export class BucketTable extends StateTable<BucketRule> {
  /** All tables of bucket rules of the limit: a key that returns under another rate brings its level along. */
  private readonly family: readonly BucketTable[]
  private level = 0.5

  constructor(rule: BucketRule, context: MemoryContext, family: readonly BucketTable[]) {
    super(rule, context, 1)
    this.family = family
  }

  protected load(rule: BucketRule, key: string, now: number): void {
    const { at, segment } = this.keys
    if (at >= 0) this.level = this.levelAt(segment, at, now)
    else this.level = this.family.length > 1 ? this.inherited(rule, key, now) : 0
  }

  judge(charge: BucketCharge, cost: number, now: number): void {
    const { rule } = charge
    this.load(rule, charge.key, now)
    bucket.decide(this.level, rule, now, cost, charge)
  }

  take(charge: BucketCharge, cost: number, now: number): void {
    this.write(now, bucket.add(this.level, charge.rule, cost))
    this.describe(charge, now)
  }

  describe(charge: BucketCharge, now: number): void {
    bucket.describe(this.level, charge.rule, now, charge)
  }

  countedFor({ rule }: BucketCharge): number {
    return Math.ceil(this.level / rule.perRequest)
  }

  refund(charge: BucketCharge, now: number, chargedAt: number): void {
    this.locate(charge, now)
    const level = bucket.refunded(this.level, charge.rule, now, charge.cost, chargedAt)
    if (level !== this.level) this.write(now, level)
  }

  credit(charge: BucketCharge, now: number): void {
    this.locate(charge, now)
    if (this.level > 0) this.write(now, bucket.credited(this.level, charge.rule, charge.cost))
  }

  override book(charge: BucketCharge, now: number, bookTicks: number): void {
    const { rule } = charge
    const start = bucket.startAt(this.level, rule, now, charge.cost)
    const fits = rule.queue ? charge.allowed : charge.retryAt < Infinity
    charge.allowed = fits && start - now <= bookTicks && this.level < MAX_BOOKED
    if (charge.allowed) {
      charge.retryAt = start
      // The cost counts from its start. If the bucket is empty before, it gets no credit for the time until then.
      if (!rule.queue) this.level = Math.max(this.level, (start - now) * rule.perTick)
      this.take(charge, charge.cost, now)
    } else if (fits) charge.retryAt = Math.max(charge.retryAt, start - bookTicks)
  }

  override forget(key: string, now: number): void {
    for (const table of this.family) table.keys.forget(key, now)
  }

  inspect(rule: BucketRule, now: number): LimitData {
    return bucketData(this.level, rule, now)
  }

  idleUpTo(segment: TableSegment, now: number): number {
    return this.unitsAt(segment, now)
  }

  override copy(from: TableSegment, fromOffset: number, to: TableSegment, toOffset: number, now: number): boolean {
    const level = this.levelAt(from, fromOffset, now)
    to.cells[toOffset] = this.unitsAt(to, now) + level
    return true
  }

  private write(now: number, level: number): void {
    const at = this.keys.make(now)
    const { segment } = this.keys
    segment.cells[at] = this.unitsAt(segment, now) + level
    this.level = level
  }

  private levelAt(segment: TableSegment, offset: number, now: number): number {
    const units = this.unitsAt(segment, now) // call this first: it may move the cells to a new origin
    const level = segment.cells[offset]! - units
    return level > 0 ? level : 0
  }

  /** Now, in units since the segment's origin. */
  private unitsAt(segment: TableSegment, now: number): number {
    const units = (now - segment.origin) * this.rule.perTick
    return units < FAR ? units : rebase(segment, now, units)
  }

  /** The level that the key had under another rate. It is moved here from that rate's table. */
  private inherited(rule: BucketRule, key: string, now: number): number {
    for (const other of this.family) {
      if (other === this) continue
      const { keys } = other
      if (keys.find(key, now) < 0) continue
      const level = bucket.converted(other.levelAt(keys.segment, keys.at, now), other.rule, rule)
      keys.forget(key, now)
      this.keys.find(key, now)
      if (level > 0) this.write(now, level)
      return level
    }
    return 0
  }
}

/**
 * Moves a segment's origin to now, so that its units stay small enough to be exact. Levels that were empty before now
 * stay so: a reservation that expired before now is charged as of then.
 */
function rebase(segment: TableSegment, now: number, units: number): number {
  const { cells, mask } = segment
  for (let offset = 1; offset <= mask * 2 + 1; offset += 2) cells[offset] = Math.max(-FAR, cells[offset]! - units)
  segment.origin = now
  return 0
}
