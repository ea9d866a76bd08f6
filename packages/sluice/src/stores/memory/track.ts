import type { Rule } from '../../algorithms/rule.ts'
import type { Verdict } from '../../algorithms/verdict.ts'
import type { Passage } from '../lane.ts'
import type { Limit } from '../store.ts'
import type { KeyTable, Segment } from './key-table.ts'
import type { MemorySpace } from './memory-space.ts'

/**
 * One limit's part in a shared lane: its kernel's arithmetic on the cells of a key that is here. A request goes `judge`,
 * and `take` if it passes everywhere; what is counted then stands among the numbers of the lane.
 */
export interface Track {
  readonly limit: Limit
  readonly rule: Rule
  readonly space: MemorySpace
  readonly table: KeyTable
  /** Where its numbers begin, and how many there are. The first is what is counted, in units of the rule. */
  readonly first: number
  readonly width: number
  /** The key last sought, and its hash: a limit without keys has always the same, and a caller often comes again at once. */
  key: string
  hi: number
  lo: number
  /** Where the key of the request under way stands: less than 0 where it does not. */
  segment: Segment
  at: number
  /** Whether one more passes; undefined where it takes more than arithmetic to tell. */
  judge(now: number, numbers: number[]): boolean | undefined
  take(now: number, numbers: number[]): void
  /** The verdict on a request, from its numbers. */
  tell(passage: Passage<readonly number[]>, out: Verdict): void
}
