import type { Maybe } from '../../maybe.ts'
import type { Charge } from '../../stores/charge.ts'
import type { ChargedDecision } from '../charged-decision.ts'
import type { Timer } from './timer-queue.ts'

/** The waiters that one signal aborts together. */
export interface WaiterGroup {
  remove(waiter: Waiter): void
}

/** What a waiter asks for. */
export interface WaitRequest {
  /** Makes new charges for each question, because the store writes into them. */
  readonly charges: () => Maybe<Charge[]>
  readonly maxWaitTicks: number
  /** How many may wait before it. */
  readonly maxQueue: number
  /** The last tick at which the request may start. */
  readonly deadline: number
}

/**
 * One waiting request, from its first question to its end: a decision, an error or an abort. There may be very many, so
 * each is kept small.
 */
export abstract class Waiter implements Timer {
  place = -1
  order = 0
  /** Undefined once the waiter is booked, because it asks no more. */
  request: WaitRequest | undefined = undefined
  /** What it costs in a queue, limit by limit. */
  costs: readonly number[] = FREE
  /** The charges that are booked for the waiter. */
  booked: readonly Charge[] | undefined = undefined
  /** By how many ticks this waiter and all behind it have moved up: see `BookedQueue`. */
  gain = 0
  /** The one list the waiter is in; undefined while it ends or while its first question is on its way. */
  list: WaitList | undefined = undefined
  previous: Waiter | undefined = undefined
  next: Waiter | undefined = undefined
  /** The waiters of the same signal; undefined once this one has ended. */
  group: WaiterGroup | undefined = undefined

  /** Ends the wait with a decision: the request starts, or is refused. */
  abstract decided(decision: ChargedDecision): void
  abstract failed(reason: unknown): void

  /** The waiter has ended: what an answer charges for it must be refunded. */
  get hasEnded(): boolean {
    return this.group === undefined
  }

  ring(at: number): void {
    this.list!.due(this, at)
  }

  resolve(decision: ChargedDecision): void {
    if (this.end()) this.decided(decision)
  }

  /** Removes the waiter from wherever it waits. */
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

const FREE: readonly number[] = []

/** A waiter with a promise. It keeps only `resolve`: to reject, it resolves with a rejected promise. */
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
  /** How many wait. */
  size = 0

  /** The timer of one of the list's waiters has rung. */
  abstract due(waiter: Waiter, at: number): void
  /** A waiter leaves the list: what was taken for it is refunded. */
  abstract leave(waiter: Waiter): void

  protected append(waiter: Waiter): void {
    waiter.list = this
    waiter.previous = this.last
    if (this.last === undefined) this.first = waiter
    else this.last.next = waiter
    this.last = waiter
    this.size++
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
    this.size--
  }
}
