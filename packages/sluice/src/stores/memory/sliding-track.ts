import { mulDivCeil } from '../../algorithms/exact.ts'
import { add, indexOf, outAt, placeOf, type SlidingRule, used, wholeAt } from '../../algorithms/sliding-window.ts'
import type { Verdict } from '../../algorithms/verdict.ts'
import type { Passage } from '../lane.ts'
import { Track } from './track.ts'

/**
 * A sliding window among several limits. Its numbers are the count and the tick at which nothing is counted any more.
 *
 * Which sub-window it is, and where it and the oldest one stand, is the same for all keys and for as long as it lasts, and
 * takes several divisions to find: it is kept. A key that was last counted in an earlier one goes by the kernel.
 */
export class SlidingTrack extends Track<SlidingRule> {
  readonly width = 2
  private index = 0
  private startsAt = Infinity
  private endsAt = 0
  private outAt = 0
  /** From the cells of a key on: where the sub-window of now stands, and the oldest that is still partly inside. */
  private newest = 0
  private oldest = 0

  /** A refusal goes the long way: when one more passes again takes all of the counts to tell. */
  judge(now: number, numbers: number[]): boolean | undefined {
    const { at, first, rule } = this
    const { cells } = this.segment
    if (now < this.startsAt || now >= this.endsAt) this.moveTo(now)
    const count = cells[at] === this.index ? this.counted(cells, now) : used(cells, at, rule, now)
    if (count + 1 > rule.limit) return undefined
    numbers[first] = count
    return true
  }

  take(now: number, numbers: number[]): void {
    const { at, first, rule } = this
    const { cells } = this.segment
    numbers[first] = numbers[first]! + 1
    if (cells[at] === this.index) {
      cells[at + this.newest] = cells[at + this.newest]! + 1
      numbers[first + 1] = this.outAt
    } else numbers[first + 1] = outAt(rule, add(cells, at, rule, now, 1))
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

  /** All of the ring is of this window, where its newest count is of now: the oldest is weighed, the others are whole. */
  private counted(cells: Float64Array, now: number): number {
    const { at, rule } = this
    const oldest = cells[at + this.oldest]!
    let sum = -oldest
    for (let i = rule.buckets + 1; i > 0; i--) sum += cells[at + i]!
    return oldest === 0 ? sum : sum + mulDivCeil(oldest, this.endsAt - now, rule.subTicks)
  }

  private moveTo(now: number): void {
    const { rule } = this
    this.index = indexOf(rule, now)
    this.startsAt = this.index * rule.subTicks
    this.endsAt = this.startsAt + rule.subTicks
    this.outAt = outAt(rule, this.index)
    this.newest = placeOf(0, rule, this.index)
    this.oldest = placeOf(0, rule, this.index + 1) // where the next one will stand, which none stands in before the epoch
  }
}
