import { decide, describe, expire, type LogRule, Ring, refund } from '../../algorithms/sliding-log.ts'
import type { Charge } from '../charge.ts'
import { Handles } from './handles.ts'
import type { Segment } from './key-table.ts'
import { apart, Keys, type Shared } from './keys.ts'
import type { Ledger } from './ledger.ts'

/** Exact logs: one number a key, the handle of its ring of times. */
export class LogLedger implements Ledger {
  readonly keys: Keys
  private readonly rule: LogRule
  private readonly shared: Shared
  private readonly rings: Handles<Ring>
  private readonly fresh = new Ring()
  private ring: Ring = this.fresh
  private handle = 0

  constructor(rule: LogRule, shared: Shared) {
    this.keys = new Keys(1, this, shared, poolSizeFor(rule.limit))
    this.rings = new Handles(shared.room)
    this.rule = rule
    this.shared = shared
  }

  locate(charge: Charge, now: number): void {
    this.find(charge.key, now)
  }

  /** In a full store a log does not grow: what would take more times than it has places for is refused until some leave. */
  judge(charge: Charge, cost: number, now: number): void {
    const { ring } = this
    const { room } = this.shared
    decide(ring, charge.rule as LogRule, cost, charge)
    if (!charge.allowed || this.keys.pooled || ring.count + cost <= ring.capacity || room.live < room.max) return
    this.shared.overflowed()
    charge.allowed = false
    charge.retryAt = (ring.count === 0 ? now : ring.at(0)) + this.rule.windowTicks
  }

  take(charge: Charge, cost: number, now: number): void {
    this.own(charge.key, now).push(now, cost, charge.rule.limit)
    this.weigh()
  }

  describe(charge: Charge, now: number): void {
    describe(this.ring, charge.rule as LogRule, now, charge)
  }

  refund(charge: Charge, now: number, chargedAt: number): void {
    this.find(charge.key, now)
    refund(this.ring, this.rule, now, charge.cost, chargedAt)
  }

  credit(charge: Charge, now: number): void {
    this.find(charge.key, now)
    this.ring.dropOldest(Math.min(charge.cost, this.ring.count))
  }

  /** The ticks still in the window, oldest first. */
  history(key: string, now: number): number[] {
    this.find(key, now)
    return Array.from({ length: this.ring.count }, (_, n) => this.ring.at(n))
  }

  counted(): number {
    return this.ring.count
  }

  forget(key: string, now: number): void {
    this.keys.forget(key, now)
  }

  replica(key: string, now: number): Ledger {
    const copy = new LogLedger(this.rule, apart(this.shared))
    this.find(key, now)
    copy.find(key, now)
    if (this.ring.count > 0) copy.own(key, now).copyFrom(this.ring)
    return copy
  }

  idle(segment: Segment, offset: number, now: number): boolean {
    const ring = this.rings.get(segment.cells[offset]!)
    return ring === undefined || ring.count === 0 || ring.newest <= now - this.rule.windowTicks
  }

  dropped(segment: Segment, offset: number): void {
    this.rings.remove(segment.cells[offset]!)
  }

  copy(from: Segment, fromOffset: number, to: Segment, toOffset: number): boolean {
    const ring = new Ring()
    ring.copyFrom(this.rings.get(from.cells[fromOffset]!)!)
    const handle = this.rings.add(ring)
    this.rings.weigh(handle, bytesOf(ring))
    to.cells[toOffset] = handle
    return true
  }

  private find(key: string, now: number): void {
    const at = this.keys.find(key, now)
    this.handle = at < 0 ? 0 : this.keys.segment.cells[at]!
    this.ring = this.rings.get(this.handle) ?? this.fresh
    expire(this.ring, this.rule, now)
    this.weigh()
  }

  /** The key's own ring, to be written to. */
  private own(key: string, now: number): Ring {
    if (this.ring === this.fresh) {
      this.ring = new Ring()
      const at = this.keys.make(key, now)
      this.handle = this.rings.add(this.ring)
      this.keys.segment.cells[at] = this.handle
    }
    return this.ring
  }

  private weigh(): void {
    this.rings.weigh(this.handle, bytesOf(this.ring))
  }
}

/** Measured: a ring with its list, beside its times. */
const RING_BYTES = 130

function bytesOf(ring: Ring): number {
  return RING_BYTES + 8 * ring.capacity
}

/** All pooled rings together hold no more than so many times. */
const POOLED_TIMES = 2 ** 20

function poolSizeFor(limit: number): number {
  return Math.max(1, 2 ** Math.floor(Math.log2(POOLED_TIMES / Math.max(1, limit))))
}
