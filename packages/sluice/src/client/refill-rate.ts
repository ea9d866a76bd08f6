/** Resets are told in whole seconds; a smaller change may be rounding. */
const ROUNDING_MS = 1500

/**
 * Finds out whether a limit refills steadily, as a bucket does, and how fast. Servers tell the reset of a bucket as the time
 * until it is full, or as how long the rest has to last. Either way that time changes with every request. The reset of a
 * window stands still, and that of a log moves with the clock. So a time to the reset that changes by more than the clock
 * explains is that of a bucket.
 */
export class RefillRate {
  private isBucket = false
  private trusted = true
  private firstWaitMs = NaN
  private firstAt = 0

  /** Milliseconds until one more, where that is known to be sooner than the reset. */
  hear(
    limit: number | undefined,
    remaining: number,
    waitMs: number,
    now: number,
    windowMs: number | undefined,
  ): number | undefined {
    if (!this.trusted || limit === undefined || limit === 0) return undefined
    if (Number.isNaN(this.firstWaitMs) || now - this.firstAt > this.firstWaitMs) {
      this.firstWaitMs = waitMs
      this.firstAt = now
    }
    const grown = waitMs - this.firstWaitMs
    if (grown > ROUNDING_MS || grown < -(now - this.firstAt) - ROUNDING_MS) this.isBucket = true
    if (!this.isBucket) return undefined
    // Both are rounded so that the bucket is thought slower than it is.
    if (windowMs !== undefined) return windowMs / limit
    return grown > 0 ? waitMs / Math.max(1, limit - remaining) : undefined
  }

  /** The server refused: it does not refill as was thought, or others use it up. */
  distrust(): void {
    if (this.isBucket) this.trusted = false
  }
}
