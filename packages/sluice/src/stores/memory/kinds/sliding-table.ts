import type { SlidingRule } from '../../../algorithms/sliding-window.ts'
import * as sliding from '../../../algorithms/sliding-window.ts'
import type { Charge } from '../../charge.ts'
import { type LimitData, slidingData } from '../../inspection.ts'
import type { TableSegment } from '../table/key-table.ts'
import type { MemoryContext } from '../table/pooled-key-table.ts'
import { StateTable } from './state-table.ts'

type SlidingCharge = Charge<SlidingRule>

/** Sliding windows. A key keeps the index of its newest sub-window, and the ring of counts. */
export class SlidingTable extends StateTable<SlidingRule> {
  /** The cells of a key not seen yet. */
  private readonly fresh: Float64Array
  private cells: Float64Array
  private offset = 0
  private count = 0.5

  constructor(rule: SlidingRule, context: MemoryContext) {
    super(rule, context, sliding.cellCount(rule))
    this.fresh = new Float64Array(sliding.cellCount(rule))
    this.cells = this.fresh
  }

  protected load(rule: SlidingRule, _key: string, now: number): void {
    const { at, segment } = this.keys
    this.cells = at < 0 ? this.fresh : segment.cells
    this.offset = at < 0 ? 0 : at
    this.count = sliding.used(this.cells, this.offset, rule, now)
  }

  judge(charge: SlidingCharge, cost: number, now: number): void {
    const { rule } = charge
    this.load(rule, charge.key, now)
    sliding.decide(this.count, this.cells, this.offset, rule, now, cost, charge)
  }

  take(charge: SlidingCharge, cost: number, now: number): void {
    this.offset = this.keys.make(now)
    this.cells = this.keys.segment.cells
    const index = sliding.add(this.cells, this.offset, charge.rule, now, cost)
    this.count += cost
    charge.used = this.count
    charge.resetAt = sliding.outAt(charge.rule, index)
  }

  describe(charge: SlidingCharge, now: number): void {
    sliding.describe(this.count, this.cells, this.offset, charge.rule, now, charge)
  }

  countedFor(): number {
    return this.count
  }

  refund(charge: SlidingCharge, now: number, chargedAt: number): void {
    this.locate(charge, now)
    sliding.refund(this.cells, this.offset, charge.rule, charge.cost, chargedAt)
  }

  credit(charge: SlidingCharge, now: number): void {
    this.locate(charge, now)
    sliding.credit(this.cells, this.offset, charge.rule, charge.cost)
  }

  inspect(rule: SlidingRule, now: number): LimitData {
    return slidingData(this.cells, this.offset, rule, now)
  }

  idleUpTo(_segment: TableSegment, now: number): number {
    return sliding.indexOf(this.rule, now) - this.rule.buckets - 1
  }
}
