import { type Clock, TICKS_PER_MS, toTicks } from '../../clock.ts'
import { SluiceError } from '../../errors.ts'
import { andThen, type Maybe } from '../../maybe.ts'
import { Charge, ENFORCED, startOf } from '../../stores/charge.ts'
import { booking, type Intent, LOOK } from '../../stores/store.ts'
import type { ChargedDecision } from '../charged-decision.ts'
import { Bookings, lastToStart } from './bookings.ts'
import { SignalGroups } from './signal-groups.ts'
import { TimerQueue } from './timer-queue.ts'
import { WaitQueues } from './wait-queues.ts'
import type { Waiter } from './waiter.ts'

/** What waiting needs from its limiter. */
export interface WaitContext {
  /** The clock of the limiter's store. */
  readonly clock: Clock
  ask(charges: readonly Charge[], intent: Intent): Maybe<ChargedDecision>
  /** Refunds charges. */
  giveBack(charges: readonly Charge[]): void
}

/** What one waiter asks for, and how long and behind how many it may wait. */
export interface WaitBounds {
  /** Makes new charges for each question. */
  readonly charges: () => Maybe<Charge[]>
  readonly maxWaitMs: number
  readonly maxQueue: number
}

/**
 * The waiters of one limiter, which share one timer. A waiter that leaves by its signal or an error leaves nothing
 * taken: the signal is heard from the first question on, and an answer that comes too late is refunded.
 */
export class Waiting {
  private readonly context: WaitContext
  private readonly signals = new SignalGroups(abort => this.together(abort))
  private readonly bookings: Bookings
  private readonly queues: WaitQueues
  private started = 0
  /** The charges to refund while several waiters leave together. */
  private gathered: Charge[] | undefined = undefined

  constructor(context: WaitContext) {
    this.context = context
    const timers = new TimerQueue(context.clock)
    this.bookings = new Bookings(timers, charges => this.giveBack(charges))
    this.queues = new WaitQueues(timers, (...asked) => this.ask(...asked), {
      passed: (waiter, decision) => this.startInTime(waiter, decision),
      refused: (waiter, until) => this.refuse(waiter, until),
    })
  }

  /** `first` are the charges of the first question. `signal` is not aborted yet. */
  start(waiter: Waiter, first: readonly Charge[], bounds: WaitBounds, signal: AbortSignal | undefined): void {
    waiter.order = this.started++
    const { charges, maxQueue } = bounds
    const maxWaitTicks = toTicks(bounds.maxWaitMs)
    const deadline = toTicks(this.context.clock.now()) + maxWaitTicks
    waiter.request = { charges, maxWaitTicks, maxQueue, deadline }
    this.signals.add(waiter, signal)
    this.begin(waiter, first)
  }

  /** Something was given back to these keys. */
  wake(charges: readonly Charge[]): void {
    this.queues.wake(charges)
  }

  close(): void {
    this.signals.abortAll(new SluiceError('SLUICE_CLOSED', 'the limiter was closed while a request waited'))
  }

  /** A single bucket is booked; everything else waits in a queue. */
  private begin(waiter: Waiter, charges: readonly Charge[]): void {
    const enforced = charges.filter(charge => charge.role === ENFORCED)
    if (enforced.length !== 1 || enforced[0]!.rule.kind !== 'bucket') {
      this.queues.join(waiter, charges)
      return
    }
    const request = waiter.request!
    // If the queue is full, it passes at once or not at all.
    if (this.bookings.sizeOf(enforced[0]!) >= request.maxQueue) waiter.request = { ...request, maxWaitTicks: 0 }
    const asked = this.ask(waiter, booking(waiter.request!.maxWaitTicks))
    void andThen(asked, decision => this.answered(waiter, charges, decision))
  }

  private answered(waiter: Waiter, charges: readonly Charge[], decision: ChargedDecision | undefined): void {
    if (decision === undefined) return
    if (decision.allowed) {
      this.startLater(waiter, decision, lastToStart(decision.charges))
      return
    }
    // During an outage the local limit decided, not the bucket that would be booked.
    const { rule } = decision.charges.find(charge => charge.role === ENFORCED)!
    // A full queue refuses. A request may wait for the end of a block, reservation or outage.
    const isFull = rule.kind === 'bucket' && rule.queue && decision.reason === 'limited'
    const { retryAfterMs } = decision
    const canWait = retryAfterMs < Infinity && retryAfterMs * TICKS_PER_MS <= waiter.request!.maxWaitTicks
    if (canWait && !isFull) this.queues.join(waiter, charges)
    else waiter.resolve(decision)
  }

  /** A leaky bucket beside other limits also starts its requests one by one. That start must meet the deadline too. */
  private startInTime(waiter: Waiter, decision: ChargedDecision): void {
    const last = lastToStart(decision.charges)
    const start = last === undefined ? 0 : startOf(last)
    const { deadline, maxWaitTicks } = waiter.request!
    if (start <= deadline) {
      this.startLater(waiter, decision, last)
      return
    }
    this.giveBack(decision.charges)
    this.refuse(waiter, start - maxWaitTicks)
  }

  private refuse(waiter: Waiter, until: number): void {
    void andThen(this.ask(waiter, LOOK), decision => {
      if (decision !== undefined) waiter.resolve(decision.refusedUntil(until / TICKS_PER_MS))
    })
  }

  private startLater(waiter: Waiter, decision: ChargedDecision, last: Charge | undefined): void {
    if (last === undefined) waiter.resolve(decision)
    else if (this.bookings.sizeOf(last) < waiter.request!.maxQueue) this.bookings.add(waiter, decision.charges, last)
    else {
      // The queue was filled while the store answered.
      this.giveBack(decision.charges)
      this.refuse(waiter, startOf(last))
    }
  }

  private ask(waiter: Waiter, intent: Intent, costs?: readonly number[]): Maybe<ChargedDecision | undefined> {
    const failed = (error: unknown) => {
      waiter.abort(error)
      return undefined
    }
    const answered = (decision: ChargedDecision) => {
      if (!waiter.hasEnded) return decision
      this.giveBack(decision.charges)
      return undefined
    }
    try {
      const asked = andThen(waiter.request!.charges(), charges =>
        this.context.ask(costs === undefined ? charges : charges.map((one, i) => costing(one, costs[i])), intent),
      )
      return asked instanceof Promise ? asked.then(answered, failed) : answered(asked)
    } catch (error) {
      return failed(error)
    }
  }

  private giveBack(charges: readonly Charge[]): void {
    if (this.gathered === undefined) this.context.giveBack(charges)
    else this.gathered.push(...charges)
  }

  /** Collects what is refunded meanwhile and sends it to the store in one call. */
  private together(abort: () => void): void {
    const gathered: Charge[] = []
    this.gathered = gathered
    abort()
    this.gathered = undefined
    if (gathered.length > 0) this.context.giveBack(gathered)
  }
}

/** The same charge at another cost, but at most the limit, so that it can pass at all. */
function costing({ limit, rule, key, cost, role }: Charge, other = cost): Charge {
  return new Charge(limit, rule, key, Math.min(other, rule.limit), role)
}
