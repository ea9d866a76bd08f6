import { type Clock, systemClock, TICKS_PER_MS, toTicks } from '../../clock.ts'

const LONG_TICKS = 25_000

/**
 * The server's clock as seen from here. It only says until when an answer is waited for and how long to wait for one:
 * no decision is made by it.
 */
export class ServerClock implements Clock {
  /** How far the server is ahead of us, in ticks; never too little by more than it takes to get there. */
  private ahead: number | undefined

  /** Our own time, in ticks. */
  here(): number {
    return toTicks(systemClock.now())
  }

  now(): number {
    return systemClock.now() + (this.ahead ?? 0) / TICKS_PER_MS
  }

  /** The server said it was `at` in answer to what was sent at our `sentAt`; an answer long in coming says too little. */
  observe(sentAt: number, at: number): void {
    if (this.ahead !== undefined && this.here() - sentAt > LONG_TICKS) return
    // What it took to get there counts as being ahead, so the least is the truest; a clock that drifts is followed slowly.
    const seen = at - sentAt
    if (this.ahead === undefined || seen < this.ahead) this.ahead = seen
    else this.ahead += (seen - this.ahead) / 64
  }

  /** The server's clock has been set: what was known of it is worth nothing. */
  restart(): void {
    this.ahead = undefined
  }

  get isKnown(): boolean {
    return this.ahead !== undefined
  }

  /** The server's tick when ours is `here`: the same, while nothing is known. */
  there(here: number): number {
    return Math.ceil(here + (this.ahead ?? 0))
  }
}
