import { decide, describe, Slots, type SlotsRule } from '../../algorithms/concurrency.ts'
import type { Charge } from '../charge.ts'
import { Handles } from './handles.ts'
import type { Segment } from './key-table.ts'
import { apart, Keys, type Shared } from './keys.ts'
import type { Ledger } from './ledger.ts'

/** Concurrency: one number a key, the handle of its queue of holders. */
export class SlotLedger implements Ledger {
  readonly keys: Keys
  private readonly shared: Shared
  private readonly queues: Handles<Slots>
  private readonly fresh = new Slots()
  private slots: Slots = this.fresh
  private handle = 0

  constructor(shared: Shared) {
    this.keys = new Keys(1, this, shared)
    this.queues = new Handles(shared.room)
    this.shared = shared
  }

  locate(charge: Charge, now: number): void {
    this.find(charge.key, now)
  }

  /**
   * In a full store a key that holds slots gets no more of them until it has given one back, and those that share a
   * queue have a few between them.
   */
  judge(charge: Charge, cost: number): void {
    const { slots } = this
    const { room } = this.shared
    decide(slots, charge.rule as SlotsRule, cost, charge)
    const few = this.keys.pooled ? MOST_POOLED : 1
    if (!charge.allowed || cost === 0 || slots.count < few || room.live < room.max) return
    this.shared.overflowed()
    charge.allowed = false
    charge.retryAt = slots.freedAt(1)
  }

  take(charge: Charge, cost: number, now: number): void {
    charge.hold = this.own(charge.key, now).acquire(cost, now + (charge.rule as SlotsRule).ttlTicks)
    this.weigh()
  }

  describe(charge: Charge, now: number): void {
    describe(this.slots, now, charge)
  }

  /** A slot is given back by releasing it: there is nothing else to refund. */
  refund(): void {}
  credit(): void {}

  counted(): number {
    return this.slots.held
  }

  forget(key: string, now: number): void {
    this.keys.forget(key, now)
  }

  replica(): Ledger {
    return new SlotLedger(apart(this.shared))
  }

  idle(segment: Segment, offset: number, now: number): boolean {
    const slots = this.queues.get(segment.cells[offset]!)
    return slots === undefined || slots.held === 0 || slots.lastExpiry <= now
  }

  dropped(segment: Segment, offset: number): void {
    this.queues.remove(segment.cells[offset]!)
  }

  /** A holder gives back to the queue it stands in, so a pooled queue cannot be left while it is in use. */
  copy(): boolean {
    return false
  }

  private find(key: string, now: number): void {
    const at = this.keys.find(key, now)
    this.handle = at < 0 ? 0 : this.keys.segment.cells[at]!
    this.slots = this.queues.get(this.handle) ?? this.fresh
    this.slots.expire(now)
    this.weigh()
  }

  private own(key: string, now: number): Slots {
    if (this.slots === this.fresh) {
      this.slots = new Slots()
      const at = this.keys.make(key, now)
      this.handle = this.queues.add(this.slots)
      this.keys.segment.cells[at] = this.handle
    }
    return this.slots
  }

  /** A slot released meanwhile counts until its key is looked at again. */
  private weigh(): void {
    this.queues.weigh(this.handle, QUEUE_BYTES + HOLDER_BYTES * Math.max(1, this.slots.count))
  }
}

/** Measured: a queue, and one more who stands in it. */
const QUEUE_BYTES = 100
const HOLDER_BYTES = 120
/** Holders of a queue that keys share. */
const MOST_POOLED = 16
