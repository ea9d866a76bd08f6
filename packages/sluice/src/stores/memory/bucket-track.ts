import { type BucketRule, decide, describe, dryAt, highestFor } from '../../algorithms/bucket.ts'
import type { Verdict } from '../../algorithms/verdict.ts'
import type { Passage } from '../lane.ts'
import type { Limit } from '../store.ts'
import { FAR } from './bucket-ledger.ts'
import { Track } from './track.ts'

/** A bucket among several limits. Its number is the level. */
export class BucketTrack extends Track<BucketRule> {
  readonly width = 1
  /** Of the rule: read from there, the engine would have to look each time what kind of number each is. */
  private readonly perTick: number
  private readonly perRequest: number
  private readonly highest: number

  constructor(limit: Limit, rule: BucketRule, first: number) {
    super(limit, rule, first)
    this.perTick = rule.perTick
    this.perRequest = rule.perRequest
    this.highest = highestFor(1, rule)
  }

  judge(now: number, numbers: number[]): boolean | undefined {
    const { segment } = this
    const units = (now - segment.origin) * this.perTick
    if (units >= FAR) return undefined
    let level = segment.cells[this.at]! - units
    if (level < 0) level = 0
    numbers[this.first] = level
    return level <= this.highest
  }

  take(now: number, numbers: number[]): void {
    const { segment, first } = this
    const level = numbers[first]! + this.perRequest
    numbers[first] = level
    segment.cells[this.at] = (now - segment.origin) * this.perTick + level
  }

  resetAt({ tick, used }: Passage<readonly number[]>): number {
    return dryAt(used[this.first]!, this.rule, tick)
  }

  tell({ receipt, tick, used }: Passage<readonly number[]>, out: Verdict): void {
    const level = used[this.first]!
    // What was not taken is judged again on the level it found.
    decide(level, this.rule, tick, receipt > 0 ? 0 : 1, out)
    describe(level, this.rule, tick, out)
  }
}
