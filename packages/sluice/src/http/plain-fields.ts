import { TICKS_PER_MS } from '../clock.ts'
import type { ChargedDecision } from '../limiter/charged-decision.ts'
import type { Description, Shown } from './headers/description.ts'
import { limitItem } from './headers/draft-11.ts'
import type { Pace } from './headers/pace.ts'

type Charges = ChargedDecision['charges']

/**
 * The fields of the usual guard: draft 11, one policy a limit, and the caller may know of all of them. It is written for
 * every request, so what never changes is one text made once, and the numbers are read off the charges themselves: a
 * `LimitState` for each would cost as much as the text.
 */
export class PlainFields {
  private readonly paces: readonly Pace[]
  /** What stands before the first number of each limit. */
  private readonly heads: readonly string[]
  private readonly policies: string
  /** Held before one charge after the other. */
  private readonly shown = new ShownCharge()

  constructor(descriptions: readonly Description[]) {
    this.paces = descriptions.map(({ pace }) => pace)
    this.heads = descriptions.map(({ remainingItem }, i) => (i === 0 ? remainingItem : `, ${remainingItem}`))
    this.policies = descriptions.map(({ policyItem }) => policyItem).join(', ')
  }

  /** Whether every limit is among them, and none as a shadow. */
  fit(decision: ChargedDecision): boolean {
    return decision.charges.length === this.heads.length && !decision.hasShadows
  }

  of(charges: Charges): readonly string[] {
    const { heads, paces, shown } = this
    let limits = ''
    for (let i = 0; i < charges.length; i++) {
      shown.charge = charges[i]!
      limits += limitItem(heads[i]!, paces[i]!, shown, shown.charge.at / TICKS_PER_MS)
    }
    return ['RateLimit', inOnePiece(limits), 'RateLimit-Policy', this.policies]
  }
}

/**
 * A text put together is kept in its pieces until somebody reads into it. Node tests every value of a header with a regular
 * expression, which takes a long way round through pieces; one character read before makes one text of them.
 */
function inOnePiece(text: string): string {
  return text.charCodeAt(0) === 0 ? '' : text
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
