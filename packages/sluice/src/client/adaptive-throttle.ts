import { CallRefused } from './call-refused.ts'

export interface AdaptiveThrottleOptions {
  /** Sends at most `k` times as many calls as the server accepts. 2 by default: half of them may be refused. */
  k?: number
}

const WINDOW_MS = 120_000

/**
 * Client-side throttling as in the SRE book (Handling Overload): a call fails here, without being sent, with
 * probability max(0, (requests − k × accepts) / (requests + 1)). Both count the last two minutes; older ones fade.
 */
export class AdaptiveThrottle {
  private readonly k: number
  private readonly random: () => number
  private requests = 0
  private accepts = 0
  private at = 0

  constructor(k: number, random: () => number) {
    this.k = k
    this.random = random
  }

  /** Throws if the call should not be sent. */
  check(now: number): void {
    this.fade(now)
    this.requests++
    const before = this.requests - 1
    const share = Math.max(0, (before - this.k * this.accepts) / (before + 1))
    if (this.random() >= share) return
    const message = `the server refuses most calls: one of every ${(1 / share).toPrecision(2)} is not sent, and this was one`
    throw new CallRefused('SLUICE_THROTTLED', message, 0)
  }

  accepted(now: number): void {
    this.fade(now)
    this.accepts++
  }

  private fade(now: number): void {
    const factor = Math.exp(-Math.max(0, now - this.at) / WINDOW_MS)
    this.at = now
    this.requests *= factor
    this.accepts *= factor
  }
}
