import { type Clock, systemClock, TICKS_PER_MS, toTicks } from '../../../clock.ts'

/**
 * An estimate of the server's clock. It serves only to decide how long to wait for a reply; no decision about a limit
 * depends on it.
 */
export class ServerClock implements Clock {
  /** How far the server is ahead of this process, in ticks. */
  private ahead: number | undefined
  /** Used while this server's clock is unknown: the clocks of one cluster seldom differ much. */
  private readonly neighbour: ServerClock | undefined

  constructor(neighbour?: ServerClock) {
    this.ahead = undefined
    this.neighbour = neighbour
  }

  /** This process's time, in ticks. */
  here(): number {
    return toTicks(systemClock.now())
  }

  now(): number {
    return systemClock.now() + this.lead / TICKS_PER_MS
  }

  /**
   * The server's time was `at` at some moment between `sentAt` and now. An estimate within those bounds stays, so a
   * slow reply, which says little, changes nothing.
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

  /** The server's tick when this process's is `here`. They are equal while nothing is known. */
  there(here: number): number {
    return Math.ceil(here + this.lead)
  }
}
