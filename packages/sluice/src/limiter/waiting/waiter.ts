import type { Charge } from '../../stores/charge.ts'
import type { ChargedDecision } from '../charged-decision.ts'
import type { Timer } from './timer-queue.ts'

/** The waiters that one signal aborts together. */
export interface WaiterGroup {
  remove(waiter: Waiter): void
}

/** One call of `wait`, from its start to its end: it resolves with a decision, or rejects by an error or an abort. */
export class Waiter implements Timer {
  at = 0
  place = -1
  readonly order: number
  /** Its charges, made anew: each question fills in its own. */
  readonly charges: () => Charge[]
  readonly maxWaitTicks: number
  /** The last tick it may start at. */
  readonly deadline: number
  /** It waits in at most one list; in none while it ends or while its first question is on its way. */
  list: WaitList | undefined = undefined
  previous: Waiter | undefined = undefined
  next: Waiter | undefined = undefined
  booking: Booking | undefined = undefined
  /** Those who wait under the same signal; undefined once this one has ended. */
  group: WaiterGroup | undefined = undefined
  private readonly fulfil: (decision: ChargedDecision) => void
  private readonly fail: (reason: unknown) => void

  constructor(
    order: number,
    charges: () => Charge[],
    maxWaitTicks: number,
    now: number,
    fulfil: (decision: ChargedDecision) => void,
    fail: (reason: unknown) => void,
  ) {
    this.order = order
    this.charges = charges
    this.maxWaitTicks = maxWaitTicks
    this.deadline = now + maxWaitTicks
    this.fulfil = fulfil
    this.fail = fail
  }

  /** Nobody takes its answer any more: what was charged for it must be given back. */
  get hasEnded(): boolean {
    return this.group === undefined
  }

  ring(): void {
    this.list!.due(this)
  }

  resolve(decision: ChargedDecision): void {
    if (this.end()) this.fulfil(decision)
  }

  reject(reason: unknown): void {
    if (this.end()) this.fail(reason)
  }

  /** Goes away, wherever it waits. */
  abort(reason: unknown): void {
    this.list?.leave(this)
    this.reject(reason)
  }

  private end(): boolean {
    if (this.group === undefined) return false
    this.group.remove(this)
    this.group = undefined
    return true
  }
}

/** What a waiter with a booked start has taken. */
export interface Booking {
  readonly decision: ChargedDecision
  /** Of its charges, the one that lets it start last. */
  readonly charge: Charge
  /** The tick it was promised when it was booked. */
  readonly start: number
  /** By how many ticks it and all behind it have moved up: see `BookedQueue`. */
  gain: number
}

/** Waiters in the order they came. A linked list, so that leaving costs the same however many there are. */
export abstract class WaitList {
  protected first: Waiter | undefined = undefined
  protected last: Waiter | undefined = undefined

  /** The timer of one of its waiters has rung. */
  abstract due(waiter: Waiter): void
  /** One of its waiters goes away: what it has taken is given back. */
  abstract leave(waiter: Waiter): void

  protected append(waiter: Waiter): void {
    waiter.list = this
    waiter.previous = this.last
    if (this.last === undefined) this.first = waiter
    else this.last.next = waiter
    this.last = waiter
  }

  protected unlink(waiter: Waiter): void {
    const { previous, next } = waiter
    if (previous === undefined) this.first = next
    else previous.next = next
    if (next === undefined) this.last = previous
    else next.previous = previous
    waiter.list = undefined
    waiter.previous = undefined
    waiter.next = undefined
  }
}
