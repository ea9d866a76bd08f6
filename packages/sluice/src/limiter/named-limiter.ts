import { checkOptions } from '../check-options.ts'
import { TICKS_PER_MS } from '../clock.ts'
import type { Decision } from '../decision.ts'
import { type Duration, parseDuration } from '../duration.ts'
import { expected } from '../errors.ts'
import { inTime } from '../lookup.ts'
import { allOf, andThen, type Maybe } from '../maybe.ts'
import type { Charge } from '../stores/charge.ts'
import type { KeyInspection } from '../stores/inspection.ts'
import { type Answer, type Change, LOOK, type Mode, reserving, type Store, TAKE } from '../stores/store.ts'
import { type Warning, warnOnce } from '../warning.ts'
import { Changes } from './changes.ts'
import { ChargedDecision, limitOf } from './charged-decision.ts'
import { Charging, type LateCharges } from './charging.ts'
import { DecisionPath, refundsOf } from './decision-path.ts'
import { type LimitInspection, limitInspection } from './inspection.ts'
import { splitLayers } from './layers.ts'
import type { CostOption, Limiter, LimiterOptions, NamedLimits, WaitOptions } from './limiter.ts'
import {
  type AskFunction,
  askAtOnce,
  type BoundLimit,
  bindLimit,
  checkCost,
  checkModeOrChoice,
  checkReplaces,
  type LimitContext,
  type LimitMode,
  type LimitOptions,
  type LimitsByName,
} from './limits.ts'
import { namedLimits, Operations } from './operations.ts'
import { checkLimiterOptions, storeFor } from './options.ts'
import { Outage } from './outage/outage.ts'
import { chargesOf, type Reservation, reservationOf, type SavedReservation } from './reservation.ts'
import type { ShadowState } from './shadow-report.ts'
import { PromisedWaiter, type Waiter } from './waiting/waiter.ts'
import { Waiting } from './waiting/waiting.ts'

/** The limiter as its users hold it: checks what they pass, and hands each call to the part that does it. */
export class NamedLimiter<S, M extends Mode = Mode> implements Limiter<S, M> {
  readonly name: string
  readonly warn: LimitContext['warn']
  closed = false
  private readonly charging: Charging<S>
  private readonly store: Store
  private readonly ownStore: boolean
  /** `'async'` if any of its stores is: then every answer is a promise. */
  readonly mode: Mode
  private readonly changes: Changes
  private readonly operations: Operations<S>
  private readonly outage: Outage | undefined
  private readonly path: DecisionPath<S>
  private waiting: Waiting | undefined

  /** `ask` is for functions that keep a deadline of their own. */
  constructor(
    options: LimiterOptions<S> & Pick<NamedLimits<S>, 'select'>,
    limits: LimitsByName<S, Mode>,
    shortForm: boolean,
    ask?: AskFunction,
  ) {
    checkLimiterOptions(options, limits, shortForm)
    const { name = 'default', prefix = 'sluice', onDecision, observers = [], onEvent } = options
    this.name = name
    this.ownStore = options.store === undefined
    this.store = storeFor(options, name)
    this.changes = new Changes(
      this.store.clock,
      charges => this.waiting?.wake(charges),
      error => onEvent?.({ type: 'store-error', limiter: name, error }),
    )
    const release = (charges: readonly Charge[]) =>
      this.changes.makeLater(charges.map(charge => ({ type: 'release', charge })))
    const onWarning = onEvent && ((warning: Warning) => onEvent({ ...warning, limiter: name }))
    this.warn = (code, message) => warnOnce(code, message, onWarning)
    const split = splitLayers<LimitOptions<S, Mode>>(limits)
    const stores = [...new Set(Object.values(split.limits).map(limit => limit?.store ?? this.store))]
    this.mode = stores.every(store => store.mode === 'sync') ? 'sync' : 'async'
    const { lookupDeadline = '1s' } = options
    const time = { clock: this.store.clock, deadlineMs: parseDuration(lookupDeadline, 'lookupDeadline', { min: 1 }) }
    const askLater: AskFunction = (what, call) => subject => inTime(call(subject), what, time)
    const context: LimitContext = {
      path: [prefix, name],
      store: this.store,
      ask: ask ?? (this.mode === 'sync' ? askAtOnce : askLater),
      release,
      warn: this.warn,
    }
    const bound = Object.entries(split.limits).map(([limit, one]) => bindLimit(limit, one, context))
    checkReplaces(bound)
    this.outage = this.mode === 'sync' ? undefined : new Outage(this.store.clock, name, this.changes, onEvent)
    this.charging = new Charging(bound, split.layers, shortForm, options.select)
    this.operations = new Operations(this.charging, this.changes)
    this.path = new DecisionPath({
      charging: this.charging,
      stores,
      changes: this.changes,
      outage: this.outage,
      observers: onDecision === undefined ? observers : [onDecision, ...observers],
      clock: this.store.clock,
      nothingApplied: () => onEvent?.({ type: 'nothing-applied', limiter: name }),
    })
  }

  consume(subject: S, options?: CostOption): Answer<M, Decision> {
    return this.answer(this.path.decide(subject, costOf('consume', options), TAKE))
  }

  peek(subject: S, options?: CostOption): Answer<M, Decision> {
    return this.answer(this.path.decide(subject, costOf('peek', options), LOOK))
  }

  refund(target: Decision | S, options?: { cost: number }): Answer<M, void> {
    if (target instanceof ChargedDecision) {
      return this.answer(andThen(this.changes.makeIfPossible(refundsOf(target.charges)), nothing))
    }
    return this.answer(this.operations.credit(target as S, options as { cost: number }))
  }

  penalize(subject: S, options: { cost: number }): Answer<M, void> {
    return this.answer(this.operations.penalize(subject, options))
  }

  set(subject: S, options: { limit?: string; remaining: number }): Answer<M, void> {
    return this.answer(this.operations.set(subject, options))
  }

  reset(subject: S, options: { limits?: readonly string[] } = {}): Answer<M, void> {
    return this.answer(this.operations.reset(subject, options))
  }

  block(subject: S, options: { limit?: string; for: Duration | 'forever' }): Answer<M, void> {
    return this.answer(this.operations.block(subject, options))
  }

  unblock(subject: S, options: { limit?: string } = {}): Answer<M, void> {
    return this.answer(this.operations.unblock(subject, options))
  }

  reserve(subject: S, options: { cost: number; ttl: Duration }): Answer<M, Reservation<M>> {
    checkOptions('reserve', options, ['cost', 'ttl'])
    const cost = checkCost(options.cost)
    const holdTicks = parseDuration(options.ttl, 'reserve({ ttl })', { min: 1 }, 'SLUICE_BAD_TTL') * TICKS_PER_MS
    const reserved = (decision: Decision) => this.reservation(decision, cost)
    return this.answer(andThen(this.path.decide(subject, cost, reserving(holdTicks)), reserved))
  }

  resume(saved: SavedReservation): Reservation<M> {
    if (this.mode === 'sync') {
      throw expected(
        'SLUICE_NOT_SUPPORTED',
        'a store that processes share to resume a reservation',
        'one in this process',
      )
    }
    const decision = new ChargedDecision(
      chargesOf(saved, limit => this.charging.named(limit)),
      LOOK,
    )
    return this.reservation(decision, saved.cost)
  }

  wait(subject: S, options: WaitOptions = {}): Promise<Decision> {
    const off = this.path.offList()
    const waited = new Promise<ChargedDecision>(resolve => {
      this.enter(new PromisedWaiter(resolve), subject, options, off)
    })
    return off === undefined ? waited : waited.then(decision => this.path.notify(decision, subject, off))
  }

  /** Adds a waiter. It gets its decision, and any error in the options, by calls of its methods, not by a promise. */
  enter(waiter: Waiter, subject: S, options: WaitOptions, off?: string[]): void {
    try {
      const known = ['cost', 'maxWait', 'maxQueue', 'signal']
      const { maxWait, maxQueue = Infinity, signal, cost: given = 1 } = checkOptions('wait', options, known)
      const cost = checkCost(given)
      const maxWaitMs = maxWait === undefined ? Infinity : parseDuration(maxWait, 'wait({ maxWait })')
      if (maxQueue !== Infinity && !(Number.isSafeInteger(maxQueue) && maxQueue >= 0)) {
        throw expected('SLUICE_BAD_OPTION', 'wait({ maxQueue }) as a whole number, 0 or more', maxQueue)
      }
      const late: LateCharges<S> | undefined = this.charging.someLate ? new Map() : undefined
      const charges = (off?: string[]) => this.charging.all(subject, cost, off, undefined, late)
      const entered = andThen(charges(off), first => {
        signal?.throwIfAborted()
        if (first.length === 0) waiter.decided(this.path.unlimited(subject, TAKE, undefined))
        else this.waitingRoom().start(waiter, first, { charges: () => charges(), maxWaitMs, maxQueue }, signal)
      })
      if (entered instanceof Promise) entered.catch(error => waiter.failed(error))
    } catch (error) {
      waiter.failed(error)
    }
  }

  private waitingRoom(): Waiting {
    this.waiting ??= new Waiting({
      clock: this.store.clock,
      ask: (charges, intent) => this.path.ask(charges, intent),
      giveBack: charges => this.changes.makeLater(refundsOf(charges)),
    })
    return this.waiting
  }

  history(subject: S, options: { limit?: string } = {}): Answer<M, number[]> {
    const limit = this.charging.named(checkOptions('history', options, ['limit']).limit)
    const times = andThen(this.charging.each([limit], subject, 0), ([charge]) => {
      if (charge === undefined) return []
      if (charge.rule.kind !== 'log') {
        throw expected('SLUICE_NOT_SUPPORTED', 'history of a slidingLog limit', charge.rule.policy.kind)
      }
      const kept: Maybe<KeyInspection> = limitOf(charge).store.inspect(charge)
      return andThen(kept, ({ state }) => (state.kind === 'slidingLog' ? [...state.times] : []))
    })
    return this.answer(times)
  }

  inspect(subject: S, options: { limits?: readonly string[] } = {}): Answer<M, LimitInspection[]> {
    const { charging } = this
    const named = namedLimits('inspect', options, charging)
    const charges = named === undefined ? charging.all(subject, 0) : charging.each(named, subject, 0)
    const inspected = (charge: Charge): Maybe<LimitInspection> => {
      const kept: Maybe<KeyInspection> = limitOf(charge).store.inspect(charge)
      return andThen(kept, state => limitInspection(charge, state))
    }
    return this.answer(andThen(charges, found => allOf(found.map(inspected))))
  }

  setMode(limit: string, mode: LimitMode | ((subject: S) => LimitMode)): void {
    const limits = this.charging.allNamed(limit)
    const checked = checkModeOrChoice(mode, `limit '${limit}'`)
    for (const bound of limits) bound.mode = checked
    this.charging.modesChanged()
  }

  shadows(): ShadowState[] {
    return this.path.report.read()
  }

  get limits(): readonly BoundLimit<S>[] {
    return this.charging.limits
  }

  close(): Answer<M, void> {
    this.closed = true
    this.waiting?.close()
    this.changes.kept.close()
    this.outage?.close()
    const closed: Maybe<void> = this.ownStore ? this.store.close() : undefined
    return this.answer(closed)
  }

  /** The refusal of the limits that need neither a look-up nor a store elsewhere; undefined if they let it pass. */
  refusedAtOnce(subject: S): Maybe<Decision | undefined> {
    return this.path.refusedAtOnce(subject, 1, TAKE)
  }

  private reservation(decision: Decision, cost: number): Reservation<M> {
    const amend = (changes: readonly Change[]) => this.changes.makeIfPossible(changes)
    return reservationOf(decision, cost, amend, limit => this.charging.allNamed(limit))
  }

  /** Returns a promise if a store of the limiter answers later. The cast claims one thing: `mode` is what `M` says. */
  private answer<T>(value: Maybe<T>): Answer<M, T> {
    return (this.mode === 'sync' || value instanceof Promise ? value : Promise.resolve(value)) as Answer<M, T>
  }
}

function nothing(): void {}

function costOf(call: string, options: CostOption | undefined): number {
  if (options === undefined) return 1
  if (typeof options !== 'object' || options === null) checkOptions(call, options, COST_ONLY)
  // A quick check; `checkOptions` takes as long as the decision itself.
  for (const name in options) if (name !== 'cost') checkOptions(call, options, COST_ONLY)
  return options.cost === undefined ? 1 : checkCost(options.cost)
}

const COST_ONLY = ['cost']
