import type { Charge } from '../../stores/charge.ts'
import type { ChargedDecision } from '../charged-decision.ts'
import type { Timer } from './timer-queue.ts'

/** The waiters that one signal aborts together. */
export interface WaiterGroup {
  remove(waiter: Waiter): void
}

/** What one who waits asks for. */
export interface WaitRequest {
  /** Makes the charges anew, since each question fills in its own. */
  readonly charges: () => Charge[]
  readonly maxWaitTicks: number
  /** The last tick to start at. */
  readonly deadline: number
}

/**
 * One who waits, from the start to the end: a decision, or an error or an abort. Very many may wait, so each is kept small.
 */
export abstract class Waiter implements Timer {
  place = -1
  order = 0
  /** Undefined once it is booked: then it asks no more. */
  request: WaitRequest | undefined = undefined
  /** The charges that are booked for it. */
  booked: readonly Charge[] | undefined = undefined
  /** By how many ticks it and all behind it have moved up: see `BookedQueue`. */
  gain = 0
  /** It waits in at most one list; in none while it ends or while its first question is on its way. */
  list: WaitList | undefined = undefined
  previous: Waiter | undefined = undefined
  next: Waiter | undefined = undefined
  /** Those who wait under the same signal; undefined once this one has ended. */
  group: WaiterGroup | undefined = undefined

  /** It starts, or is refused. */
  abstract decided(decision: ChargedDecision): void
  abstract failed(reason: unknown): void

  /** Nobody takes its answer any more: what was charged for it must be given back. */
  get hasEnded(): boolean {
    return this.group === undefined
  }

  ring(at: number): void {
    this.list!.due(this, at)
  }

  resolve(decision: ChargedDecision): void {
    if (this.end()) this.decided(decision)
  }

  /** Goes away, wherever it waits. */
  abort(reason: unknown): void {
    this.list?.leave(this)
    if (this.end()) this.failed(reason)
  }

  private end(): boolean {
    if (this.group === undefined) return false
    this.group.remove(this)
    this.group = undefined
    return true
  }
}

/** One who waits by a promise. `resolve` is all it keeps of it: an error resolves it with a promise that is rejected. */
export class PromisedWaiter extends Waiter {
  private readonly settle: (outcome: ChargedDecision | Promise<never>) => void

  constructor(settle: (outcome: ChargedDecision | Promise<never>) => void) {
    super()
    this.settle = settle
  }

  decided(decision: ChargedDecision): void {
    this.settle(decision)
  }

  failed(reason: unknown): void {
    this.settle(Promise.reject(reason))
  }
}

/** Waiters in the order they came. A linked list, so that leaving costs the same however many there are. */
export abstract class WaitList {
  protected first: Waiter | undefined = undefined
  protected last: Waiter | undefined = undefined

  /** The timer of one of its waiters has rung. */
  abstract due(waiter: Waiter, at: number): void
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
