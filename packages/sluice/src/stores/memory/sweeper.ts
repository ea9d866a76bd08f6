import type { StoreTime } from '../store-time.ts'
import type { KeyBudget } from './table/key-table.ts'

/** A table or list that the sweep visits. */
export interface Sweepable {
  /** Looks at a few slots and forgets idle keys. Returns true when it has looked at all of them. */
  sweep(slots: number, now: number): boolean
}

/**
 * After this many calls the sweep looks at this many slots. A few large steps read memory faster than many small ones.
 */
const CALLS_PER_SWEEP = 256
const SLOTS_PER_SWEEP = 64

/** Sweeps a store's tables a little every few calls, and reports when there is no more room. */
export class Sweeper {
  /** Tables to sweep, in turn. */
  readonly tables: Sweepable[] = []
  /** How often a key found no room. */
  overflowed = 0
  private callsLeft = 0
  private turn = 0
  private overflowing = false
  private reported = false
  private readonly budget: KeyBudget
  private readonly time: StoreTime
  private readonly report: () => void

  constructor(budget: KeyBudget, time: StoreTime, report: () => void) {
    this.budget = budget
    this.time = time
    this.report = report
  }

  /** Call this after every decision. */
  keep(): void {
    if (--this.callsLeft <= 0) this.sweep()
  }

  /** A key found no room. This is reported when the current call is done. */
  overflow(): void {
    this.overflowed++
    this.overflowing = true
    this.callsLeft = 0
  }

  /** A full store sweeps at every call, because it needs the room. */
  private sweep(): void {
    const { budget } = this
    this.callsLeft = budget.live >= budget.max ? 1 : CALLS_PER_SWEEP
    const table = this.tables[this.turn]
    if (table === undefined) this.turn = 0
    else if (table.sweep(SLOTS_PER_SWEEP, this.time.now)) this.turn++
    const report = this.overflowing && !this.reported
    this.reported = budget.live >= budget.max && (this.reported || this.overflowing)
    this.overflowing = false
    if (report) this.report()
  }
}
