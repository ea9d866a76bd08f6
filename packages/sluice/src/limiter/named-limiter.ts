import { TICKS_PER_MS } from '../clock.ts'
import type { Decision } from '../decision.ts'
import { type Duration, parseDuration } from '../duration.ts'
import { expected } from '../errors.ts'
import type { Charge } from '../stores/charge.ts'
import type { Keys, LoneLane, SharedLane } from '../stores/lane.ts'
import { type Change, type Intent, LOOK, type Mode, reserving, type Store, TAKE } from '../stores/store.ts'
import { Asking } from './asking.ts'
import { Changes } from './changes.ts'
import { ChargedDecision } from './charged-decision.ts'
import { Charging, type KeyKeeper } from './charging.ts'
import { LaneDecision } from './lane-decision.ts'
import type { CostOption, Limiter, LimiterEvent, LimiterOptions, NamedLimits, WaitOptions } from './limiter.ts'
import { bindLimit, blockTicks, checkCost, checkModeOrChoice, checkReplaces, type LimitMode } from './limits.ts'
import { andThen, type Maybe } from './maybe.ts'
import { openLanes } from './open-lanes.ts'
import { checkOptions, type Limits, storeFor } from './options.ts'
import { Outage } from './outage.ts'
import { chargesOf, type Reservation, reservationOf, type SavedReservation } from './reservation.ts'
import { ShadowReport, type ShadowState } from './shadow-report.ts'
import { UnlimitedDecision } from './unlimited-decision.ts'
import { Waiting } from './waiting/waiting.ts'

/** The limiter: which limits apply to a subject, one call to the store, one decision. */
export class NamedLimiter<S> implements Limiter<S, Mode> {
  readonly name: string
  private readonly charging: Charging<S>
  private readonly store: Store
  private readonly ownStore: boolean
  private readonly onDecision: ((decision: Decision, subject: S) => void) | undefined
  private readonly onEvent: ((event: LimiterEvent) => void) | undefined
  private readonly changes: Changes
  /** For a store that may be away: an in-process one never is. */
  private readonly outage: Outage | undefined
  private readonly report = new ShadowReport()
  private waiting: Waiting | undefined
  /** See open-lanes.ts. Whoever takes the answer out of the shared one itself has the keys for it from `keysFor`. */
  private lane: LoneLane | undefined
  sharedLane: SharedLane | undefined

  constructor(
    options: LimiterOptions<S> & Pick<NamedLimits<S>, 'select'>,
    limits: Limits<S>,
    shortForm: boolean,
    keeper?: KeyKeeper<S>,
  ) {
    checkOptions(options, limits, shortForm)
    const { name = 'default', prefix = 'sluice', onDecision, onEvent } = options
    this.name = name
    this.onDecision = onDecision
    this.onEvent = onEvent
    this.ownStore = options.store === undefined
    this.store = storeFor(options, name)
    this.changes = new Changes(
      this.store,
      charges => this.waiting?.wake(charges),
      error => onEvent?.({ type: 'store-error', limiter: name, error }),
    )
    this.outage = this.store.mode === 'sync' ? undefined : new Outage(this.store, name, this.changes, onEvent)
    const release = (charges: readonly Charge[]) =>
      this.changes.makeLater(charges.map(charge => ({ type: 'release', charge })))
    const bound = Object.entries(limits).map(([limit, one]) =>
      bindLimit(limit, one, [prefix, name], this.store, release),
    )
    checkReplaces(bound)
    this.charging = new Charging(bound, shortForm, options.select, keeper)
    this.modesChanged()
  }

  consume(subject: S, options?: CostOption): never {
    if (options === undefined) {
      const { lane, sharedLane } = this
      if (lane !== undefined && typeof subject === 'string') {
        lane.take(subject)
        return this.tell(new LaneDecision(lane, subject, lane.used), subject) as never
      }
      const keys = this.keysFor(subject)
      if (keys !== undefined) {
        sharedLane!.take(keys)
        return this.tell(new LaneDecision(sharedLane!, keys, sharedLane!.copyOfUsed()), subject) as never
      }
    }
    return this.decide(subject, costOf(options), TAKE) as never
  }

  /** What a request takes in the shared lane; undefined where it cannot go there. */
  keysFor(subject: S): Keys | undefined {
    return this.sharedLane === undefined ? undefined : this.charging.keys(subject)
  }

  peek(subject: S, options?: CostOption): never {
    return this.decide(subject, costOf(options), LOOK) as never
  }

  refund(target: Decision | S, options?: { cost: number }): never {
    if (target instanceof LaneDecision) return this.refund(target.full)
    if (target instanceof ChargedDecision) {
      return andThen(this.changes.makeIfPossible(refundsOf(target)), nothing) as never
    }
    if (target instanceof UnlimitedDecision) return this.change([]) as never
    const charges = this.charging.each(this.charging.limits, target as S, checkCost(options?.cost))
    return this.change(charges.map(charge => ({ type: 'credit', charge }))) as never
  }

  reset(subject: S, options?: { limits?: readonly string[] }): never {
    const { charging } = this
    const named = options?.limits?.map(name => charging.named(name))
    const limits = named ?? charging.limits.filter(limit => limit.keyOf !== undefined || limit === charging.only)
    return this.change(charging.each(limits, subject, 0).map(charge => ({ type: 'reset', charge }))) as never
  }

  block(subject: S, options: { limit?: string; for: Duration }): never {
    const limit = this.charging.named(options?.limit)
    const ticks = blockTicks(options?.for, 'block for')
    return this.change(
      this.charging.each([limit], subject, 0).map(charge => ({ type: 'block', charge, ticks })),
    ) as never
  }

  reserve(subject: S, options: { cost: number; ttl: Duration }): never {
    const cost = checkCost(options?.cost)
    const holdTicks = parseDuration(options.ttl, 'reserve ttl', { min: 1 }, 'SLUICE_BAD_TTL') * TICKS_PER_MS
    const reserved = (decision: Decision) => this.reservation(decision, cost)
    return andThen(this.decide(subject, cost, reserving(holdTicks)), reserved) as never
  }

  resume(saved: SavedReservation): never {
    if (this.store.mode === 'sync') {
      throw expected(
        'SLUICE_NOT_SUPPORTED',
        'a store that processes share to resume a reservation',
        'one in this process',
      )
    }
    const decision = new ChargedDecision(chargesOf(saved, limit => this.charging.named(limit)))
    return this.reservation(decision, saved.cost) as never
  }

  async wait(subject: S, options: WaitOptions = {}): Promise<Decision> {
    const { maxWait, signal } = options
    const cost = costOf(options)
    const maxWaitMs = maxWait === undefined ? Infinity : parseDuration(maxWait, 'wait maxWait')
    signal?.throwIfAborted()
    if (this.charging.all(subject, cost).length === 0) return this.decide(subject, cost, TAKE)
    this.waiting ??= new Waiting({
      clock: this.store.clock,
      ask: (charges, intent) => this.ask(charges, intent),
      giveBack: decisions => this.changes.makeLater(decisions.flatMap(refundsOf)),
    })
    return this.tell(await this.waiting.start(() => this.charging.all(subject, cost), maxWaitMs, signal), subject)
  }

  history(subject: S, options?: { limit?: string }): never {
    const limit = this.charging.named(options?.limit)
    const charge = this.charging.one(limit, subject, 0)
    if (charge === undefined) return this.answer([]) as never
    if (charge.rule.kind !== 'log') {
      throw expected('SLUICE_NOT_SUPPORTED', 'history of a slidingLog limit', charge.rule.policy.kind)
    }
    const ticks = this.store.history(limit.space, charge.rule, charge.key)
    return andThen(ticks, all => all.map(tick => tick / TICKS_PER_MS)) as never
  }

  setMode(limit: string, mode: LimitMode | ((subject: S) => LimitMode)): void {
    const bound = this.charging.named(limit)
    bound.mode = checkModeOrChoice(mode)
    this.modesChanged()
  }

  shadows(): ShadowState[] {
    return this.report.read()
  }

  close(): never {
    this.waiting?.close()
    this.outage?.close()
    return (this.ownStore ? this.store.close() : this.answer(undefined)) as never
  }

  private reservation(decision: Decision, cost: number): Reservation<Mode> {
    const amend = (changes: readonly Change[]) => this.changes.makeIfPossible(changes)
    return reservationOf(decision, cost, amend, limit => this.charging.named(limit))
  }

  private decide(subject: S, cost: number, intent: Intent): Maybe<Decision> {
    const charges = this.charging.all(subject, cost)
    if (charges.length === 0) return this.answer(this.unlimited(subject, intent))
    const decision = this.ask(charges, intent)
    if (!intent.take || (this.onDecision === undefined && !this.charging.someShadow)) return decision
    const decided = (made: ChargedDecision) => {
      this.report.record(made.charges)
      return this.tell(made, subject)
    }
    return decision instanceof Promise ? decision.then(decided) : decided(decision)
  }

  private ask(charges: readonly Charge[], intent: Intent): Maybe<ChargedDecision> {
    const { store } = this
    if (store.ask !== undefined) {
      return new Promise((resolve, reject) => store.ask!(new Asking(charges, intent, this.outage!, resolve, reject)))
    }
    const one = charges.length === 1
    const asked: Maybe<void> = one ? this.store.decide(charges[0]!, intent) : this.store.decideAll(charges, intent)
    if (asked === undefined) return new ChargedDecision(charges)
    return asked.then(() => this.decided(charges, intent))
  }

  private decided(charges: readonly Charge[], intent: Intent): ChargedDecision {
    return new ChargedDecision(this.outage!.settled(charges, intent))
  }

  private unlimited(subject: S, intent: Intent): Decision {
    const decision = new UnlimitedDecision(this.store.clock.now())
    this.onEvent?.({ type: 'nothing-applied', limiter: this.name })
    return intent.take ? this.tell(decision, subject) : decision
  }

  private tell<D extends Decision>(decision: D, subject: S): D {
    if (this.onDecision !== undefined) this.onDecision(decision, subject)
    return decision
  }

  private change(changes: readonly Change[]): Maybe<void> {
    return andThen(this.changes.make(changes), nothing)
  }

  /** An answer made here, in the form the store's answers have. */
  private answer<T>(value: T): Maybe<T> {
    return this.store.mode === 'sync' ? value : Promise.resolve(value)
  }

  private modesChanged(): void {
    this.charging.modesChanged()
    const { lane, sharedLane } = openLanes(this.charging, this.store)
    this.lane = lane
    this.sharedLane = sharedLane
  }
}

function nothing(): void {}

function refundsOf({ charges }: ChargedDecision): Change[] {
  return charges.filter(charge => charge.taken).map(charge => ({ type: 'refund', charge }))
}

function costOf(options: CostOption | undefined): number {
  return options?.cost === undefined ? 1 : checkCost(options.cost)
}
