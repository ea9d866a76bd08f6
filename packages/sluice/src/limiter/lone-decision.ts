import type { Decision, DecisionJson, Degraded, LimitState, Reason } from '../decision.ts'
import type { Charge, Entry, Lane } from '../stores/store.ts'
import { ChargedDecision } from './charged-decision.ts'

/**
 * The decision of one limit, made in the express lane. It holds the few numbers the answer is made of; the charge and
 * all that can be read of it are worked out when somebody reads them.
 */
export class LoneDecision implements Decision, Entry {
  readonly key: string
  receipt: number
  tick: number
  used: number
  charge: Charge | undefined
  private readonly lane: Lane

  constructor(lane: Lane, key: string) {
    this.lane = lane
    this.key = key
    this.receipt = 0
    this.tick = undefined as unknown as number // a number here would be allocated, and then again
    this.used = undefined as unknown as number
    this.charge = undefined
  }

  get allowed(): boolean {
    return this.receipt > 0
  }

  get reason(): Reason {
    return this.full.reason
  }

  get policy(): string {
    return this.full.policy
  }

  get limit(): number {
    return this.full.limit
  }

  get remaining(): number {
    return this.full.remaining
  }

  get at(): number {
    return this.full.at
  }

  get resetAt(): number {
    return this.full.resetAt
  }

  get resetAfterMs(): number {
    return this.full.resetAfterMs
  }

  get retryAfterMs(): number {
    return this.full.retryAfterMs
  }

  get degraded(): Degraded {
    return this.full.degraded
  }

  get limits(): readonly LimitState[] {
    return this.full.limits
  }

  /** The same decision with its charge. */
  get full(): ChargedDecision {
    this.charge ??= this.lane.chargeOf(this)
    return new ChargedDecision([this.charge])
  }

  release(): void {}

  [Symbol.dispose](): void {}

  toJSON(): DecisionJson {
    return this.full.toJSON()
  }

  [Symbol.for('nodejs.util.inspect.custom')](): DecisionJson {
    return this.toJSON()
  }
}
