import { type Charge, ENFORCED } from '../stores/charge.ts'
import { limitOf } from './charged-decision.ts'
import { TopKeys } from './top-keys.ts'

/** What would change if a shadow limit were enforced, counted since the limiter was made. */
export interface ShadowState {
  readonly limit: string
  /** Decisions this limit took part in. */
  readonly decided: number
  /** Requests that passed and would have been refused. */
  readonly newlyRefused: number
  /** Requests that only the replaced limit refused, and that would have passed. */
  readonly newlyAllowed: number
  /**
   * The keys that would newly be refused most, in that order. The list is bounded, so a count may be too high by up to
   * `over`.
   */
  readonly top: readonly { readonly key: string; readonly count: number; readonly over: number }[]
}

/** Compares each decision with the one the shadows would have made. Keys are what the limit's `key` returned. */
export class ShadowReport {
  private readonly trials = new Map<string, Trial>()

  record(charges: readonly Charge[]): void {
    let refused = -1
    for (const charge of charges) {
      if (charge.role === ENFORCED || charge.outage !== undefined) continue
      if (refused < 0) refused = countRefused(charges)
      this.trialOf(limitOf(charge).name).record(charge, charges, refused)
    }
  }

  read(): ShadowState[] {
    return [...this.trials].map(([limit, { decided, newlyRefused, newlyAllowed, top }]) => ({
      limit,
      decided,
      newlyRefused,
      newlyAllowed,
      top: top.read(),
    }))
  }

  private trialOf(limit: string): Trial {
    let trial = this.trials.get(limit)
    if (trial === undefined) {
      trial = new Trial()
      this.trials.set(limit, trial)
    }
    return trial
  }
}

class Trial {
  decided = 0
  newlyRefused = 0
  newlyAllowed = 0
  readonly top = new TopKeys(MOST_SHOWN)

  record(charge: Charge, charges: readonly Charge[], refused: number): void {
    this.decided++
    const replaced = charge.role >= 0 && !charges[charge.role]!.allowed ? 1 : 0
    if (refused === 0 && !charge.allowed) {
      this.newlyRefused++
      this.top.add(charge.key)
    } else if (replaced === 1 && refused === 1 && charge.allowed) this.newlyAllowed++
  }
}

const MOST_SHOWN = 32

function countRefused(charges: readonly Charge[]): number {
  let refused = 0
  for (const charge of charges) if (charge.role === ENFORCED && !charge.allowed) refused++
  return refused
}
