import type { Charge } from '../stores/charge.ts'
import type { Intent, Question } from '../stores/store.ts'
import { ChargedDecision } from './charged-decision.ts'
import type { Outage } from './outage.ts'

/** What a limiter asks of a store that answers later, and the promise made to whoever asked the limiter. */
export class Asking implements Question {
  readonly charges: readonly Charge[]
  readonly intent: Intent
  private readonly outage: Outage
  private readonly resolve: (decision: ChargedDecision) => void
  private readonly reject: (error: unknown) => void

  constructor(
    charges: readonly Charge[],
    intent: Intent,
    outage: Outage,
    resolve: (decision: ChargedDecision) => void,
    reject: (error: unknown) => void,
  ) {
    this.charges = charges
    this.intent = intent
    this.outage = outage
    this.resolve = resolve
    this.reject = reject
  }

  done(): void {
    try {
      this.resolve(new ChargedDecision(this.outage.settled(this.charges, this.intent)))
    } catch (error) {
      this.reject(error) // a hook of the user's: nobody else's answer must suffer from it
    }
  }
}
