import { add, type SlidingRule, used, wholeAt } from '../../algorithms/sliding-window.ts'
import type { Verdict } from '../../algorithms/verdict.ts'
import type { Passage } from '../lane.ts'
import type { Limit } from '../store.ts'
import type { KeyTable, Segment } from './key-table.ts'
import type { MemorySpace } from './memory-space.ts'
import type { Track } from './track.ts'

/** A sliding window among several limits. Its numbers are the count and the tick at which nothing is counted any more. */
export class SlidingTrack implements Track {
  key = ''
  hi = 0
  lo = 0
  segment: Segment
  at = -1
  readonly limit: Limit
  readonly rule: SlidingRule
  readonly space: MemorySpace
  readonly table: KeyTable
  readonly first: number
  readonly width = 2

  constructor(limit: Limit, rule: SlidingRule, first: number) {
    this.limit = limit
    this.rule = rule
    this.space = limit.space as MemorySpace
    this.table = this.space.ledger(rule).keys.table
    this.segment = this.table.segmentOf(0)
    this.first = first
  }

  /** A refusal goes the long way: when one more passes again takes all of the counts to tell. */
  judge(now: number, numbers: number[]): boolean | undefined {
    const { at, first, rule } = this
    const { cells } = this.segment
    const count = used(cells, at, rule, now)
    if (count + 1 > rule.limit) return undefined
    numbers[first] = count
    numbers[first + 1] = Math.max(now, wholeAt(cells, at, rule))
    return true
  }

  take(now: number, numbers: number[]): void {
    const { at, first, rule } = this
    const { cells } = this.segment
    add(cells, at, rule, now, 1)
    numbers[first] = numbers[first]! + 1
    numbers[first + 1] = wholeAt(cells, at, rule)
  }

  tell({ used: numbers }: Passage<readonly number[]>, out: Verdict): void {
    out.allowed = true
    out.retryAt = 0
    out.used = numbers[this.first]!
    out.resetAt = numbers[this.first + 1]!
  }
}
