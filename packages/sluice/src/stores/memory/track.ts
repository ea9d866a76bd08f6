import type { Rule } from '../../algorithms/rule.ts'
import type { Units, Verdict } from '../../algorithms/verdict.ts'
import type { Passage } from '../lane.ts'
import type { Limit } from '../store.ts'
import type { KeyTable, Segment } from './key-table.ts'
import type { MemorySpace } from './memory-space.ts'

/**
 * One limit's part in a shared lane: its kernel's arithmetic on the cells of a key that is here. A request goes `judge`,
 * and `take` if it passes everywhere; what is counted then stands among the numbers of the lane.
 */
export abstract class Track<R extends Rule = Rule> {
  readonly limit: Limit
  readonly rule: R
  /** Of the rule: rules have a shape for each kind, and these have one for all. */
  readonly units: Units
  readonly space: MemorySpace
  readonly table: KeyTable
  /** Where its numbers begin. The first is what is counted, in units of the rule. */
  readonly first: number
  /** The key last sought, and its hash: a limit without keys has always the same, and a caller often comes again at once. */
  key = ''
  hi = 0
  lo = 0
  /** Where the key of the request under way stands: less than 0 where it does not. */
  segment: Segment
  at = -1
  /** How many numbers it has. */
  abstract readonly width: number

  constructor(limit: Limit, rule: R, first: number) {
    this.limit = limit
    this.rule = rule
    this.units = { limit: rule.limit, perRequest: rule.perRequest }
    this.space = limit.space as MemorySpace
    this.table = this.space.ledger(rule).keys.table
    this.segment = this.table.segment
    this.first = first
  }

  /** Whether one more passes; undefined where it takes more than arithmetic to tell. */
  abstract judge(now: number, numbers: number[]): boolean | undefined
  abstract take(now: number, numbers: number[]): void
  /** In place of `take`, where a limit refuses: for numbers that only then have to be found. */
  leave(_now: number, _numbers: number[]): void {}
  /** When nothing is counted any more, from the numbers of a request. */
  abstract resetAt(passage: Passage<readonly number[]>): number
  /** The verdict on a request, from its numbers. */
  abstract tell(passage: Passage<readonly number[]>, out: Verdict): void
}
