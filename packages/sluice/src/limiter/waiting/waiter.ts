import type { Decision } from '../../decision.ts'
import type { ChargedDecision } from '../charged-decision.ts'
import type { SignalGroup } from './signal-groups.ts'
import type { Timer } from './timer-queue.ts'

/** The callers of one queue, first come first: a linked list, so that anybody can leave at no cost to the others. */
export interface WaitList<S> {
  first: Waiter<S> | undefined
  last: Waiter<S> | undefined
  /** The time of one of its waiters has come. */
  due(waiter: Waiter<S>): void
  /** One of its waiters goes away: what it has taken is given back. */
  leave(waiter: Waiter<S>): void
}

/**
 * One call of `wait`, from its start to its end: it resolves with a decision, or rejects by an error or an abort. It is
 * at one time in at most one list, and in none while it ends or while its first question is on its way.
 */
export class Waiter<S> implements Timer {
  at = 0
  place = -1
  readonly order: number
  readonly subject: S
  readonly cost: number
  readonly maxWaitTicks: number
  /** The last tick it may start at. */
  readonly deadline: number
  list: WaitList<S> | undefined = undefined
  previous: Waiter<S> | undefined = undefined
  next: Waiter<S> | undefined = undefined
  /** What it has taken, if it has a booked start. */
  booked: ChargedDecision | undefined = undefined
  /** By how many ticks it and all behind it have moved up: see `BookedQueue`. */
  gain = 0
  /** Who wait under the same signal. */
  group: SignalGroup<S> | undefined = undefined
  private readonly kept: (decision: Decision) => void
  private readonly broken: (reason: unknown) => void

  constructor(
    order: number,
    subject: S,
    cost: number,
    maxWaitTicks: number,
    now: number,
    kept: (decision: Decision) => void,
    broken: (reason: unknown) => void,
  ) {
    this.order = order
    this.subject = subject
    this.cost = cost
    this.maxWaitTicks = maxWaitTicks
    this.deadline = now + maxWaitTicks
    this.kept = kept
    this.broken = broken
  }

  /** Has it ended? What it is answered afterwards must be given back. */
  get hasEnded(): boolean {
    return this.group === undefined
  }

  ring(): void {
    this.list!.due(this)
  }

  resolve(decision: Decision): void {
    if (this.end()) this.kept(decision)
  }

  reject(reason: unknown): void {
    if (this.end()) this.broken(reason)
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

export function append<S>(list: WaitList<S>, waiter: Waiter<S>): void {
  waiter.list = list
  waiter.previous = list.last
  if (list.last === undefined) list.first = waiter
  else list.last.next = waiter
  list.last = waiter
}

export function unlink<S>(list: WaitList<S>, waiter: Waiter<S>): void {
  const { previous, next } = waiter
  if (previous === undefined) list.first = next
  else previous.next = next
  if (next === undefined) list.last = previous
  else next.previous = previous
  waiter.list = undefined
  waiter.previous = undefined
  waiter.next = undefined
}
