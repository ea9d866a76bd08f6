import { TICKS_PER_MS } from '../clock.ts'
import { SluiceError } from '../errors.ts'
import { type Charge, ENFORCED, startOf } from '../stores/charge.ts'
import { booking, type Intent, LOOK, type Store, WAIT } from '../stores/store.ts'
import { Alarm } from './alarm.ts'
import { Bookings } from './bookings.ts'
import type { ChargedDecision } from './charged-decision.ts'
import { Lines } from './lines.ts'
import { andThen, type Maybe } from './maybe.ts'

/** What `wait` needs of its limiter. */
export interface Desk {
  readonly store: Store
  /** The charges of the waiting subject, made anew: each attempt fills in its own. */
  charges(): Charge[]
  ask(charges: readonly Charge[], intent: Intent): Maybe<ChargedDecision>
  giveBack(decision: ChargedDecision): void
}

/** Those who wait, on one timer. */
export class Waiting {
  private readonly alarm: Alarm
  private readonly bookings: Bookings
  private readonly lines: Lines

  constructor(store: Store, unbook: (charge: Charge) => void) {
    this.alarm = new Alarm(store.clock)
    this.bookings = new Bookings(this.alarm, unbook)
    this.lines = new Lines(this.alarm)
  }

  /** A lone bucket is booked; what cannot be booked is waited for in line. */
  start(desk: Desk, maxWaitMs: number, signal: AbortSignal | undefined): Maybe<ChargedDecision> {
    const charges = desk.charges()
    const enforced = charges.filter(charge => charge.role === ENFORCED)
    const isBucket = enforced.length === 1 && enforced[0]!.rule.kind === 'bucket'
    if (!isBucket) return this.inLine(desk, maxWaitMs, signal)
    return andThen(desk.ask(charges, booking(maxWaitMs * TICKS_PER_MS)), decision => {
      // Not the one that was asked with, where the store was away.
      const bucket = decision.charges.find(charge => charge.role === ENFORCED)!
      if (decision.allowed) {
        return startOf(bucket) > bucket.at ? this.bookings.wait(decision, bucket, signal) : decision
      }
      // A block, a reservation or an outage stands in the way, not the bucket's own level: that can be waited out.
      const full = bucket.rule.kind === 'bucket' && bucket.rule.queue && decision.reason === 'limited'
      const inTime = decision.retryAfterMs <= maxWaitMs && decision.retryAfterMs < Infinity
      return inTime && !full ? this.inLine(desk, maxWaitMs, signal) : decision
    }) as Maybe<ChargedDecision>
  }

  /** Something was given back. */
  poke(charges: readonly Charge[]): void {
    this.lines.poke(charges)
  }

  close(): void {
    const reason = new SluiceError('SLUICE_CLOSED', 'the limiter was closed while a request waited')
    this.bookings.close(reason)
    this.lines.close(reason)
    this.alarm.clear()
  }

  private async inLine(desk: Desk, maxWaitMs: number, signal: AbortSignal | undefined): Promise<ChargedDecision> {
    const { clock } = desk.store
    const deadline = clock.now() + maxWaitMs
    const decision = await this.lines.join(desk.charges(), deadline, signal, {
      attempt: () => andThen(desk.ask(desk.charges(), WAIT), made => this.inTime(desk, made, deadline, maxWaitMs)),
      look: () => desk.ask(desk.charges(), LOOK),
      giveBack: late => desk.giveBack(late),
    })
    const last = lastToStart(decision)
    return last === undefined ? decision : this.bookings.wait(decision, last, signal)
  }

  /** A leaky bucket beside other limits starts its requests one by one, too, and that must not be too late either. */
  private inTime(desk: Desk, decision: ChargedDecision, deadline: number, maxWaitMs: number): ChargedDecision {
    const last = lastToStart(decision)
    const startMs = last === undefined ? 0 : startOf(last) / TICKS_PER_MS
    if (startMs <= deadline) return decision
    desk.giveBack(decision)
    return decision.refusedUntil(startMs - maxWaitMs)
  }
}

/** Of the charges that passed, the one that may start last; undefined where all may start at once. */
function lastToStart(decision: ChargedDecision): Charge | undefined {
  const enforced = decision.allowed ? decision.charges.filter(charge => charge.role === ENFORCED) : []
  const late = enforced.filter(charge => startOf(charge) > charge.at)
  return late.sort((a, b) => startOf(b) - startOf(a))[0]
}
