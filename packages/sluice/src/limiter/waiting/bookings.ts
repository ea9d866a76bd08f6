import { type Charge, ENFORCED, startOf } from '../../stores/charge.ts'
import type { Space } from '../../stores/limit.ts'
import { WAIT } from '../../stores/store.ts'
import { ChargedDecision } from '../charged-decision.ts'
import type { TimerQueue } from './timer-queue.ts'
import { type Waiter, WaitList } from './waiter.ts'

/**
 * Waiters whose start is booked in a bucket, so that no other request can overtake them. If a waiter leaves, its
 * booking is cancelled and those booked after it start earlier by as much.
 */
export class Bookings {
  private readonly timers: TimerQueue
  private readonly giveBack: (charges: readonly Charge[]) => void
  /** The queue that a waiter joins, by limit and key. */
  private readonly queues = new Map<Space, Map<string, BookedQueue>>()

  constructor(timers: TimerQueue, giveBack: (charges: readonly Charge[]) => void) {
    this.timers = timers
    this.giveBack = giveBack
  }

  /** How many wait for this limit and key. */
  sizeOf({ limit, key }: Charge): number {
    return this.queues.get(limit.space)?.get(key)?.size ?? 0
  }

  /** Adds a waiter that starts when `charge` allows: the one of `charges` that starts last. */
  add(waiter: Waiter, charges: readonly Charge[], charge: Charge): void {
    for (const one of charges) one.retryAt = startOf(one)
    const { key } = charge
    const { space } = charge.limit
    let queues = this.queues.get(space)
    if (queues === undefined) {
      queues = new Map()
      this.queues.set(space, queues)
    }
    let queue = queues.get(key)
    // The key was reset, or another caller refunded. Earlier waiters keep the start they were promised; this one need
    // not wait for them.
    if (queue === undefined || charge.retryAt < queue.lastStart) {
      queue = new BookedQueue(this.timers, this.giveBack, empty => this.forget(space, key, empty))
      queues.set(key, queue)
    }
    queue.add(waiter, charges)
  }

  private forget(space: Space, key: string, queue: BookedQueue): void {
    const queues = this.queues.get(space)
    if (queues?.get(key) !== queue) return
    queues.delete(key)
    if (queues.size === 0) this.queues.delete(space)
  }
}

/**
 * The booked waiters of one bucket, in the order of their starts. Only the first has a timer.
 *
 * If a waiter leaves, all behind it move up. Only the next one notes this, as its `gain`, and hands it on when it
 * starts or leaves in turn; so leaving costs the same however many are behind. A waiter has moved up by the sum of the
 * gains from the first waiter up to itself. Gains are fractions of a tick; a start is rounded up to a whole one.
 */
class BookedQueue extends WaitList {
  private readonly timers: TimerQueue
  private readonly giveBack: (charges: readonly Charge[]) => void
  private readonly emptied: (queue: BookedQueue) => void
  /** The sum of the gains of all waiters in the queue: by how much the last one has moved up. */
  private gained = 0

  constructor(
    timers: TimerQueue,
    giveBack: (charges: readonly Charge[]) => void,
    emptied: (queue: BookedQueue) => void,
  ) {
    super()
    this.timers = timers
    this.giveBack = giveBack
    this.emptied = emptied
  }

  /** The tick at which the last waiter starts. */
  get lastStart(): number {
    return this.last === undefined ? 0 : bookingOf(this.last).retryAt - Math.floor(this.gained)
  }

  add(waiter: Waiter, charges: readonly Charge[]): void {
    waiter.booked = charges
    waiter.request = undefined
    // A new waiter has no part in the gains so far.
    waiter.gain = 0 - this.gained
    this.gained = 0
    this.append(waiter)
    if (this.first === waiter) this.startTimer(waiter)
  }

  due(waiter: Waiter, at: number): void {
    bookingOf(waiter).retryAt = at
    this.remove(waiter, 0)
    waiter.resolve(new ChargedDecision(waiter.booked!, WAIT))
  }

  leave(waiter: Waiter): void {
    const { cost, rule } = bookingOf(waiter)
    this.remove(waiter, rule.kind === 'bucket' ? (cost * rule.perRequest) / rule.perTick : 0)
    // Comes after the next waiter's timer was added, so that the machine's timer need not be set again.
    this.timers.remove(waiter)
    this.giveBack(waiter.booked!)
  }

  /** The waiters behind move up by this many ticks, besides what they have gained with this one. */
  private remove(waiter: Waiter, ticks: number): void {
    const { next, gain } = waiter
    const wasFirst = this.first === waiter
    this.unlink(waiter)
    if (next === undefined) this.gained -= gain
    else {
      next.gain += gain + ticks
      this.gained += ticks
      if (wasFirst) this.startTimer(next)
    }
    if (this.first === undefined) this.emptied(this)
  }

  private startTimer(first: Waiter): void {
    this.timers.add(first, bookingOf(first).retryAt - Math.floor(first.gain))
  }
}

/** Of the charges that passed, the one that may start last; undefined if all may start at once. */
export function lastToStart(charges: readonly Charge[]): Charge | undefined {
  let last: Charge | undefined
  for (const charge of charges) {
    if (charge.role !== ENFORCED || startOf(charge) <= charge.at) continue
    if (last === undefined || startOf(charge) > startOf(last)) last = charge
  }
  return last
}

/** The charge whose `retryAt` is the start that the waiter was promised. */
function bookingOf(waiter: Waiter): Charge {
  return lastToStart(waiter.booked!)!
}
