import type { KeyHash } from '../../hash.ts'
import type { Charge } from '../charge.ts'
import type { Keys, Passage, SharedLane } from '../lane.ts'
import type { BucketLane } from './bucket-lane.ts'

/**
 * The lane of one bucket for those who ask for that of several limits: there is one key, by itself or in an array. A guard
 * with one limit asks so, and judging several side by side would cost it more. Who asks a server once often asks again
 * at once, so the hash of the last key is kept.
 */
export class OneLane implements SharedLane {
  private readonly lane: BucketLane
  private readonly hash: KeyHash

  constructor(lane: BucketLane, hash: KeyHash) {
    this.lane = lane
    this.hash = hash
  }

  get receipt(): number {
    return this.lane.receipt
  }

  get tick(): number {
    return this.lane.tick
  }

  get used(): number {
    return this.lane.used
  }

  get charges(): readonly Charge[] | undefined {
    return this.lane.charges
  }

  copyOfUsed(): number {
    return this.lane.used
  }

  take(keys: Keys): void {
    const { hash, lane } = this
    const key = theOne(keys)
    hash.ofSame(key)
    lane.hashed(key, hash.hi, hash.lo)
  }

  chargesOf(keys: Keys, passage: Passage<number>): readonly Charge[] {
    return this.lane.chargesOf(theOne(keys), passage)
  }

  remainingOf(index: number, passage: Passage<number>): number {
    return this.lane.remainingOf(index, passage)
  }

  resetAtOf(index: number, passage: Passage<number>): number {
    return this.lane.resetAtOf(index, passage)
  }
}

function theOne(keys: Keys): string {
  return typeof keys === 'string' ? keys : keys[0]!
}
