import {
  add,
  cellCount,
  credit,
  decide,
  describe,
  refund,
  type SlidingRule,
  used,
  wholeAt,
} from '../../algorithms/sliding-window.ts'
import type { Charge } from '../charge.ts'
import type { Segment } from './key-table.ts'
import { apart, Keys, type Shared } from './keys.ts'
import type { Ledger } from './ledger.ts'

/** Sliding windows: the newest index and the ring of counts, as the kernel lays them out. */
export class SlidingLedger implements Ledger {
  readonly keys: Keys
  private readonly rule: SlidingRule
  private readonly shared: Shared
  /** What a key not seen yet looks like. */
  private readonly fresh: Float64Array
  private cells: Float64Array
  private offset = 0

  constructor(rule: SlidingRule, shared: Shared) {
    this.keys = new Keys(cellCount(rule), this, shared)
    this.rule = rule
    this.shared = shared
    this.fresh = new Float64Array(cellCount(rule))
    this.cells = this.fresh
  }

  locate(charge: Charge, now: number): void {
    this.find(charge.key, now)
  }

  judge(charge: Charge, cost: number, now: number): void {
    decide(this.cells, this.offset, charge.rule as SlidingRule, now, cost, charge)
  }

  take(charge: Charge, cost: number, now: number): void {
    this.offset = this.keys.make(charge.key, now)
    this.cells = this.keys.segment.cells
    add(this.cells, this.offset, this.rule, now, cost)
  }

  describe(charge: Charge, now: number): void {
    describe(this.cells, this.offset, charge.rule as SlidingRule, now, charge)
  }

  refund(charge: Charge, now: number, chargedAt: number): void {
    if (this.find(charge.key, now)) refund(this.cells, this.offset, this.rule, charge.cost, chargedAt)
  }

  credit(charge: Charge, now: number): void {
    if (this.find(charge.key, now)) credit(this.cells, this.offset, this.rule, charge.cost)
  }

  counted(_charge: Charge, now: number): number {
    return used(this.cells, this.offset, this.rule, now)
  }

  forget(key: string, now: number): void {
    this.keys.forget(key, now)
  }

  replica(key: string, now: number): Ledger {
    const copy = new SlidingLedger(this.rule, apart(this.shared))
    if (this.find(key, now)) {
      copy.keys.find(key, now)
      const at = copy.keys.make(key, now)
      this.copy(this.keys.segment, this.offset, copy.keys.segment, at)
    }
    return copy
  }

  idle(segment: Segment, offset: number, now: number): boolean {
    return wholeAt(segment.cells, offset, this.rule) <= now
  }

  dropped(): void {}

  copy(from: Segment, fromOffset: number, to: Segment, toOffset: number): boolean {
    for (let i = 0; i < this.keys.table.width; i++) to.cells[toOffset + i] = from.cells[fromOffset + i]!
    return true
  }

  private find(key: string, now: number): boolean {
    const at = this.keys.find(key, now)
    this.cells = at < 0 ? this.fresh : this.keys.segment.cells
    this.offset = at < 0 ? 0 : at
    return at >= 0
  }
}
