import { TICKS_PER_MS } from '../clock.ts'
import type { ChargedDecision } from '../limiter/charged-decision.ts'
import type { SharedLane } from '../limiter/open-lanes.ts'
import { limitOfPolicy } from '../policy.ts'
import type { Description, Shown } from './headers/description.ts'
import type { Pace } from './headers/pace.ts'
import { effectiveSeconds } from './headers/seconds.ts'
import { integer } from './headers/structured.ts'
import { KeptSeconds } from './kept-seconds.ts'
import { KeptText, NO_TIME } from './kept-text.ts'

type Charges = ChargedDecision['charges']

/**
 * The fields of the usual guard: draft 11, one policy a limit, and the caller may know of all of them. It is written for
 * every request, so what never changes is one text made once, what changes seldom is kept until it does, and the numbers
 * are read off the decision itself: a `LimitState` for each limit would cost as much as the text.
 */
export class PlainFields {
  private readonly paces: readonly Pace[]
  private readonly policies: string
  private readonly text: KeptText
  private readonly seconds: readonly KeptSeconds[]
  /** Held before one limit of a decision after the other. */
  private readonly charged = new ShownCharge()
  private readonly passed: ShownInLane

  constructor(descriptions: readonly Description[]) {
    this.paces = descriptions.map(({ pace }) => pace)
    this.policies = descriptions.map(({ policyItem }) => policyItem).join(', ')
    this.text = new KeptText(descriptions.map(({ remainingItem }) => remainingItem))
    this.seconds = this.paces.map(pace => new KeptSeconds(pace))
    this.passed = new ShownInLane(descriptions.map(({ policy }) => limitOfPolicy(policy)))
  }

  /** Whether every limit is among them, and none as a shadow. */
  fit(decision: ChargedDecision): boolean {
    return decision.charges.length === this.paces.length && !decision.hasShadows
  }

  of(charges: Charges): readonly string[] {
    const { charged, paces, text } = this
    let limits = ''
    for (let i = 0; i < charges.length; i++) {
      charged.charge = charges[i]!
      const remaining = integer(charged.remaining)
      const seconds = effectiveSeconds(paces[i]!, charged, remaining, charged.charge.at / TICKS_PER_MS)
      limits = text.withItem(limits, i, remaining, seconds ?? NO_TIME)
    }
    return this.fields(limits)
  }

  /** The same of what has just passed in a lane: it is about every limit of the guard, and there are no shadows. */
  ofLane(lane: SharedLane): readonly string[] {
    const { seconds: kept, text } = this
    let limits = ''
    for (let i = 0; i < kept.length; i++) {
      const remaining = integer(lane.remainingOf(i, lane))
      const seconds = remaining === 0 ? this.secondsOfLast(lane, i) : kept[i]!.of(remaining, lane, i)
      limits = text.withItem(limits, i, remaining, seconds)
    }
    return this.fields(limits)
  }

  private secondsOfLast(lane: SharedLane, index: number): number {
    const { passed } = this
    passed.lane = lane
    passed.index = index
    return effectiveSeconds(this.paces[index]!, passed, 0, lane.tick / TICKS_PER_MS) ?? NO_TIME
  }

  private fields(limits: string): readonly string[] {
    return ['RateLimit', this.text.whole(limits), 'RateLimit-Policy', this.policies]
  }
}

class ShownCharge implements Shown {
  charge!: Charges[number]

  get allowed(): boolean {
    return this.charge.allowed
  }

  get limit(): number {
    return this.charge.rule.limit
  }

  get remaining(): number {
    return this.charge.remaining
  }

  get resetAt(): number {
    return this.charge.resetAt / TICKS_PER_MS
  }

  get resetAfterMs(): number {
    return (this.charge.resetAt - this.charge.at) / TICKS_PER_MS
  }

  get retryAfterMs(): number {
    return this.charge.allowed ? 0 : (this.charge.retryAt - this.charge.at) / TICKS_PER_MS
  }
}

class ShownInLane implements Shown {
  readonly allowed = true
  readonly retryAfterMs = 0
  lane!: SharedLane
  index = 0
  private readonly limits: readonly number[]

  constructor(limits: readonly number[]) {
    this.limits = limits
  }

  get limit(): number {
    return this.limits[this.index]!
  }

  get remaining(): number {
    return this.lane.remainingOf(this.index, this.lane)
  }

  get resetAt(): number {
    return this.lane.resetAtOf(this.index, this.lane) / TICKS_PER_MS
  }

  get resetAfterMs(): number {
    return (this.lane.resetAtOf(this.index, this.lane) - this.lane.tick) / TICKS_PER_MS
  }
}
