import type { SlotsRule } from '../../../algorithms/concurrency.ts'
import * as slots from '../../../algorithms/concurrency.ts'
import type { Charge } from '../../charge.ts'
import { type LimitData, slotsData } from '../../inspection.ts'
import { Handles } from '../table/handles.ts'
import type { TableSegment } from '../table/key-table.ts'
import type { MemoryContext } from '../table/pooled-key-table.ts'
import { StateTable } from './state-table.ts'

/** Bytes, measured: a queue of holders, and one more holder in it. */
const QUEUE_BYTES = 100
const HOLDER_BYTES = 120
/** How many holders a queue that keys share may have. */
const MOST_POOLED = 16

type SlotsCharge = Charge<SlotsRule>

/** Concurrency slots. A key keeps the last expiry, and the handle of its queue of holders. */
export class SlotsTable extends StateTable<SlotsRule> {
  private readonly queues: Handles<slots.Slots>
  private readonly freshQueue = new slots.Slots()
  private queue = this.freshQueue
  private handle = 0

  constructor(rule: SlotsRule, context: MemoryContext) {
    super(rule, context, 2)
    this.queues = new Handles(context.budget)
  }

  protected load(_rule: SlotsRule, _key: string, now: number): void {
    const { at, segment } = this.keys
    this.handle = at < 0 ? 0 : segment.cells[at + 1]!
    this.queue = this.queues.get(this.handle) ?? this.freshQueue
    this.queue.expire(now)
    this.queues.weigh(this.handle, bytesOf(this.queue))
  }

  judge(charge: SlotsCharge, cost: number, now: number): void {
    const { rule } = charge
    this.load(rule, charge.key, now)
    slots.decide(this.queue, rule, cost, charge)
    if (charge.allowed && cost > 0) this.judgeSlot(charge)
  }

  /**
   * In a full store a key that holds slots gets no more until it has given one back, and keys that share a queue have a
   * few slots between them.
   */
  private judgeSlot(charge: SlotsCharge): void {
    const { keys, queue, context } = this
    const few = keys.pooled ? MOST_POOLED : 1
    if (queue.count < few || context.budget.live < context.budget.max) return
    context.overflowed()
    charge.allowed = false
    charge.retryAt = queue.freedAt(1)
  }

  take(charge: SlotsCharge, cost: number, now: number): void {
    const at = this.keys.make(now)
    const { cells } = this.keys.segment
    if (this.queue === this.freshQueue) {
      this.queue = new slots.Slots()
      this.handle = this.queues.add(this.queue)
      cells[at + 1] = this.handle
    }
    charge.hold = this.queue.acquire(cost, now + charge.rule.ttlTicks)
    cells[at] = this.queue.lastExpiry
    this.queues.weigh(this.handle, bytesOf(this.queue))
    this.describe(charge, now)
  }

  describe(charge: SlotsCharge, now: number): void {
    slots.describe(this.queue, now, charge)
  }

  countedFor(): number {
    return this.queue.held
  }

  refund(): void {}

  credit(): void {}

  override endSlot(charge: SlotsCharge, now: number, renews: boolean): number {
    const { rule, hold } = charge
    if (!(hold instanceof slots.Holder)) return 0
    const wasHeld = renews ? hold.renew(now, now + rule.ttlTicks) : hold.release(now)
    this.locate(charge, now)
    if (this.keys.at >= 0) this.keys.segment.cells[this.keys.at] = this.queue.lastExpiry
    return Number(wasHeld)
  }

  inspect(): LimitData {
    return slotsData(this.queue.holders)
  }

  override get bytes(): number {
    return this.keys.at < 0 ? 0 : super.bytes + bytesOf(this.queue)
  }

  idleUpTo(_segment: TableSegment, now: number): number {
    return now
  }

  override dropped(segment: TableSegment, offset: number): void {
    this.queues.remove(segment.cells[offset + 1]!)
  }

  /** Holders give back to the queue they are in, so a queue in use must not be copied. */
  override copy(): boolean {
    return false
  }
}

function bytesOf(queue: slots.Slots): number {
  return QUEUE_BYTES + HOLDER_BYTES * Math.max(1, queue.count)
}
