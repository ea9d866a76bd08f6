import type { Rule } from '../algorithms/rule.ts'
import { TICKS_PER_MS } from '../clock.ts'
import type { Decision } from '../decision.ts'
import { type Duration, parseDuration } from '../duration.ts'
import { expected } from '../errors.ts'
import { memoryStore } from '../stores/memory/memory-store.ts'
import {
  BESIDE,
  type Change,
  Charge,
  ENFORCED,
  type Intent,
  LOOK,
  type Mode,
  type Store,
  TAKE,
} from '../stores/store.ts'
import { bindingOf, ChargedDecision, type Releaser } from './charged-decision.ts'
import { encodeKey } from './key.ts'
import type { CostOption, Limiter, LimiterEvent, LimiterOptions, WaitOptions } from './limiter.ts'
import {
  type BoundLimit,
  bindLimit,
  blockTicks,
  checkCost,
  checkMode,
  checkReplaces,
  type LimitMode,
  type LimitOptions,
} from './limits.ts'
import { type Reservation, reservationOf } from './reservation.ts'
import { Waiting } from './waiting.ts'

/** An answer that may have to be waited for. The public types say which it is; inside, both go one way. */
type Maybe<T> = T | Promise<T>

/** The limiter: which limits apply to a subject, one call to the store, one decision. */
export class NamedLimiter<S> implements Limiter<S, Mode>, Releaser {
  readonly name: string
  private readonly limits: readonly BoundLimit<S>[]
  /** The short form: the one limit, whose key is the subject itself. */
  private readonly only: BoundLimit<S> | undefined
  private readonly store: Store
  private readonly ownStore: boolean
  private readonly onDecision: ((decision: Decision, subject: S) => void) | undefined
  private readonly onEvent: ((event: LimiterEvent) => void) | undefined
  private waiting: Waiting | undefined

  constructor(options: LimiterOptions<S>, limits: Record<string, LimitOptions<S>>, shortForm: boolean) {
    for (const option of Object.keys(options)) {
      if (!KNOWN.has(option)) throw expected('SLUICE_BAD_OPTION', `limiter options ${[...KNOWN].join(', ')}`, option)
    }
    const { name = 'default', prefix = 'sluice', onDecision, onEvent } = options
    this.name = text(name, 'name')
    this.onDecision = optionalFunction(onDecision, 'onDecision')
    this.onEvent = optionalFunction(onEvent, 'onEvent')
    this.ownStore = options.store === undefined
    this.store = options.store === undefined ? this.defaultStore(options) : checkStore(options.store)
    if (typeof limits !== 'object' || limits === null || Object.keys(limits).length === 0) {
      throw expected('SLUICE_BAD_OPTION', 'limits with at least one named limit', limits)
    }
    const path = [text(prefix, 'prefix'), name]
    this.limits = Object.entries(limits).map(([limit, one]) =>
      bindLimit(limit, one, encodeKey([...path, limit], limit), this.store),
    )
    checkReplaces(this.limits)
    this.only = shortForm ? this.limits[0] : undefined
  }

  consume(subject: S, options?: CostOption): never {
    return this.decide(subject, options, TAKE) as never
  }

  peek(subject: S, options?: CostOption): never {
    return this.decide(subject, options, LOOK) as never
  }

  refund(target: Decision | S, options?: { cost: number }): never {
    const changes: Change[] = []
    if (target instanceof ChargedDecision) {
      for (const charge of target.charges)
        if (charge.taken) changes.push({ type: 'refund', charge, at: target.atTicks })
    } else {
      const cost = checkCost(options?.cost)
      for (const charge of this.chargesOf(target as S, cost)) changes.push({ type: 'credit', charge })
    }
    return this.amend(changes) as never
  }

  reset(subject: S, options?: { limits?: readonly string[] }): never {
    const named = options?.limits?.map(name => this.limitNamed(name))
    const limits = named ?? this.limits.filter(limit => limit.keyOf !== undefined || limit === this.only)
    const charges = limits.map(limit => this.charge(limit, subject, 0)).filter(charge => charge !== undefined)
    return this.amend(charges.map(charge => ({ type: 'reset', charge }))) as never
  }

  block(subject: S, options: { limit?: string; for: Duration }): never {
    const limit = this.limitNamed(options.limit)
    const ticks = blockTicks(options.for, 'block for')
    const charge = this.charge(limit, subject, 0)
    return this.amend(charge === undefined ? [] : [{ type: 'block', charge, ticks }]) as never
  }

  reserve(subject: S, options: { cost: number; ttl: Duration }): never {
    const cost = checkCost(options?.cost)
    const holdTicks = parseDuration(options.ttl, 'reserve ttl', { min: 1 }, 'SLUICE_BAD_TTL') * TICKS_PER_MS
    const decision = this.ask(subject, this.chargesOf(subject, cost), { take: true, holdTicks, bookTicks: -1 })
    const reserved = (made: ChargedDecision): Reservation<Mode> => reservationOf(made, cost, this.store)
    return then(decision, reserved) as never
  }

  async wait(subject: S, options: WaitOptions = {}): Promise<Decision> {
    const { cost, maxWait, signal } = options
    const maxWaitMs = maxWait === undefined ? Infinity : parseDuration(maxWait, 'wait maxWait')
    signal?.throwIfAborted()
    const charges = this.chargesOf(subject, checkCost(cost ?? 1))
    this.waiting ??= new Waiting(this.store)
    const line = encodeKey(['', ...charges.flatMap(charge => [charge.limit.space.path, charge.key])], 'wait')
    const first = charges[0]
    if (first !== undefined && charges.length === 1 && first.role === ENFORCED && first.rule.kind === 'bucket') {
      const intent = { take: true, holdTicks: 0, bookTicks: maxWaitMs * TICKS_PER_MS }
      const decision = await this.ask(subject, charges, intent)
      return decision.allowed ? this.waiting.forBooking(line, decision, first, signal) : decision
    }
    const attempt = () => this.decide(subject, { cost: cost ?? 1 }, TAKE)
    return this.waiting.inLine(line, maxWaitMs, signal, attempt, decision => void this.refund(decision))
  }

  history(subject: S, options?: { limit?: string }): never {
    const limit = this.limitNamed(options?.limit)
    const charge = this.charge(limit, subject, 0)
    if (charge === undefined) return [] as never
    if (charge.rule.kind !== 'log') {
      throw expected('SLUICE_NOT_SUPPORTED', `history of a slidingLog limit`, charge.rule.policy.kind)
    }
    const ticks = this.store.history(limit.space, charge.rule, charge.key)
    return then(ticks, all => all.map(tick => tick / TICKS_PER_MS)) as never
  }

  setMode(limit: string, mode: LimitMode): void {
    this.limitNamed(limit).mode = checkMode(mode)
  }

  close(): never {
    this.waiting?.close()
    return (this.ownStore ? this.store.close() : undefined) as never
  }

  release(decision: ChargedDecision): void {
    const held = decision.charges.filter(charge => charge.hold !== undefined && charge.rule.kind === 'slots')
    if (held.length > 0) this.amend(held.map(charge => ({ type: 'release', charge })))
  }

  private decide(subject: S, options: CostOption | undefined, intent: Intent): Maybe<ChargedDecision> {
    const cost = options?.cost === undefined ? 1 : checkCost(options.cost)
    return this.ask(subject, this.chargesOf(subject, cost), intent)
  }

  private ask(subject: S, charges: readonly Charge[], intent: Intent): Maybe<ChargedDecision> {
    if (charges.length === 0) this.onEvent?.({ type: 'nothing-applied', limiter: this.name })
    const at = this.store.decide(charges, intent) as Maybe<number>
    return typeof at === 'number'
      ? this.conclude(subject, charges, at)
      : at.then(later => this.conclude(subject, charges, later))
  }

  private conclude(subject: S, charges: readonly Charge[], at: number): ChargedDecision {
    const binding = bindingOf(charges)
    const decision = new ChargedDecision(binding === undefined || binding.allowed, charges, binding, at, this)
    if (this.onDecision !== undefined) this.onDecision(decision, subject)
    return decision
  }

  private amend(changes: readonly Change[]): Maybe<void> {
    return then(this.store.amend(changes), () => this.waiting?.poke())
  }

  /** The charges of all limits that apply, in declared order. */
  private chargesOf(subject: S, cost: number): Charge[] {
    if (this.only !== undefined && this.only.mode === 'enforce' && typeof this.only.ruleFor !== 'function') {
      if (typeof subject !== 'string') throw expected('SLUICE_BAD_KEY', 'a key as a string', subject)
      return [new Charge(this.only, this.only.ruleFor, subject, cost, ENFORCED)]
    }
    const charges: Charge[] = []
    for (const limit of this.limits) {
      const mode = typeof limit.mode === 'function' ? checkMode(limit.mode(subject)) : limit.mode
      if (mode === 'off') continue
      const charge = this.charge(limit, subject, cost, mode === 'shadow' ? BESIDE : ENFORCED)
      if (charge !== undefined) charges.push(charge)
    }
    for (const charge of charges) {
      const { replaces } = charge.limit as BoundLimit<S>
      if (charge.role === ENFORCED || replaces === undefined) continue
      const place = charges.findIndex(other => (other.limit as BoundLimit<S>).name === replaces)
      charge.role = place >= 0 && charges[place]!.role === ENFORCED ? place : BESIDE
    }
    return charges
  }

  /** What a subject is charged by one limit; undefined where it does not apply. */
  private charge(limit: BoundLimit<S>, subject: S, callCost: number, role = ENFORCED): Charge | undefined {
    const key = this.keyOf(limit, subject)
    if (key === undefined) return undefined
    const rule: Rule = typeof limit.ruleFor === 'function' ? limit.ruleFor(subject) : limit.ruleFor
    const { cost } = limit
    const own = typeof cost === 'function' ? checkCost(cost(subject)) : (cost ?? callCost)
    return new Charge(limit, rule, key, own, role)
  }

  private keyOf(limit: BoundLimit<S>, subject: S): string | undefined {
    if (limit.keyOf !== undefined) {
      const key = limit.keyOf(subject)
      return key === undefined ? undefined : encodeKey(key, limit.name)
    }
    if (typeof subject !== 'string') return ''
    if (limit === this.only) return subject
    throw expected('SLUICE_BAD_KEY', `limit '${limit.name}' to have a key, since the subject is a string`, subject)
  }

  private limitNamed(name: string | undefined): BoundLimit<S> {
    if (name === undefined && this.limits.length === 1) return this.limits[0]!
    const limit = this.limits.find(one => one.name === name)
    if (limit !== undefined) return limit
    const names = this.limits.map(one => `'${one.name}'`).join(', ')
    throw expected('SLUICE_UNKNOWN_LIMIT', `the name of a limit (${names})`, name)
  }

  private defaultStore({ clock }: LimiterOptions<S>): Store {
    const { onEvent, name } = this
    const onOverflow = onEvent && (({ keys }: { keys: number }) => onEvent({ type: 'overflow', limiter: name, keys }))
    return memoryStore({ ...(clock && { clock }), ...(onOverflow && { onOverflow }) })
  }
}

const KNOWN = new Set(['name', 'prefix', 'store', 'clock', 'onDecision', 'onEvent', 'limits'])

/** Goes on now with a value, later with a promise. */
function then<T, U>(value: Maybe<T>, next: (value: T) => U): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

function text(value: unknown, what: string): string {
  if (typeof value === 'string') return value
  throw expected('SLUICE_BAD_OPTION', `${what} as a string`, value)
}

function optionalFunction<F>(value: F | undefined, what: string): F | undefined {
  if (value === undefined || typeof value === 'function') return value
  throw expected('SLUICE_BAD_OPTION', `${what} as a function`, value)
}

function checkStore<M extends Mode>(store: Store<M>): Store<M> {
  if (typeof store?.decide === 'function' && typeof store.space === 'function') return store
  throw expected('SLUICE_BAD_OPTION', 'a store such as memoryStore()', store)
}
