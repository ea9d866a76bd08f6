import { type Charge, startOf, ticksGivenBack } from '../../stores/charge.ts'
import type { Space } from '../../stores/store.ts'
import type { ChargedDecision } from '../charged-decision.ts'
import type { TimerQueue } from './timer-queue.ts'
import { append, unlink, type WaitList, type Waiter } from './waiter.ts'
import type { WaitContext } from './waiting.ts'

/**
 * Callers whose start is booked in a bucket, so that nobody can overtake them. One that goes away gives its place back,
 * and those booked after it move up by as much.
 */
export class Bookings<S> {
  private readonly context: WaitContext<S>
  private readonly timers: TimerQueue
  /** The queue that a caller joins, by limit and key. */
  private readonly queues = new Map<Space, Map<string, BookedQueue<S>>>()

  constructor(context: WaitContext<S>, timers: TimerQueue) {
    this.context = context
    this.timers = timers
  }

  /** The waiter starts when the charge, one of its decision's, lets it. */
  add(waiter: Waiter<S>, decision: ChargedDecision, charge: Charge): void {
    const { key } = charge
    const { space } = charge.limit
    let queues = this.queues.get(space)
    if (queues === undefined) {
      queues = new Map()
      this.queues.set(space, queues)
    }
    const start = startOf(charge)
    let queue = queues.get(key)
    // Others gave back, or the key was reset: those before keep the start they were promised, and it need not wait for it.
    if (queue === undefined || start < queue.lastStart) {
      queue = new BookedQueue(this.context, this.timers, empty => this.forget(space, key, empty))
      queues.set(key, queue)
    }
    waiter.booked = decision
    charge.retryAt = start
    queue.add(waiter, start)
  }

  private forget(space: Space, key: string, queue: BookedQueue<S>): void {
    const queues = this.queues.get(space)
    if (queues?.get(key) !== queue) return
    queues.delete(key)
    if (queues.size === 0) this.queues.delete(space)
  }
}

/**
 * Booked callers of one bucket, in the order of their starts. Only the first has a timer.
 *
 * When one goes away, all behind it move up. That is noted at the next one only, as its `gain`, and handed on when
 * that one starts or goes away in turn; so it costs the same however many are behind. The start of a waiter is its `at`
 * less the gains of all from the first up to itself. One that joins has no part in the gains noted so far.
 */
class BookedQueue<S> implements WaitList<S> {
  first: Waiter<S> | undefined = undefined
  last: Waiter<S> | undefined = undefined
  /** The sum of the gains of its waiters. */
  private gained = 0
  private readonly context: WaitContext<S>
  private readonly timers: TimerQueue
  private readonly emptied: (queue: BookedQueue<S>) => void

  constructor(context: WaitContext<S>, timers: TimerQueue, emptied: (queue: BookedQueue<S>) => void) {
    this.context = context
    this.timers = timers
    this.emptied = emptied
  }

  /** The tick the last of them starts at. */
  get lastStart(): number {
    return this.last === undefined ? 0 : this.last.at - this.gained
  }

  add(waiter: Waiter<S>, start: number): void {
    append(this, waiter)
    waiter.at = start + this.gained
    if (this.first === waiter) this.timers.add(waiter, start)
  }

  due(waiter: Waiter<S>): void {
    const decision = waiter.booked!
    lastToStart(decision)!.retryAt = waiter.at
    this.remove(waiter, 0)
    this.context.decided(waiter, decision)
  }

  leave(waiter: Waiter<S>): void {
    const decision = waiter.booked!
    this.timers.remove(waiter)
    this.remove(waiter, ticksGivenBack(lastToStart(decision)!))
    this.context.giveBack(decision)
  }

  /** Those behind move up by what it had gained, and by so many ticks more. */
  private remove(waiter: Waiter<S>, ticks: number): void {
    const { next } = waiter
    const wasFirst = this.first === waiter
    unlink(this, waiter)
    if (next === undefined) this.gained -= waiter.gain
    else {
      next.gain += waiter.gain + ticks
      this.gained += ticks
    }
    if (next !== undefined && wasFirst) this.lead(next)
    if (this.first === undefined) this.emptied(this)
  }

  /** The new first takes its gain, hands it on, and gets the timer. */
  private lead(waiter: Waiter<S>): void {
    const { gain, next } = waiter
    waiter.gain = 0
    if (next === undefined) this.gained -= gain
    else next.gain += gain
    this.timers.add(waiter, waiter.at - gain)
  }
}
