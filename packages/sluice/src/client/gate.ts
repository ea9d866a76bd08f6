import { after, type Clock } from '../clock.ts'
import { type CallRefused, tooLong } from './call-refused.ts'
import type { RateLimitInfo } from './read-rate-limit.ts'
import { RefillRate } from './refill-rate.ts'

/** Someone who waits to be let through. */
interface Waiter {
  /** Epoch milliseconds: it would rather fail at once than start later. */
  readonly latest: number
  enter(pass: Pass): void
  refuse(error: CallRefused): void
}

/** A request that was let through, until its answer has come. */
export interface Pass {
  /** Limits are told anew after every reset: what an older request hears of them is out of date. */
  readonly period: number
}

/** The first request after a reset says what is left. The others wait for its answer, but not longer than this. */
const PROBE_MS = 1000

/**
 * Lets requests through as far as the server has said there is room, and holds all others, first come first served. What
 * one request hears counts for all: a refusal pauses the queue, not one call.
 *
 * `left` is never too high: it counts down with every request sent, and an answer can only lower it, because what is
 * still under way may not be counted in it yet. It rises when nothing is under way, or after a reset.
 */
export class Gate {
  private readonly clock: Clock
  private readonly waiters = new Set<Waiter>()
  private readonly refill = new RefillRate()
  private left = Infinity
  /** The least that was told since nothing was under way. */
  private lowest = Infinity
  /** What is told of the limit holds until then. */
  private resetAt = Infinity
  private closedUntil = 0
  private underWay = 0
  private period = 0
  /** After a reset one request asks what is left: it is wanted, then out. */
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

  /** A pass if there is room now and nobody waits. */
  tryEnter(): Pass | undefined {
    return this.waiters.size === 0 && this.hasRoom(this.clock.now()) ? this.take() : undefined
  }

  /** How long it will be at least, by what is known now. */
  get waitMs(): number {
    return Math.max(0, this.opensAt() - this.clock.now())
  }

  /** Waits for room; refused as soon as it is known that there is none before `latest`. */
  enter(latest: number, signal: AbortSignal | undefined): Promise<Pass> {
    if (signal?.aborted) return Promise.reject(signal.reason)
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.waiters.delete(waiter)
        reject(signal!.reason)
      }
      const settle = () => signal?.removeEventListener('abort', leave)
      const waiter: Waiter = {
        latest,
        enter: pass => {
          settle()
          resolve(pass)
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

  /** The request came to its end, with or without an answer. */
  leave({ period }: Pass, info: RateLimitInfo | undefined): void {
    this.underWay--
    const now = this.clock.now()
    this.startPeriod(now)
    if (period === this.period) {
      this.probe = 'none'
      if (info !== undefined) this.hear(info, now)
    }
    if (this.underWay === 0 && this.lowest !== Infinity) {
      this.left = this.lowest
      this.lowest = Infinity
      // A bucket that is empty has one more long before it is full.
      if (this.left < 1) this.resetAt = Math.min(this.resetAt, now + (this.refill.unitMs ?? Infinity))
    }
    this.serve()
  }

  /** A pass for a request that is under way already. */
  join(): Pass {
    this.underWay++
    return { period: this.period }
  }

  /** Nobody passes before `until`. */
  close(until: number): void {
    this.refill.distrust()
    this.closedUntil = Math.max(this.closedUntil, until)
    this.serve()
  }

  private hear({ limit, remaining, resetAt }: RateLimitInfo, now: number): void {
    // Without a time there is nothing to wait for: such a limit is left to the server.
    if (remaining === undefined || resetAt === undefined || resetAt <= now) return
    this.refill.hear(limit, remaining, resetAt - now)
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

  private take(): Pass {
    if (this.probe === 'wanted') {
      this.probe = 'out'
      this.probedUntil = this.clock.now() + PROBE_MS
    }
    this.left--
    this.underWay++
    return { period: this.period }
  }

  /** After a reset nothing is known but that there is something: one request asks. */
  private startPeriod(now: number): void {
    if (now < this.resetAt) return
    this.resetAt = Infinity
    this.lowest = Infinity
    this.left = Infinity
    this.probe = 'wanted'
    this.period++
  }

  /** When the next may pass, as far as is known. */
  private opensAt(): number {
    const room = this.probe === 'out' ? this.probedUntil : this.left >= 1 ? 0 : this.resetAt
    return Math.max(this.closedUntil, room)
  }

  private serve(): void {
    const now = this.clock.now()
    for (const waiter of this.waiters) {
      if (!this.hasRoom(now)) break
      this.waiters.delete(waiter)
      waiter.enter(this.take())
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
