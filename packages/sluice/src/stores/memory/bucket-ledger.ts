import {
  add,
  type BucketRule,
  converted,
  credited,
  decide,
  describe,
  refunded,
  startAt,
} from '../../algorithms/bucket.ts'
import type { Charge } from '../charge.ts'
import type { Segment } from './key-table.ts'
import { apart, Keys, type Shared } from './keys.ts'
import type { Ledger } from './ledger.ts'

/** Beyond this many units from a segment's origin a sum could leave the whole numbers of a double. */
export const FAR = 2 ** 52
/** Bookings may pile this high; one more on top still is exact. */
const MAX_BOOKED = 2 ** 51

/**
 * Buckets of one rate: one number a key, the moment its bucket is dry, in units since the segment's origin. The level
 * is that minus now, so nothing is written while it drains.
 *
 * Rates with the same units share a ledger. A key that comes back under another rate (a plan changed) is fetched from
 * the limit's other ledgers with its level converted, so a change of plan is no fresh bucket.
 */
export class BucketLedger implements Ledger {
  readonly keys: Keys
  private readonly rule: BucketRule
  /** All bucket ledgers of the limit, this one included. */
  private readonly family: BucketLedger[]
  private readonly shared: Shared
  private level = 0

  constructor(rule: BucketRule, shared: Shared, family: BucketLedger[]) {
    this.keys = new Keys(1, this, shared)
    this.rule = rule
    this.shared = shared
    this.family = family
  }

  locate(charge: Charge, now: number): void {
    this.find(charge.key, now)
  }

  judge(charge: Charge, cost: number, now: number): void {
    decide(this.level, charge.rule as BucketRule, now, cost, charge)
  }

  take(charge: Charge, cost: number, now: number): void {
    this.write(charge.key, now, add(this.level, charge.rule as BucketRule, cost))
  }

  describe(charge: Charge, now: number): void {
    describe(this.level, charge.rule as BucketRule, now, charge)
  }

  refund(charge: Charge, now: number, chargedAt: number): void {
    this.find(charge.key, now)
    const level = refunded(this.level, charge.rule as BucketRule, now, charge.cost, chargedAt)
    if (level !== this.level) this.write(charge.key, now, level)
  }

  credit(charge: Charge, now: number): void {
    this.find(charge.key, now)
    if (this.level > 0) this.write(charge.key, now, credited(this.level, charge.rule as BucketRule, charge.cost))
  }

  /** The requests counted now, rounded up. */
  counted(charge: Charge): number {
    return Math.ceil(this.level / (charge.rule as BucketRule).perRequest)
  }

  /** Books a place that starts within `bookTicks`, beyond what fits now; the verdict says when. */
  book(charge: Charge, now: number, bookTicks: number): void {
    const rule = charge.rule as BucketRule
    const start = startAt(this.level, rule, now, charge.cost)
    const fits = rule.queue ? charge.allowed : charge.retryAt < Infinity
    charge.allowed = fits && start - now <= bookTicks && this.level < MAX_BOOKED
    if (charge.allowed) {
      charge.retryAt = start
      // Taken as of its start: by then the bucket may have run dry, and what it could not drain is no credit.
      if (!rule.queue) this.level = Math.max(this.level, (start - now) * rule.perTick)
      this.take(charge, charge.cost, now)
    } else if (fits) charge.retryAt = Math.max(charge.retryAt, start - bookTicks)
  }

  forget(key: string, now: number): void {
    for (const ledger of this.family) ledger.keys.forget(key, now)
  }

  replica(key: string, now: number): Ledger {
    const copy = new BucketLedger(this.rule, apart(this.shared), [])
    this.find(key, now)
    if (this.level > 0) copy.write(key, now, this.level)
    return copy
  }

  idle(segment: Segment, offset: number, now: number): boolean {
    return segment.cells[offset]! <= (now - segment.origin) * this.rule.perTick
  }

  dropped(): void {}

  copy(from: Segment, fromOffset: number, to: Segment, toOffset: number, now: number): boolean {
    const level = this.levelAt(from, fromOffset, now)
    to.cells[toOffset] = this.unitsAt(to, now) + level
    return true
  }

  /** Leaves the level of now in `level`. */
  private find(key: string, now: number): void {
    const at = this.keys.find(key, now)
    if (at < 0) this.level = this.family.length > 1 ? this.inherited(key, now) : 0
    else this.level = this.levelAt(this.keys.segment, at, now)
  }

  private levelAt(segment: Segment, offset: number, now: number): number {
    const units = this.unitsAt(segment, now) // first: it may move the cells to a new origin
    return Math.max(0, segment.cells[offset]! - units)
  }

  private write(key: string, now: number, level: number): void {
    const at = this.keys.make(key, now)
    const { segment } = this.keys
    segment.cells[at] = this.unitsAt(segment, now) + level
    this.level = level
  }

  /** Now, in units since the segment's origin. */
  private unitsAt(segment: Segment, now: number): number {
    const units = (now - segment.origin) * this.rule.perTick
    return units < FAR ? units : this.rebase(segment, now, units)
  }

  /**
   * Counts a segment's units from now on, so that they stay small enough to be exact. What ran dry before now stays there:
   * a reservation that expired before now is charged as of then.
   */
  private rebase(segment: Segment, now: number, units: number): number {
    const { cells, mask } = segment
    for (let offset = 1; offset <= mask * 2 + 1; offset += 2) cells[offset] = Math.max(-FAR, cells[offset]! - units)
    segment.origin = now
    return 0
  }

  /** What the key held under another rate, taken from there. */
  private inherited(key: string, now: number): number {
    for (const other of this.family) {
      if (other === this || other.keys.find(key, now) < 0) continue
      other.find(key, now)
      const level = converted(other.level, other.rule, this.rule)
      other.keys.forget(key, now)
      this.keys.find(key, now)
      if (level > 0) this.write(key, now, level)
      return level
    }
    return 0
  }
}
