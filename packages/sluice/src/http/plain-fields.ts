import { TICKS_PER_MS } from '../clock.ts'
import type { ChargedDecision } from '../limiter/charged-decision.ts'
import type { Description, Shown } from './headers/description.ts'
import { limitItem } from './headers/draft-11.ts'

type Charges = ChargedDecision['charges']

/**
 * The fields of the usual guard: draft 11, one policy a limit, and the caller may know of all of them. It is written for
 * every request, so what never changes is one text made once, and the numbers are read off the charges themselves: a
 * `LimitState` for each would cost as much as the text.
 */
export class PlainFields {
  private readonly descriptions: readonly Description[]
  private readonly policies: string
  /** Held before one charge after the other. */
  private readonly shown = new ShownCharge()

  constructor(descriptions: readonly Description[]) {
    this.descriptions = descriptions
    this.policies = descriptions.map(({ policyItem }) => policyItem).join(', ')
  }

  /** Whether every limit is among them, and none as a shadow. */
  fit(decision: ChargedDecision): boolean {
    return decision.charges.length === this.descriptions.length && !decision.hasShadows
  }

  of(charges: Charges): readonly string[] {
    const { descriptions, shown } = this
    let limits = ''
    for (let i = 0; i < charges.length; i++) {
      shown.charge = charges[i]!
      const item = limitItem(descriptions[i]!, shown, shown.charge.at / TICKS_PER_MS)
      limits = i === 0 ? item : `${limits}, ${item}`
    }
    return ['RateLimit', limits, 'RateLimit-Policy', this.policies]
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
