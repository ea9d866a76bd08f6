import type { StoreTime } from '../store-time.ts'
import type { KeyBudget } from './key-table.ts'

/** Something the sweep goes round. */
export interface Sweepable {
  /** Looks at a few slots and forgets the idle; true when it has come round. */
  sweep(slots: number, now: number): boolean
}

/** Every so many calls, so many slots are looked at, in strides that the processor likes. */
const CALLS_PER_SWEEP = 256
const SLOTS_PER_SWEEP = 64

/** Sweeps a store's tables a little with every so many calls, and says when there is no more room. */
export class Sweeper {
  /** Sweepable tables, each in its turn. */
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

  /** To be called after every decision. */
  keep(): void {
    if (--this.callsLeft <= 0) this.sweep()
  }

  /** A key found no room: to be reported of when the call under way is done. */
  overflow(): void {
    this.overflowed++
    this.overflowing = true
    this.callsLeft = 0
  }

  /** A full store sweeps with every call: room is worth more then. */
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
