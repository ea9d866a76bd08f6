import { type Clock, TICKS_PER_MS, toTicks } from '../../clock.ts'
import { Charge } from '../../stores/charge.ts'
import { decideAcross, type Parties } from '../../stores/coordinator.ts'
import { askInline, type Intent, LOOK } from '../../stores/store.ts'
import type { Changes } from '../changes.ts'
import { limitOf } from '../charged-decision.ts'
import type { LimiterEvent } from '../limiter.ts'
import { LocalLimits } from './local-limits.ts'

/** `retryAt` of a refusal if nothing better is known: one second, since the store may be back by then. */
const RETRY_TICKS = 1000 * TICKS_PER_MS
/** The shards of a store fail separately, so a limit has recovered only after this long without a fault on any key. */
const QUIET_MS = 1000

/** Decides the charges that a store could not, by each limit's `onOutage`, and still all or nothing. */
export class Outage {
  private readonly clock: Clock
  private readonly limiter: string
  private readonly onEvent: ((event: LimiterEvent) => void) | undefined
  /**
   * Made when first needed and kept for good: if the store goes down again, a caller that has used its share gets no
   * new one.
   */
  private local: LocalLimits | undefined
  /** The degraded limits by name, with the time of their last fault. */
  private readonly faults = new Map<string, number>()
  private readonly parties: Parties

  constructor(clock: Clock, limiter: string, changes: Changes, onEvent: ((event: LimiterEvent) => void) | undefined) {
    this.clock = clock
    this.limiter = limiter
    this.onEvent = onEvent
    this.parties = {
      partyOf: () => this,
      isFirst: () => true,
      ask: (charges, intent, refused) => askInline(this.local!.store, charges, refused ? LOOK : intent),
      giveBack: charges => changes.makeLater(charges.map(charge => ({ type: 'refund', charge }))),
    }
  }

  /** Returns the store's charges, with a local decision in place of each that the store could not decide. */
  settled(charges: readonly Charge[], intent: Intent): readonly Charge[] {
    const faulty = charges.some(hasFault)
    if (faulty || this.faults.size > 0) this.note(charges)
    if (!faulty) return charges
    const settled = charges.map(charge => (hasFault(charge) ? this.replacementFor(charge) : charge))
    decideAcross(settled, intent, this.parties)
    for (const [i, charge] of settled.entries()) {
      const { cost, rule } = charges[i]!
      // A cost above the local limit will pass when the store is back, if the limit itself allows it.
      const passesLater = charge.outage !== undefined && charge.retryAt === Infinity && cost <= rule.limit
      if (passesLater) charge.retryAt = charge.at + RETRY_TICKS
    }
    return settled
  }

  close(): void {
    this.local?.store.close()
  }

  /**
   * A charge in place of one with a fault: decided if the limit is open or closed, undecided against the local limit.
   */
  private replacementFor(charge: Charge): Charge {
    const { mode } = limitOf(charge).outage
    const replacement = mode === 'local' ? this.locally(charge) : this.flatly(charge, mode === 'open')
    replacement.outage = charge.fault
    return replacement
  }

  private locally(charge: Charge): Charge {
    this.local ??= new LocalLimits(this.clock)
    return this.local.chargeFor(charge)
  }

  private flatly({ limit, rule, key, cost, role }: Charge, open: boolean): Charge {
    const charge = new Charge(limit, rule, key, cost, role)
    const tooMuch = cost > rule.limit
    charge.at = toTicks(this.clock.now())
    charge.allowed = open && !tooMuch
    charge.used = open ? 0 : rule.limit * rule.perRequest
    charge.retryAt = charge.allowed ? 0 : tooMuch ? Infinity : charge.at + RETRY_TICKS
    charge.resetAt = open ? charge.at : charge.at + RETRY_TICKS
    return charge
  }

  private note(charges: readonly Charge[]): void {
    const { limiter } = this
    const now = this.clock.now()
    for (const charge of charges) {
      const { name, outage } = limitOf(charge)
      const lastFault = this.faults.get(name)
      if (charge.fault !== undefined) {
        this.faults.set(name, now)
        const { fault: error } = charge
        if (lastFault === undefined)
          this.onEvent?.({ type: 'degraded', limiter, limit: name, mode: outage.mode, error })
      } else if (charge.outage === undefined && lastFault !== undefined && now - lastFault >= QUIET_MS) {
        this.faults.delete(name)
        this.onEvent?.({ type: 'restored', limiter, limit: name })
      }
    }
  }
}

function hasFault(charge: Charge): boolean {
  return charge.fault !== undefined
}
