import { Charge, ENFORCED } from '../charge.ts'
import type { LoneLane, Passage } from '../lane.ts'
import type { Limit, Rule } from '../store.ts'

/** The lane of a limit that has no faster way: the charge is made at once, and decided like any other. */
export class ChargeLane implements LoneLane {
  receipt = 0
  readonly tick = 0
  readonly used = 0
  charges: readonly Charge[] = []
  readonly limit: Limit
  readonly rule: Rule
  private readonly decide: (charge: Charge) => void

  constructor(limit: Limit, rule: Rule, decide: (charge: Charge) => void) {
    this.limit = limit
    this.rule = rule
    this.decide = decide
  }

  take(key: string): void {
    const charge = new Charge(this.limit, this.rule, key, 1, ENFORCED)
    this.decide(charge)
    this.receipt = charge.receipt
    this.charges = [charge]
  }

  chargesOf(_key: string, passage: Passage<number>): readonly Charge[] {
    return passage.charges!
  }

  remainingOf(_index: number, passage: Passage<number>): number {
    return passage.charges![0]!.remaining
  }

  resetAtOf(_index: number, passage: Passage<number>): number {
    return passage.charges![0]!.resetAt
  }
}
