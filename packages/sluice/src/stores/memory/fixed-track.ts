import { decide, describe, type FixedRule, wholeAt } from '../../algorithms/fixed-window.ts'
import type { Verdict } from '../../algorithms/verdict.ts'
import type { Passage } from '../lane.ts'
import { Track } from './track.ts'

/** A fixed window among several limits. Its numbers are the count and the tick the window ends. */
export class FixedTrack extends Track<FixedRule> {
  readonly width = 2

  /** The next window is opened the long way: once a window, and where it ends may be a question to a calendar. */
  judge(now: number, numbers: number[]): boolean | undefined {
    const { at, first } = this
    const { cells } = this.segment
    const count = cells[at]!
    const endAt = cells[at + 1]!
    if (now >= endAt) return undefined
    numbers[first] = count
    numbers[first + 1] = endAt
    return count + 1 <= this.rule.limit
  }

  take(_now: number, numbers: number[]): void {
    const { first } = this
    const count = numbers[first]! + 1
    numbers[first] = count
    this.segment.cells[this.at] = count
  }

  resetAt({ tick, used }: Passage<readonly number[]>): number {
    return wholeAt(used[this.first]!, used[this.first + 1]!, tick)
  }

  tell({ receipt, tick, used }: Passage<readonly number[]>, out: Verdict): void {
    const count = used[this.first]!
    const endAt = used[this.first + 1]!
    decide(count, endAt, this.rule, receipt > 0 ? 0 : 1, out)
    describe(count, endAt, tick, out)
  }
}
