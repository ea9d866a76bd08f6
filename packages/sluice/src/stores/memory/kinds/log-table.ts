import type { LogRule } from '../../../algorithms/sliding-log.ts'
import * as log from '../../../algorithms/sliding-log.ts'
import type { Charge } from '../../charge.ts'
import { type LimitData, logData } from '../../inspection.ts'
import { Handles } from '../table/handles.ts'
import type { TableSegment } from '../table/key-table.ts'
import type { MemoryContext } from '../table/pooled-key-table.ts'
import { StateTable } from './state-table.ts'

/** Bytes, measured: a ring with its list, without its times. */
const RING_BYTES = 130
/** How many times all pooled rings together may hold. */
const POOLED_TIMES = 2 ** 20

type LogCharge = Charge<LogRule>

/** Sliding logs. A key keeps the tick of its newest time, and the handle of its ring. */
export class LogTable extends StateTable<LogRule> {
  private readonly rings: Handles<log.Ring>
  private readonly freshRing = new log.Ring()
  private ring = this.freshRing
  private handle = 0

  constructor(rule: LogRule, context: MemoryContext) {
    super(rule, context, 2, poolSizeFor(rule.limit))
    this.rings = new Handles(context.budget)
  }

  protected load(rule: LogRule, _key: string, now: number): void {
    const { at, segment } = this.keys
    this.handle = at < 0 ? 0 : segment.cells[at + 1]!
    this.ring = this.rings.get(this.handle) ?? this.freshRing
    log.expire(this.ring, rule, now)
    this.rings.weigh(this.handle, bytesOf(this.ring))
  }

  judge(charge: LogCharge, cost: number, now: number): void {
    const { rule } = charge
    this.load(rule, charge.key, now)
    log.decide(this.ring, rule, cost, charge)
    if (charge.allowed && this.ring.count + cost > this.ring.capacity) this.judgeGrowth(charge, now)
  }

  /**
   * In a full store a log does not grow: a cost that needs more times than it has places is refused until some expire.
   */
  private judgeGrowth(charge: LogCharge, now: number): void {
    const { keys, ring, context } = this
    if (keys.pooled || context.budget.live < context.budget.max) return
    context.overflowed()
    charge.allowed = false
    charge.retryAt = (ring.count === 0 ? now : ring.at(0)) + charge.rule.windowTicks
  }

  take(charge: LogCharge, cost: number, now: number): void {
    const at = this.keys.make(now)
    const { cells } = this.keys.segment
    if (this.ring === this.freshRing) this.addRing(new log.Ring(), cells, at)
    cells[at] = Math.max(cells[at]!, now)
    this.ring.push(now, cost, charge.rule.limit)
    this.rings.weigh(this.handle, bytesOf(this.ring))
    this.describe(charge, now)
  }

  describe(charge: LogCharge, now: number): void {
    log.describe(this.ring, charge.rule, now, charge)
  }

  countedFor(): number {
    return this.ring.count
  }

  refund(charge: LogCharge, now: number, chargedAt: number): void {
    this.locate(charge, now)
    log.refund(this.ring, charge.rule, now, charge.cost, chargedAt)
  }

  credit(charge: LogCharge, now: number): void {
    this.locate(charge, now)
    this.ring.dropOldest(Math.min(charge.cost, this.ring.count))
  }

  inspect(): LimitData {
    return logData(Array.from({ length: this.ring.count }, (_, n) => this.ring.at(n)))
  }

  override get bytes(): number {
    return this.keys.at < 0 ? 0 : super.bytes + bytesOf(this.ring)
  }

  idleUpTo(_segment: TableSegment, now: number): number {
    return now - this.rule.windowTicks
  }

  override dropped(segment: TableSegment, offset: number): void {
    this.rings.remove(segment.cells[offset + 1]!)
  }

  override copy(from: TableSegment, fromOffset: number, to: TableSegment, toOffset: number): boolean {
    const copy = new log.Ring()
    copy.copyFrom(this.rings.get(from.cells[fromOffset + 1]!)!)
    to.cells[toOffset] = copy.newest
    this.addRing(copy, to.cells, toOffset)
    return true
  }

  private addRing(ring: log.Ring, cells: Float64Array, at: number): void {
    this.ring = ring
    this.handle = this.rings.add(ring)
    this.rings.weigh(this.handle, bytesOf(ring))
    cells[at + 1] = this.handle
  }
}

function bytesOf(ring: log.Ring): number {
  return RING_BYTES + 8 * ring.capacity
}

function poolSizeFor(limit: number): number {
  return Math.max(1, 2 ** Math.floor(Math.log2(POOLED_TIMES / Math.max(1, limit))))
}
