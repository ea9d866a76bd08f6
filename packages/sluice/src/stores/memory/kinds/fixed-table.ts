import type { FixedRule } from '../../../algorithms/fixed-window.ts'
import * as fixed from '../../../algorithms/fixed-window.ts'
import { stableHash } from '../../../hash.ts'
import type { Charge } from '../../charge.ts'
import { fixedData, type LimitData } from '../../inspection.ts'
import type { TableSegment } from '../table/key-table.ts'
import type { MemoryContext } from '../table/pooled-key-table.ts'
import { StateTable } from './state-table.ts'

type FixedCharge = Charge<FixedRule>

/** Fixed windows. A key keeps the tick at which its window ends, and the count. */
export class FixedTable extends StateTable<FixedRule> {
  private count = 0.5
  private endAt = 0.5

  constructor(rule: FixedRule, context: MemoryContext) {
    super(rule, context, 2)
  }

  protected load(rule: FixedRule, key: string, now: number): void {
    const { at, segment } = this.keys
    this.endAt = at < 0 ? 0 : segment.cells[at]!
    this.count = at < 0 ? 0 : segment.cells[at + 1]!
    if (now >= this.endAt) {
      this.count = 0
      this.endAt = rule.endAfter(now, phaseOf(rule, key))
    }
  }

  judge(charge: FixedCharge, cost: number, now: number): void {
    const { rule } = charge
    this.load(rule, charge.key, now)
    fixed.decide(this.count, this.endAt, rule, cost, charge)
  }

  take(charge: FixedCharge, cost: number, now: number): void {
    this.write(now, this.count + cost)
    this.describe(charge, now)
  }

  describe(charge: FixedCharge, now: number): void {
    fixed.describe(this.count, this.endAt, now, charge)
  }

  countedFor(): number {
    return this.count
  }

  refund(charge: FixedCharge, now: number, chargedAt: number): void {
    const { rule, key, cost } = charge
    this.locate(charge, now)
    if (this.keys.at >= 0 && fixed.sameWindow(this.endAt, rule, chargedAt, phaseOf(rule, key)))
      this.write(now, Math.max(0, this.count - cost))
  }

  credit(charge: FixedCharge, now: number): void {
    this.locate(charge, now)
    if (this.count > 0) this.write(now, Math.max(0, this.count - charge.cost))
  }

  inspect(rule: FixedRule): LimitData {
    return fixedData(this.count, this.endAt, rule)
  }

  idleUpTo(_segment: TableSegment, now: number): number {
    return now
  }

  private write(now: number, count: number): void {
    const at = this.keys.make(now)
    const { cells } = this.keys.segment
    cells[at] = this.endAt
    cells[at + 1] = count
    this.count = count
  }
}

/**
 * Where this key's windows start. A hash that all processes share spreads the starts, so that not all keys reset at
 * once.
 */
function phaseOf(rule: FixedRule, key: string): number {
  return rule.policy.align === 'key' ? stableHash(key, rule.windowTicks) : 0
}
