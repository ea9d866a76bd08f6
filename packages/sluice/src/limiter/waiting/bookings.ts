import { type Charge, startOf } from '../../stores/charge.ts'
import type { Space } from '../../stores/limit.ts'
import type { ChargedDecision } from '../charged-decision.ts'
import type { TimerQueue } from './timer-queue.ts'
import { type Booking, type Waiter, WaitList } from './waiter.ts'

/**
 * Waiters whose start is booked in a bucket, so that nobody can overtake them. One that goes away gives its place back,
 * and those booked after it move up by as much.
 */
export class Bookings {
  private readonly timers: TimerQueue
  private readonly giveBack: (decision: ChargedDecision) => void
  /** The queue that a waiter joins, by limit and key. */
  private readonly queues = new Map<Space, Map<string, BookedQueue>>()

  constructor(timers: TimerQueue, giveBack: (decision: ChargedDecision) => void) {
    this.timers = timers
    this.giveBack = giveBack
  }

  /** The waiter starts when `charge` lets it: of the charges of `decision`, the one that starts last. */
  add(waiter: Waiter, decision: ChargedDecision, charge: Charge): void {
    for (const one of decision.charges) one.retryAt = startOf(one)
    const { key } = charge
    const { space } = charge.limit
    let queues = this.queues.get(space)
    if (queues === undefined) {
      queues = new Map()
      this.queues.set(space, queues)
    }
    let queue = queues.get(key)
    // The key was reset, or somebody else gave back. Those before keep the start they were promised; this one need not
    // wait for them.
    if (queue === undefined || charge.retryAt < queue.lastStart) {
      queue = new BookedQueue(this.timers, this.giveBack, empty => this.forget(space, key, empty))
      queues.set(key, queue)
    }
    queue.add(waiter, { decision, charge, start: charge.retryAt, gain: 0 })
  }

  private forget(space: Space, key: string, queue: BookedQueue): void {
    const queues = this.queues.get(space)
    if (queues?.get(key) !== queue) return
    queues.delete(key)
    if (queues.size === 0) this.queues.delete(space)
  }
}

/**
 * Booked waiters of one bucket, in the order of their starts. Only the first has a timer.
 *
 * When one goes away, all behind it move up. That is noted at the next one only, as its `gain`, which is handed on when
 * that one starts or goes away in turn; so it costs the same however many are behind. A waiter has moved up by the sum of
 * the gains from the first waiter up to itself. Gains are fractions of a tick; a start is rounded up to a whole one.
 */
class BookedQueue extends WaitList {
  private readonly timers: TimerQueue
  private readonly giveBack: (decision: ChargedDecision) => void
  private readonly emptied: (queue: BookedQueue) => void
  /** The sum of the gains of all its waiters: by how much the last has moved up. */
  private gained = 0

  constructor(
    timers: TimerQueue,
    giveBack: (decision: ChargedDecision) => void,
    emptied: (queue: BookedQueue) => void,
  ) {
    super()
    this.timers = timers
    this.giveBack = giveBack
    this.emptied = emptied
  }

  /** The tick the last of them starts at. */
  get lastStart(): number {
    return this.last === undefined ? 0 : this.last.booking!.start - Math.floor(this.gained)
  }

  add(waiter: Waiter, booking: Booking): void {
    waiter.booking = booking
    // It has no part in what those before it have gained so far.
    booking.gain = -this.gained
    this.gained = 0
    this.append(waiter)
    if (this.first === waiter) this.startTimer(waiter)
  }

  due(waiter: Waiter): void {
    const { decision, charge } = waiter.booking!
    charge.retryAt = waiter.at
    this.remove(waiter, 0)
    waiter.resolve(decision)
  }

  leave(waiter: Waiter): void {
    const { decision, charge } = waiter.booking!
    const { cost, rule } = charge
    this.remove(waiter, rule.kind === 'bucket' ? (cost * rule.perRequest) / rule.perTick : 0)
    // After the next one's was added, so that the machine's timer need not be set anew.
    this.timers.remove(waiter)
    this.giveBack(decision)
  }

  /** Those behind move up by so many ticks, besides what they have gained with it. */
  private remove(waiter: Waiter, ticks: number): void {
    const { next } = waiter
    const { gain } = waiter.booking!
    const wasFirst = this.first === waiter
    this.unlink(waiter)
    if (next === undefined) this.gained -= gain
    else {
      next.booking!.gain += gain + ticks
      this.gained += ticks
      if (wasFirst) this.startTimer(next)
    }
    if (this.first === undefined) this.emptied(this)
  }

  private startTimer(first: Waiter): void {
    this.timers.add(first, first.booking!.start - Math.floor(first.booking!.gain))
  }
}
