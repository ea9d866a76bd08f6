import { Charge, ENFORCED, type Entry, type Lane, type Limit, type Rule } from '../store.ts'

/** The lane of a limit that has no faster way: the charge is made at once, and decided like any other. */
export class ChargeLane implements Lane {
  readonly limit: Limit
  private readonly rule: Rule
  private readonly decide: (charge: Charge) => void

  constructor(limit: Limit, rule: Rule, decide: (charge: Charge) => void) {
    this.limit = limit
    this.rule = rule
    this.decide = decide
  }

  take(entry: Entry): void {
    const charge = new Charge(this.limit, this.rule, entry.key, 1, ENFORCED)
    this.decide(charge)
    entry.receipt = charge.receipt
    entry.charge = charge
  }

  chargeOf(entry: Entry): Charge {
    return entry.charge!
  }
}
