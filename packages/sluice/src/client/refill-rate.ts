/** Resets are told in whole seconds, rounded up. */
const ROUNDING_MS = 1250
/** Answers take some time to arrive, and until then the reset comes nearer. */
const TRAVEL_MS = 1000
/** A reset that moved less than this may not have moved at all. */
const MOVED_MS = 1500

/**
 * Finds out whether a limit refills steadily, as a bucket does, and how fast. Servers tell the reset of a bucket as the
 * time until it is full, or as how long the rest has to last. Either way it is a count times the time that one unit takes,
 * rounded up. The reset of a window is neither: the bounds it puts on that time contradict each other.
 */
export class RefillRate {
  private readonly untilFull = new UnitTime()
  private readonly restLasts = new UnitTime()
  private shortestMs = Infinity
  private longestMs = 0

  hear(limit: number | undefined, remaining: number, waitMs: number): void {
    // With nothing left, servers tell something else: when there will be one more.
    if (limit === undefined || remaining === 0) return
    this.untilFull.hear(limit - remaining, waitMs)
    this.restLasts.hear(remaining, waitMs)
    this.shortestMs = Math.min(this.shortestMs, waitMs)
    this.longestMs = Math.max(this.longestMs, waitMs)
  }

  /** The longest that one more can take, where the limit is a bucket; undefined where it is not, or is not known. */
  get unitMs(): number | undefined {
    if (this.longestMs - this.shortestMs < MOVED_MS) return undefined
    return this.untilFull.highest ?? this.restLasts.highest
  }

  /** The server refused: it does not refill as was thought, or others use it up. */
  distrust(): void {
    this.untilFull.giveUp()
    this.restLasts.giveUp()
  }
}

/** Bounds on the milliseconds that one unit takes, if `waitMs` is a count of units in time. */
class UnitTime {
  private low = 0
  private high = Infinity

  hear(count: number, waitMs: number): void {
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
