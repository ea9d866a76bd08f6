import { TICKS_PER_MS } from '../clock.ts'
import type { Decision, DecisionJson, Degraded, LimitState, Reason } from '../decision.ts'
import { type Charge, ENFORCED } from '../stores/store.ts'
import type { BoundLimit } from './limits.ts'

/**
 * A decision is the charges that came back from the store and the one of them that binds; what a user reads is worked
 * out when it is read.
 */
export class ChargedDecision implements Decision {
  readonly allowed: boolean
  readonly degraded: Degraded
  /** The charges of all limits that applied. */
  readonly charges: readonly Charge[]
  /** The binding one; undefined where no enforced limit applied. */
  private readonly binding: Charge | undefined
  /** The store's now. */
  readonly atTicks: number
  private readonly releaser: Releaser

  constructor(
    allowed: boolean,
    charges: readonly Charge[],
    binding: Charge | undefined,
    atTicks: number,
    releaser: Releaser,
  ) {
    this.allowed = allowed
    this.degraded = false
    this.charges = charges
    this.binding = binding
    this.atTicks = atTicks
    this.releaser = releaser
  }

  get reason(): Reason {
    if (this.allowed) return 'ok'
    const { blocked, cost, rule } = this.binding!
    return blocked ? 'blocked' : cost > rule.limit ? 'cost-exceeds-limit' : 'limited'
  }

  get policy(): string {
    return this.binding === undefined ? '' : nameOf(this.binding)
  }

  get limit(): number {
    return this.binding === undefined ? Infinity : this.binding.rule.limit
  }

  get remaining(): number {
    return this.binding === undefined ? Infinity : this.binding.remaining
  }

  get at(): number {
    return this.atTicks / TICKS_PER_MS
  }

  get resetAt(): number {
    return (this.binding === undefined ? this.atTicks : this.binding.resetAt) / TICKS_PER_MS
  }

  get resetAfterMs(): number {
    return this.binding === undefined ? 0 : (this.binding.resetAt - this.atTicks) / TICKS_PER_MS
  }

  get retryAfterMs(): number {
    return this.allowed ? 0 : (this.binding!.retryAt - this.atTicks) / TICKS_PER_MS
  }

  get limits(): readonly LimitState[] {
    return this.charges.map(charge => stateOf(charge, this.atTicks))
  }

  release(): void {
    this.releaser.release(this)
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

/** Who gives back what a decision took. */
export interface Releaser {
  release(decision: ChargedDecision): void
}

/** Where releasing and disposing stay cheap: no slot, nothing to do. */
export function nameOf(charge: Charge): string {
  return (charge.limit as BoundLimit<unknown>).name
}

function stateOf(charge: Charge, atTicks: number): LimitState {
  return {
    name: nameOf(charge),
    allowed: charge.allowed,
    limit: charge.rule.limit,
    remaining: charge.remaining,
    resetAt: charge.resetAt / TICKS_PER_MS,
    resetAfterMs: (charge.resetAt - atTicks) / TICKS_PER_MS,
    retryAfterMs: charge.allowed ? 0 : (charge.retryAt - atTicks) / TICKS_PER_MS,
    shadow: charge.role !== ENFORCED,
    cached: false,
  }
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}

/**
 * The binding charge. Of those that refused, the one that frees last; where all passed, the one with the fewest
 * further requests of the same cost, then the latest reset, then the first declared.
 */
export function bindingOf(charges: readonly Charge[]): Charge | undefined {
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
