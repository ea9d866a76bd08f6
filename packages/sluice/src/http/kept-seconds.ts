import type { SharedLane } from '../limiter/open-lanes.ts'
import { type Pace, ticksToFree } from './headers/pace.ts'
import { secondsOfTicks } from './headers/seconds.ts'
import { NO_TIME } from './kept-text.ts'

const TICKS_PER_SECOND = 1_000_000
/** Thirty years: up to here no rounding of doubles can come between ticks and whole seconds. */
const MOST_KEPT_SECONDS = 1e9

/** What has passed in a lane, as far as it is asked when it resets. */
type Resetting = Pick<SharedLane, 'tick' | 'resetAtOf'>

/**
 * `effectiveSeconds` of one limit for those who passed and have something left. The answer is the same for most of a second,
 * and to divide is the slowest part of finding it: so it is kept, with the ticks it holds for.
 */
export class KeptSeconds {
  private readonly pace: Pace
  /** Of sub-windows: the tick at which the one ends that was asked for last. */
  private subEnd = 0
  /** What was answered last, for more than `above` ticks and up to `upTo`. */
  private seconds = 0
  private above = 0
  private upTo = 0

  constructor(pace: Pace) {
    this.pace = pace
  }

  of(remaining: number, lane: Resetting, index: number): number {
    const { pace } = this
    switch (pace.frees) {
      case 'steadily':
        return this.up(ticksToFree(remaining, pace))
      case 'by sub-window':
        return this.up(this.ticksToNext(lane.tick))
      case 'at the reset':
        return this.up(lane.resetAtOf(index, lane as SharedLane) - lane.tick)
      default:
        return NO_TIME
    }
  }

  /** Sub-windows start at the Unix epoch. */
  private ticksToNext(now: number): number {
    const { ticks } = this.pace
    if (now >= this.subEnd || now < this.subEnd - ticks) this.subEnd = (Math.floor(now / ticks) + 1) * ticks
    return this.subEnd - now
  }

  private up(ticks: number): number {
    return ticks > this.above && ticks <= this.upTo ? this.seconds : this.moveTo(ticks)
  }

  private moveTo(ticks: number): number {
    const seconds = secondsOfTicks(ticks)
    this.seconds = seconds
    this.upTo = seconds <= MOST_KEPT_SECONDS ? seconds * TICKS_PER_SECOND : -Infinity
    this.above = this.upTo - TICKS_PER_SECOND
    return seconds
  }
}
