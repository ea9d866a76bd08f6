import type { Decision, DecisionJson, Degraded, LimitState, Reason } from '../decision.ts'
import type { Charge, Entry, Lane, Lanes, LanesEntry } from '../stores/store.ts'
import { ChargedDecision } from './charged-decision.ts'

/**
 * A decision made in an express lane. It holds the few numbers the answer is made of; the charges, and all that can be
 * read of them, are worked out when somebody reads them.
 */
abstract class LaneDecision implements Decision {
  /** More than 0 once it was taken. */
  receipt = 0

  /** The same decision with its charges. */
  abstract get full(): ChargedDecision

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

  abstract release(): void

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

/** What has no number yet: a number put here first would be allocated, and then again. */
const UNDECIDED = undefined as unknown as number

/** The decision of one limit. */
export class LoneDecision extends LaneDecision implements Entry {
  readonly key: string
  tick: number
  used: number
  charge: Charge | undefined
  private readonly lane: Lane

  constructor(lane: Lane, key: string) {
    super()
    this.lane = lane
    this.key = key
    this.tick = UNDECIDED
    this.used = UNDECIDED
    this.charge = undefined
  }

  override get full(): ChargedDecision {
    this.charge ??= this.lane.chargeOf(this)
    return new ChargedDecision([this.charge])
  }

  /** Whoever took a slot has its charge. */
  override release(): void {
    if (this.charge !== undefined) this.full.release()
  }
}

/** The decision of several limits, all of them or none of them. */
export class SeveralDecision extends LaneDecision implements LanesEntry {
  readonly keys: string | readonly string[]
  tick: number
  used: readonly number[] | undefined
  charges: readonly Charge[] | undefined
  private readonly lanes: Lanes

  constructor(lanes: Lanes, keys: string | readonly string[]) {
    super()
    this.lanes = lanes
    this.keys = keys
    this.tick = UNDECIDED
    this.used = undefined
    this.charges = undefined
  }

  override get full(): ChargedDecision {
    this.charges ??= this.lanes.chargesOf(this)
    return new ChargedDecision(this.charges)
  }

  /** These lanes are for buckets: there is no slot to give back. */
  override release(): void {}
}

export function isLaneDecision(decision: unknown): decision is LoneDecision | SeveralDecision {
  return decision instanceof LaneDecision
}
