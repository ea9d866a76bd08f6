/** Servers round the reset up to whole seconds. */
const ROUNDING_MS = 1250
/** While an answer travels, the reset comes nearer. */
const TRAVEL_MS = 1000
/** A reset that moved less than this may not have moved at all. */
const MOVED_MS = 1500

/**
 * Finds out whether a limit refills steadily, as a bucket does, and how fast. Many servers send the time until a bucket is
 * full: the number of units that were taken, times the time per unit, rounded up. Any other reset, such as that of a window
 * or the time until one more unit, contradicts this sooner or later.
 */
export class RefillRate {
  private readonly untilFull = new UnitTime()
  private shortestMs = Infinity
  private longestMs = 0

  observe(limit: number | undefined, remaining: number, waitMs: number): void {
    if (limit === undefined) return
    this.untilFull.observe(limit - remaining, waitMs)
    this.shortestMs = Math.min(this.shortestMs, waitMs)
    this.longestMs = Math.max(this.longestMs, waitMs)
  }

  /** The longest that one more unit can take; undefined if the limit is not a bucket, or not known to be one. */
  get unitMs(): number | undefined {
    return this.longestMs - this.shortestMs < MOVED_MS ? undefined : this.untilFull.highest
  }

  /** The server refused, so the estimate is wrong or other clients use the limit too. */
  distrust(): void {
    this.untilFull.giveUp()
  }
}

/** Bounds on the milliseconds per unit, if `waitMs` is `count` times that. */
class UnitTime {
  private low = 0
  private high = Infinity

  observe(count: number, waitMs: number): void {
    if (count <= 0) return
    this.low = Math.max(this.low, (waitMs - ROUNDING_MS) / count)
    this.high = Math.min(this.high, (waitMs + TRAVEL_MS) / count)
  }

  get highest(): number | undefined {
    return this.low <= this.high && this.high < Infinity ? this.high : undefined
  }

  giveUp(): void {
    this.low = Infinity
  }
}
