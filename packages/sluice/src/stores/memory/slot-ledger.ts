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
  private readonly queues = new Handles<Slots>()
  private readonly fresh = new Slots()
  private slots: Slots = this.fresh

  constructor(shared: Shared) {
    this.keys = new Keys(1, this, shared)
    this.shared = shared
  }

  locate(charge: Charge, now: number): void {
    this.find(charge.key, now)
  }

  judge(charge: Charge, cost: number): void {
    decide(this.slots, charge.rule as SlotsRule, cost, charge)
  }

  take(charge: Charge, cost: number, now: number): void {
    charge.hold = this.own(charge.key, now).acquire(cost, now + (charge.rule as SlotsRule).ttlTicks)
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
    this.slots = (at < 0 ? undefined : this.queues.get(this.keys.segment.cells[at]!)) ?? this.fresh
    this.slots.expire(now)
  }

  private own(key: string, now: number): Slots {
    if (this.slots === this.fresh) {
      this.slots = new Slots()
      const at = this.keys.make(key, now)
      this.keys.segment.cells[at] = this.queues.add(this.slots)
    }
    return this.slots
  }
}
