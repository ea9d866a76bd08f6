import { after, type Clock } from '../clock.ts'
import { type CallRefused, tooLong } from './call-refused.ts'
import type { RateLimitInfo } from './fields/rate-limit-info.ts'
import { RefillRate } from './refill-rate.ts'

/** A request that waits for a permit. */
interface HeldRequest {
  /** Epoch milliseconds: the request fails at once if it cannot start by then. */
  readonly latest: number
  start(permit: Permit): void
  refuse(error: CallRefused): void
}

/** Lets one request through. It is given back when the answer has come. */
export interface Permit {
  /** Counts resets. An answer to a request from before the last reset says nothing about the limit now. */
  readonly period: number
}

/** After a reset, one request asks what is left. The others wait for its answer, but not longer than this. */
const PROBE_MS = 1000

/**
 * Lets through as many requests as the server said it would take, and holds the others in order. The answer to one request
 * holds for all of them: a refusal pauses the whole queue.
 *
 * `left` is never too high. Every request sent lowers it, and so can an answer; an answer cannot raise it, because the server
 * may not have counted the requests that are still under way. It rises when no request is under way, and after a reset.
 */
export class RequestQueue {
  private readonly clock: Clock
  private readonly waiters = new Set<HeldRequest>()
  private readonly refill = new RefillRate()
  private left = Infinity
  /** The lowest `remaining` in any answer since the queue last had no request under way. */
  private lowest = Infinity
  /** When the limit resets, epoch milliseconds. `left` is valid until then. */
  private resetAt = Infinity
  private closedUntil = 0
  private underWay = 0
  private period = 0
  /** After a reset one request asks what is left. `'wanted'`: the next one will; `'out'`: it is under way. */
  private probe: 'none' | 'wanted' | 'out' = 'none'
  private probedUntil = 0
  private cancelTimer: (() => void) | undefined
  private timerAt = Infinity
  /** Refusals in a row that did not say how long. */
  refusals = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  get isIdle(): boolean {
    return (
      this.underWay === 0 && this.waiters.size === 0 && Math.max(this.closedUntil, this.opensAt()) <= this.clock.now()
    )
  }

  get waiting(): number {
    return this.waiters.size
  }

  /** A permit if there is room now and no request waits. */
  tryAcquire(): Permit | undefined {
    return this.waiters.size === 0 && this.hasRoom(this.clock.now()) ? this.take() : undefined
  }

  /** How long the next request must wait, as far as is known now: it may have to wait longer. */
  get waitMs(): number {
    return Math.max(0, this.opensAt() - this.clock.now())
  }

  /** Waits for room. Rejects as soon as it is known that there will be none before `latest`. */
  acquire(latest: number, signal: AbortSignal | undefined): Promise<Permit> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.waiters.delete(waiter)
        reject(signal!.reason)
      }
      const settle = () => signal?.removeEventListener('abort', leave)
      const waiter: HeldRequest = {
        latest,
        start: permit => {
          settle()
          resolve(permit)
        },
        refuse: error => {
          settle()
          reject(error)
        },
      }
      signal?.addEventListener('abort', leave)
      this.waiters.add(waiter)
      this.serve()
    })
  }

  /** The request has ended; without an answer, `info` is undefined. */
  release({ period }: Permit, info: RateLimitInfo | undefined): void {
    this.underWay--
    const now = this.clock.now()
    this.startPeriod(now)
    if (period === this.period) {
      this.probe = 'none'
      if (info !== undefined) this.update(info, now)
    }
    if (this.underWay === 0 && this.lowest !== Infinity) {
      this.left = this.lowest
      this.lowest = Infinity
      // An empty bucket has one more long before it is full.
      if (this.left < 1) this.resetAt = Math.min(this.resetAt, now + (this.refill.unitMs ?? Infinity))
    }
    this.serve()
  }

  /** A permit for a request that is already under way. */
  admit(): Permit {
    this.underWay++
    return { period: this.period }
  }

  /** Lets no request through before `until`. */
  close(until: number): void {
    this.refill.distrust()
    this.closedUntil = Math.max(this.closedUntil, until)
    this.serve()
  }

  private update({ limit, remaining, resetAt }: RateLimitInfo, now: number): void {
    // Without a reset time the queue would not know how long to wait, so the server enforces such a limit alone.
    if (remaining === undefined || resetAt === undefined || resetAt <= now) return
    this.refill.observe(limit, remaining, resetAt - now)
    this.lowest = Math.min(this.lowest, remaining)
    this.left = Math.min(this.left, remaining - this.underWay)
    this.resetAt = resetAt
  }

  private hasRoom(now: number): boolean {
    this.startPeriod(now)
    if (now < this.closedUntil) return false
    if (this.probe === 'out') return now >= this.probedUntil
    return this.probe === 'wanted' || this.left >= 1
  }

  private take(): Permit {
    if (this.probe === 'wanted') {
      this.probe = 'out'
      this.probedUntil = this.clock.now() + PROBE_MS
    }
    this.left--
    this.underWay++
    return { period: this.period }
  }

  /** After a reset there is room, but it is not known how much: one request asks. */
  private startPeriod(now: number): void {
    if (now < this.resetAt) return
    this.resetAt = Infinity
    this.lowest = Infinity
    this.left = Infinity
    this.probe = 'wanted'
    this.period++
  }

  /** When the next request may start, by what is known now. */
  private opensAt(): number {
    const room = this.probe === 'out' ? this.probedUntil : this.left >= 1 ? 0 : this.resetAt
    return Math.max(this.closedUntil, room)
  }

  private serve(): void {
    const now = this.clock.now()
    for (const waiter of this.waiters) {
      if (!this.hasRoom(now)) break
      this.waiters.delete(waiter)
      waiter.start(this.take())
    }
    const opensAt = this.waiters.size === 0 ? Infinity : this.opensAt()
    if (opensAt < Infinity) this.refuseLate(opensAt, now)
    this.arm(this.waiters.size === 0 ? Infinity : opensAt)
  }

  private refuseLate(opensAt: number, now: number): void {
    for (const waiter of this.waiters) {
      if (waiter.latest >= opensAt) continue
      this.waiters.delete(waiter)
      waiter.refuse(tooLong(opensAt - now))
    }
  }

  private arm(at: number): void {
    if (at === this.timerAt) return
    this.cancelTimer?.()
    this.cancelTimer = undefined
    this.timerAt = at
    if (at === Infinity) return
    this.cancelTimer = after(this.clock, at - this.clock.now(), () => {
      this.timerAt = Infinity
      this.serve()
    })
  }
}
