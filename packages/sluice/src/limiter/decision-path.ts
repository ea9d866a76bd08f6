import type { Decision } from '../decision.ts'
import { andThen, type Maybe } from '../maybe.ts'
import type { Charge } from '../stores/charge.ts'
import { type Change, type Intent, LOOK, type Store, TAKE } from '../stores/store.ts'
import type { Changes } from './changes.ts'
import { ChargedDecision } from './charged-decision.ts'
import type { Charging } from './charging.ts'
import type { Observer } from './limiter.ts'
import { LimiterStores } from './limiter-stores.ts'
import type { Outage } from './outage/outage.ts'
import { ShadowReport } from './shadow-report.ts'

/** What the path needs from its limiter. */
export interface PathContext<S> {
  readonly charging: Charging<S>
  /** Every store that a limit lives in. */
  readonly stores: readonly Store[]
  readonly changes: Changes
  /** Only for stores that may be away: an in-process store never is. */
  readonly outage: Outage | undefined
  /** Everything that observes decisions. */
  readonly observers: readonly Observer<S>[]
  /** The time of a decision that no store makes. */
  readonly clock: Store['clock']
  /** Called when no limit applied to a subject. */
  nothingApplied(): void
}

/** The way from a subject to its decision: the charges of the limits that apply, one question to their stores, the observers. */
export class DecisionPath<S> {
  readonly report = new ShadowReport()
  private readonly context: PathContext<S>
  private readonly charging: Charging<S>
  private readonly observers: readonly Observer<S>[]
  private readonly outage: Outage | undefined
  private readonly stores: LimiterStores
  /** The limiter's only store, if it has one only and that is in process. */
  private readonly inline: Store | undefined

  constructor(context: PathContext<S>) {
    const { charging, stores, changes, outage, observers } = context
    this.context = context
    this.charging = charging
    this.observers = observers
    this.outage = outage
    this.stores = new LimiterStores(stores, changes)
    this.inline = stores.length === 1 && stores[0]!.mode === 'sync' ? stores[0] : undefined
  }

  decide(subject: S, cost: number, intent: Intent): Maybe<Decision> {
    if (!this.charging.someLate) return this.decideAll(subject, cost, intent)
    return andThen(
      this.refusedAtOnce(subject, cost, intent),
      refused => refused ?? this.decideAll(subject, cost, intent),
    )
  }

  /**
   * The refusal of the limits that need neither a look-up nor a store elsewhere; undefined if they let the request pass.
   * So requests that they refuse cause no look-ups.
   */
  refusedAtOnce(subject: S, cost: number, intent: Intent): Maybe<Decision | undefined> {
    const { charging } = this
    const early = charging.applying(subject).filter(limit => !limit.isLate && limit.store.mode === 'sync')
    if (early.length === 0) return undefined
    const ask = (how: Intent, off?: string[]) =>
      andThen(charging.all(subject, cost, off, early), charges =>
        charges.length === 0 ? undefined : this.ask(charges, how),
      )
    return andThen(ask(LOOK), look => {
      if (look === undefined || look.allowed || !intent.take) return look?.allowed === false ? look : undefined
      const off = this.offList()
      // Only a request that would take can start a block.
      return andThen(ask(TAKE, off), decision => {
        if (decision === undefined) return undefined
        if (!decision.allowed) return this.tell(decision, subject, off)
        this.context.changes.makeLater(refundsOf(decision.charges))
        return undefined
      })
    })
  }

  private decideAll(subject: S, cost: number, intent: Intent): Maybe<Decision> {
    const off = this.offList()
    const charges = this.charging.all(subject, cost, off)
    return charges instanceof Promise
      ? charges.then(found => this.decideOn(found, subject, intent, off))
      : this.decideOn(charges, subject, intent, off)
  }

  private decideOn(charges: readonly Charge[], subject: S, intent: Intent, off: string[] | undefined): Maybe<Decision> {
    if (charges.length === 0) return this.unlimited(subject, intent, off)
    const decision = this.ask(charges, intent)
    if (!intent.take || (this.observers.length === 0 && !this.charging.someShadow)) return decision
    return decision instanceof Promise
      ? decision.then(made => this.tell(made, subject, off))
      : this.tell(decision, subject, off)
  }

  private tell(decision: ChargedDecision, subject: S, off: string[] | undefined): ChargedDecision {
    this.report.record(decision.charges)
    return this.notify(decision, subject, off)
  }

  ask(charges: readonly Charge[], intent: Intent): Maybe<ChargedDecision> {
    const { inline, outage } = this
    if (inline !== undefined) {
      const decision = new ChargedDecision(charges, intent)
      inline.ask(decision)
      return decision
    }
    const someBlocked = this.context.changes.kept.refuse(charges)
    return andThen(
      this.stores.ask(charges, intent, someBlocked),
      decided => new ChargedDecision(outage === undefined ? decided : outage.settled(decided, intent), intent),
    )
  }

  /** The decision on a request to which no limit applies. */
  unlimited(subject: S, intent: Intent, off: string[] | undefined): ChargedDecision {
    const decision = new ChargedDecision(NO_CHARGES, intent, this.context.clock.now())
    this.context.nothingApplied()
    return intent.take ? this.notify(decision, subject, off) : decision
  }

  /** The list of limits that are off. It is kept only if something observes decisions. */
  offList(): string[] | undefined {
    return this.observers.length === 0 ? undefined : []
  }

  notify(decision: ChargedDecision, subject: S, off: string[] | undefined): ChargedDecision {
    if (off === undefined) return decision
    decision.off = off
    for (const observe of this.observers) observe(decision, subject)
    return decision
  }
}

const NO_CHARGES: readonly Charge[] = []

export function refundsOf(charges: readonly Charge[]): Change[] {
  return charges.filter(charge => charge.taken).map(charge => ({ type: 'refund', charge }))
}
