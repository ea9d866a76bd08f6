import type { Charge } from '../charge.ts'
import type { LoneLane, Passage, SharedLane } from '../lane.ts'

/**
 * The lane of one limit for those who ask for that of several: there is one key, by itself or in an array. A guard with
 * one limit asks so, and judging several side by side would cost it half as much again.
 */
export class OneLane implements SharedLane {
  private readonly lane: LoneLane

  constructor(lane: LoneLane) {
    this.lane = lane
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

  take(keys: string | readonly string[]): void {
    this.lane.take(theOne(keys))
  }

  chargesOf(keys: string | readonly string[], passage: Passage<number>): readonly Charge[] {
    return this.lane.chargesOf(theOne(keys), passage)
  }

  remainingOf(index: number, passage: Passage<number>): number {
    return this.lane.remainingOf(index, passage)
  }

  resetAtOf(index: number, passage: Passage<number>): number {
    return this.lane.resetAtOf(index, passage)
  }
}

function theOne(keys: string | readonly string[]): string {
  return typeof keys === 'string' ? keys : keys[0]!
}
