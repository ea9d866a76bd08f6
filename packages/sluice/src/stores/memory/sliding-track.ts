import { add, outAt, type SlidingRule, used, wholeAt } from '../../algorithms/sliding-window.ts'
import type { Verdict } from '../../algorithms/verdict.ts'
import type { Passage } from '../lane.ts'
import { Track } from './track.ts'

/** A sliding window among several limits. Its numbers are the count and the tick at which nothing is counted any more. */
export class SlidingTrack extends Track<SlidingRule> {
  readonly width = 2

  /** A refusal goes the long way: when one more passes again takes all of the counts to tell. */
  judge(now: number, numbers: number[]): boolean | undefined {
    const { at, first, rule } = this
    const { cells } = this.segment
    const count = used(cells, at, rule, now)
    if (count + 1 > rule.limit) return undefined
    numbers[first] = count
    return true
  }

  take(now: number, numbers: number[]): void {
    const { at, first, rule } = this
    numbers[first] = numbers[first]! + 1
    numbers[first + 1] = outAt(rule, add(this.segment.cells, at, rule, now, 1))
  }

  override leave(now: number, numbers: number[]): void {
    const { at, first, rule } = this
    numbers[first + 1] = Math.max(now, wholeAt(this.segment.cells, at, rule))
  }

  resetAt({ used: numbers }: Passage<readonly number[]>): number {
    return numbers[this.first + 1]!
  }

  tell({ used: numbers }: Passage<readonly number[]>, out: Verdict): void {
    out.allowed = true
    out.retryAt = 0
    out.used = numbers[this.first]!
    out.resetAt = numbers[this.first + 1]!
  }
}
