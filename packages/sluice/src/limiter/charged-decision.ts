import { brand } from '../brand.ts'
import { TICKS_PER_MS } from '../clock.ts'
import type { DecisionJson, Degraded, LimitState, ObservedDecision, Reason } from '../decision.ts'
import { type Charge, ENFORCED } from '../stores/charge.ts'
import type { Intent, Question } from '../stores/store.ts'
import type { BoundLimit } from './limits.ts'

/**
 * A decision over the charges that a store has decided. What a user reads is computed from them when it is read. If
 * there are no charges, no limit applied and the request passes unlimited.
 */
export class ChargedDecision implements ObservedDecision, Question {
  /** The charges of all limits that applied. */
  readonly charges: readonly Charge[]
  readonly intent: Intent
  /** The names of limits that were off; set only if something observes decisions. */
  off: readonly string[]
  private bound: Charge | undefined
  private states: readonly LimitState[] | undefined
  /** When the decision was made, epoch milliseconds, if there is no charge to say so. */
  private readonly madeAt: number

  constructor(charges: readonly Charge[], intent: Intent, madeAt = 0) {
    this.charges = charges
    this.intent = intent
    this.off = NONE
    this.bound = undefined
    this.states = undefined
    this.madeAt = madeAt
  }

  /** The store has decided the charges: nothing is left to do, as all that is read is computed from them. */
  done(): void {}

  get allowed(): boolean {
    for (const charge of this.charges) if (charge.role === ENFORCED && !charge.allowed) return false
    return true
  }

  /** The binding charge; undefined if no enforced limit applied. */
  private get binding(): Charge | undefined {
    this.bound ??= bindingOf(this.charges)
    return this.bound
  }

  private get atTicks(): number {
    return (this.binding ?? this.charges[0])?.at ?? this.madeAt * TICKS_PER_MS
  }

  get degraded(): Degraded {
    let worst = 0
    for (const charge of this.charges) {
      if (charge.role !== ENFORCED || charge.outage === undefined) continue
      worst = Math.max(worst, WORSE.indexOf(limitOf(charge).outage.mode))
    }
    return WORSE[worst]!
  }

  get reason(): Reason {
    if (this.allowed) return 'ok'
    const { blocked, tooManyHolds, cost, rule, retryAt, outage } = this.binding!
    if (blocked) return 'blocked'
    if (tooManyHolds) return 'too-many-holds'
    const tooMuch = cost > rule.limit
    const closed = outage !== undefined && (tooMuch || limitOf(this.binding!).outage.mode === 'closed')
    if (closed && retryAt < Infinity) return 'outage'
    return tooMuch ? 'cost-exceeds-limit' : 'limited'
  }

  get policy(): string {
    return this.binding === undefined ? '' : limitOf(this.binding).name
  }

  get limit(): number {
    return this.binding === undefined ? Infinity : this.binding.rule.limit
  }

  get remaining(): number {
    return this.binding === undefined ? Infinity : this.binding.remaining
  }

  get at(): number {
    return this.charges.length === 0 ? this.madeAt : this.atTicks / TICKS_PER_MS
  }

  get resetAt(): number {
    return this.binding === undefined ? this.at : this.binding.resetAt / TICKS_PER_MS
  }

  get resetAfterMs(): number {
    return this.binding === undefined ? 0 : (this.binding.resetAt - this.binding.at) / TICKS_PER_MS
  }

  get retryAfterMs(): number {
    return this.allowed ? 0 : waitMs(this.binding!)
  }

  get limits(): readonly LimitState[] {
    this.states ??= this.charges.map(stateOf)
    return this.states
  }

  get keys(): readonly string[] {
    return this.charges.map(({ key }) => key)
  }

  /**
   * The same decision, refused until that time (epoch milliseconds): the store allowed it, but it would start too late.
   */
  refusedUntil(ms: number): ChargedDecision {
    const { binding } = this
    if (binding === undefined) return this
    binding.allowed = false
    binding.retryAt = Math.max(binding.retryAt, binding.at, Math.ceil(ms * TICKS_PER_MS))
    return new ChargedDecision(this.charges, this.intent)
  }

  /**
   * Whether a limit lets the request start only later. Until then the charge is a booking, which can be refunded in
   * full.
   */
  startLater(index: number, ms: number): void {
    const charge = this.charges[index]!
    charge.retryAt = charge.at + Math.ceil(ms * TICKS_PER_MS)
  }

  release(): void {
    const held = this.charges.filter(charge => charge.hold !== undefined && charge.rule.kind === 'slots')
    if (held.length > 0) limitOf(held[0]!).release(held)
  }

  [Symbol.dispose](): void {
    this.release()
  }

  toJSON(): DecisionJson {
    const { allowed, reason, policy, at, resetAt, resetAfterMs, degraded } = this
    return {
      allowed,
      reason,
      policy,
      limit: finite(this.limit),
      remaining: finite(this.remaining),
      at,
      resetAt,
      resetAfterMs,
      retryAfterMs: finite(this.retryAfterMs),
      degraded,
      limits: this.limits.map(state => ({ ...state, retryAfterMs: finite(state.retryAfterMs) })),
    }
  }

  /** What `console.log` shows in Node. */
  [Symbol.for('nodejs.util.inspect.custom')](): DecisionJson {
    return this.toJSON()
  }
}
brand('Decision', ChargedDecision)

const NONE: readonly string[] = []
const WORSE: readonly Degraded[] = [false, 'open', 'local', 'closed']

/** The limit of a charge, as the limiter bound it: the store returns the object it was given. */
export function limitOf(charge: Charge): BoundLimit<never> {
  return charge.limit as BoundLimit<never>
}

/** A block `'forever'` is one of a century. Nothing that ends comes near. */
const NEVER_MS = 1e12

function waitMs({ retryAt, at }: Charge): number {
  const ms = (retryAt - at) / TICKS_PER_MS
  return ms < NEVER_MS ? ms : Infinity
}

function stateOf(charge: Charge): LimitState {
  return {
    name: limitOf(charge).name,
    allowed: charge.allowed,
    limit: charge.rule.limit,
    remaining: charge.remaining,
    resetAt: charge.resetAt / TICKS_PER_MS,
    resetAfterMs: (charge.resetAt - charge.at) / TICKS_PER_MS,
    retryAfterMs: charge.allowed ? 0 : waitMs(charge),
    shadow: charge.role !== ENFORCED,
    cached: charge.cached,
  }
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

/**
 * The binding charge. If limits refused, it is the one that frees last. If all passed, it is the one that allows the
 * fewest further requests of this cost; then the one that resets last; then the first declared.
 */
function bindingOf(charges: readonly Charge[]): Charge | undefined {
  let binding: Charge | undefined
  for (const charge of charges) {
    if (charge.role !== ENFORCED) continue
    if (binding === undefined || bindsMore(charge, binding)) binding = charge
  }
  return binding
}

function bindsMore(a: Charge, b: Charge): boolean {
  if (a.allowed !== b.allowed) return b.allowed
  if (!a.allowed) return a.retryAt > b.retryAt
  const furtherA = Math.floor(a.remaining / Math.max(1, a.cost))
  const furtherB = Math.floor(b.remaining / Math.max(1, b.cost))
  return furtherA !== furtherB ? furtherA < furtherB : a.resetAt > b.resetAt
}
