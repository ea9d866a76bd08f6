/** Servers round the reset up to whole seconds. */
const ROUNDING_MS = 1250
/** While an answer travels, the reset comes nearer. */
const TRAVEL_MS = 1000
/** A reset that moved less than this may not have moved at all. */
const MOVED_MS = 1500

/**
 * Finds out whether a limit refills steadily, as a bucket does, and how fast. As the reset of a bucket, servers send either the
 * time until it is full or how long the rest has to last. Both are a count times the time per unit, rounded up. The reset
 * of a window is neither, so the bounds it gives for the time per unit contradict each other.
 */
export class RefillRate {
  private readonly untilFull = new UnitTime()
  private readonly restLasts = new UnitTime()
  private shortestMs = Infinity
  private longestMs = 0

  observe(limit: number | undefined, remaining: number, waitMs: number): void {
    // With nothing left, servers send another time: when there will be one more.
    if (limit === undefined || remaining === 0) return
    this.untilFull.observe(limit - remaining, waitMs)
    this.restLasts.observe(remaining, waitMs)
    this.shortestMs = Math.min(this.shortestMs, waitMs)
    this.longestMs = Math.max(this.longestMs, waitMs)
  }

  /** The longest that one more unit can take; undefined if the limit is not a bucket, or not known to be one. */
  get unitMs(): number | undefined {
    if (this.longestMs - this.shortestMs < MOVED_MS) return undefined
    return this.untilFull.highest ?? this.restLasts.highest
  }

  /** The server refused, so the estimate is wrong or other clients use the limit too. */
  distrust(): void {
    this.untilFull.giveUp()
    this.restLasts.giveUp()
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
