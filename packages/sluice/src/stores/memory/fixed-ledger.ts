import { decide, describe, type FixedRule, sameWindow } from '../../algorithms/fixed-window.ts'
import { stableHash } from '../../hash.ts'
import type { Charge } from '../charge.ts'
import type { Segment } from './key-table.ts'
import { apart, Keys, type Shared } from './keys.ts'
import type { Ledger } from './ledger.ts'

/** Fixed windows: two numbers a key, the count and the tick its window ends. */
export class FixedLedger implements Ledger {
  readonly keys: Keys
  private readonly shared: Shared
  private count = 0
  private endAt = 0

  constructor(shared: Shared) {
    this.keys = new Keys(2, this, shared)
    this.shared = shared
  }

  locate(charge: Charge, now: number): void {
    this.find(charge.key, now)
    if (now < this.endAt) return
    const rule = charge.rule as FixedRule
    this.count = 0
    this.endAt = rule.endAfter(now, phaseOf(rule, charge.key))
  }

  judge(charge: Charge, cost: number): void {
    decide(this.count, this.endAt, charge.rule as FixedRule, cost, charge)
  }

  take(charge: Charge, cost: number, now: number): void {
    this.write(charge.key, now, this.count + cost)
  }

  describe(charge: Charge, now: number): void {
    describe(this.count, this.endAt, now, charge)
  }

  refund(charge: Charge, now: number, chargedAt: number): void {
    const rule = charge.rule as FixedRule
    this.find(charge.key, now)
    const counted = now < this.endAt && sameWindow(this.endAt, rule, chargedAt, phaseOf(rule, charge.key))
    if (counted) this.write(charge.key, now, Math.max(0, this.count - charge.cost))
  }

  credit(charge: Charge, now: number): void {
    this.find(charge.key, now)
    if (now < this.endAt) this.write(charge.key, now, Math.max(0, this.count - charge.cost))
  }

  counted(): number {
    return this.count
  }

  forget(key: string, now: number): void {
    this.keys.forget(key, now)
  }

  replica(key: string, now: number): Ledger {
    const copy = new FixedLedger(apart(this.shared))
    this.find(key, now)
    copy.endAt = this.endAt
    copy.write(key, now, this.count)
    return copy
  }

  idle(segment: Segment, offset: number, now: number): boolean {
    return segment.cells[offset + 1]! <= now
  }

  dropped(): void {}

  copy(from: Segment, fromOffset: number, to: Segment, toOffset: number): boolean {
    to.cells[toOffset] = from.cells[fromOffset]!
    to.cells[toOffset + 1] = from.cells[fromOffset + 1]!
    return true
  }

  private find(key: string, now: number): void {
    const at = this.keys.find(key, now)
    this.count = at < 0 ? 0 : this.keys.segment.cells[at]!
    this.endAt = at < 0 ? 0 : this.keys.segment.cells[at + 1]!
  }

  private write(key: string, now: number, count: number): void {
    const at = this.keys.make(key, now)
    this.keys.segment.cells[at] = count
    this.keys.segment.cells[at + 1] = this.endAt
    this.count = count
  }
}

/** Where this key's windows start: spread by a hash all processes agree on, so that not all keys reset at once. */
function phaseOf(rule: FixedRule, key: string): number {
  return rule.policy.align === 'key' ? stableHash(key, rule.windowTicks) : 0
}
