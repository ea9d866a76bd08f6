import { type Clock, systemClock, TICKS_PER_MS, toTicks } from '../../../clock.ts'

/**
 * The server's clock as seen from here. It only says until when an answer is waited for and how long to wait for one:
 * no decision of the server's is made by it.
 */
export class ServerClock implements Clock {
  /** How far the server is ahead of us, in ticks. */
  private ahead: number | undefined
  /** Read while nothing is known of this server: the clocks of one cluster are seldom far apart. */
  private readonly neighbour: ServerClock | undefined

  constructor(neighbour?: ServerClock) {
    this.ahead = undefined
    this.neighbour = neighbour
  }

  /** Our own time, in ticks. */
  here(): number {
    return toTicks(systemClock.now())
  }

  now(): number {
    return systemClock.now() + this.lead / TICKS_PER_MS
  }

  /**
   * The server said it was `at` in answer to what was sent at our `sentAt`: some time between then and now. What was
   * believed stays if it lies between; so an answer long in coming, which says little, changes nothing.
   */
  observe(sentAt: number, at: number): void {
    const most = at - sentAt
    const least = at - this.here()
    if (this.ahead === undefined || this.ahead > most) this.ahead = most
    else if (this.ahead < least) this.ahead = least
  }

  get isKnown(): boolean {
    return this.ahead !== undefined || this.neighbour?.isKnown === true
  }

  private get lead(): number {
    return this.ahead ?? this.neighbour?.lead ?? 0
  }

  /** The server's tick when ours is `here`: the same, while nothing is known. */
  there(here: number): number {
    return Math.ceil(here + this.lead)
  }
}
