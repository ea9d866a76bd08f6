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
  private readonly rings = new Handles<Ring>()
  private readonly fresh = new Ring()
  private ring: Ring = this.fresh

  constructor(rule: LogRule, shared: Shared) {
    this.keys = new Keys(1, this, shared)
    this.rule = rule
    this.shared = shared
  }

  locate(charge: Charge, now: number): void {
    this.find(charge.key, now)
  }

  judge(charge: Charge, cost: number): void {
    decide(this.ring, charge.rule as LogRule, cost, charge)
  }

  take(charge: Charge, cost: number, now: number): void {
    this.own(charge.key, now).push(now, cost, charge.rule.limit)
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
    to.cells[toOffset] = this.rings.add(ring)
    return true
  }

  private find(key: string, now: number): void {
    const at = this.keys.find(key, now)
    this.ring = (at < 0 ? undefined : this.rings.get(this.keys.segment.cells[at]!)) ?? this.fresh
    expire(this.ring, this.rule, now)
  }

  /** The key's own ring, to be written to. */
  private own(key: string, now: number): Ring {
    if (this.ring === this.fresh) {
      this.ring = new Ring()
      const at = this.keys.make(key, now)
      this.keys.segment.cells[at] = this.rings.add(this.ring)
    }
    return this.ring
  }
}
