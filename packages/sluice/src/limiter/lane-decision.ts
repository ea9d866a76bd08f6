import type { Decision, DecisionJson, Degraded, LimitState, Reason } from '../decision.ts'
import type { Charge } from '../stores/charge.ts'
import type { Lane, Passage } from '../stores/lane.ts'
import { ChargedDecision } from './charged-decision.ts'

/**
 * A decision made in an express lane. It holds the few numbers the answer is made of; the charges, and all that can be
 * read of them, are worked out when somebody reads them. One class without another above it: it is made for every
 * request, and a constructor that calls a second one costs more than the fields it sets.
 */
export class LaneDecision<K, U> implements Decision, Passage<U> {
  readonly receipt: number
  readonly tick: number
  readonly used: U
  charges: readonly Charge[] | undefined
  private readonly lane: Lane<K, U>
  private readonly key: K

  /** Of what the lane has just taken, or not; `used` is the lane's, or a copy where that is written over. */
  constructor(lane: Lane<K, U>, key: K, used: U) {
    this.receipt = lane.receipt
    this.tick = lane.tick
    this.used = used
    this.charges = lane.charges
    this.lane = lane
    this.key = key
  }

  /** The same decision with its charges. */
  get full(): ChargedDecision {
    this.charges ??= this.lane.chargesOf(this.key, this)
    return new ChargedDecision(this.charges)
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

  /** Whoever took a slot has its charge. */
  release(): void {
    if (this.charges !== undefined) this.full.release()
  }

  [Symbol.dispose](): void {
    this.release()
  }

  toJSON(): DecisionJson {
    return this.full.toJSON()
  }

  [Symbol.for('nodejs.util.inspect.custom')](): DecisionJson {
    return this.toJSON()
  }
}
