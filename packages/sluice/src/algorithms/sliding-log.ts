import { TICKS_PER_MS } from '../clock.ts'
import type { SlidingLogPolicy } from '../policy.ts'
import type { Verdict } from './verdict.ts'

/**
 * The exact log: the time of every request in the window. A window of `limit` needs at most `limit` times. They are in
 * a ring, oldest first; times a whole window old are dropped.
 */
export interface LogRule {
  readonly kind: 'log'
  readonly policy: SlidingLogPolicy
  readonly limit: number
  readonly perRequest: 1
  readonly windowTicks: number
  readonly shape: string
}

export function logRule(policy: SlidingLogPolicy): LogRule {
  const windowTicks = Math.round(policy.windowMs * TICKS_PER_MS)
  return { kind: 'log', policy, limit: policy.limit, perRequest: 1, windowTicks, shape: `log ${windowTicks}` }
}

const SMALLEST_RING = 4

/** The times of one key, in order. `times` doubles as it fills, up to the capacity it was asked for. */
export class Ring {
  private times: number[] = emptyTimes(SMALLEST_RING)
  /** The index of the oldest time. */
  private tail = 0
  count = 0

  /** The n-th oldest, from 0. */
  at(n: number): number {
    const place = this.tail + n
    return this.times[place < this.times.length ? place : place - this.times.length]!
  }

  /** How many times there is space for. */
  get capacity(): number {
    return this.times.length
  }

  get newest(): number {
    return this.count === 0 ? 0 : this.at(this.count - 1)
  }

  push(time: number, cost: number, atMost: number): void {
    if (this.count + cost > this.times.length) this.grow(this.count + cost, atMost)
    for (let n = 0; n < cost; n++) {
      const place = this.tail + this.count++
      this.times[place < this.times.length ? place : place - this.times.length] = time
    }
  }

  dropOldest(n: number): void {
    this.tail = (this.tail + n) % this.times.length
    this.count -= n
    // Frees the memory of a burst that ended long ago.
    if (this.count === 0 && this.times.length > SMALLEST_RING) this.times = emptyTimes(SMALLEST_RING)
    if (this.count === 0) this.tail = 0
  }

  copyFrom(other: Ring): void {
    this.times = emptyTimes(Math.max(SMALLEST_RING, other.count))
    for (let n = 0; n < other.count; n++) this.times[n] = other.at(n)
    this.tail = 0
    this.count = other.count
  }

  private grow(needed: number, atMost: number): void {
    const size = Math.max(needed, Math.min(atMost, this.times.length * 2))
    const times = emptyTimes(size)
    for (let n = 0; n < this.count; n++) times[n] = this.at(n)
    this.times = times
    this.tail = 0
  }
}

/** Filled with a fraction so that the engine stores raw doubles, eight bytes each, from the start. */
function emptyTimes(size: number): number[] {
  return new Array<number>(size).fill(0.5)
}

/**
 * Forgets times that have left the window. The search gallops: most calls look at one time, a long silence costs a few
 * steps more, and every time is passed once.
 */
export function expire(ring: Ring, rule: LogRule, now: number): void {
  const goneUpTo = now - rule.windowTicks
  if (ring.count === 0 || ring.at(0) > goneUpTo) return
  let gone = 1
  while (gone < ring.count && ring.at(Math.min(2 * gone, ring.count) - 1) <= goneUpTo)
    gone = Math.min(2 * gone, ring.count)
  let high = Math.min(2 * gone, ring.count)
  while (gone < high) {
    const middle = (gone + high + 1) >>> 1
    if (ring.at(middle - 1) <= goneUpTo) gone = middle
    else high = middle - 1
  }
  ring.dropOldest(gone)
}

/** `ring` must hold only live times: call `expire` first. */
export function decide(ring: Ring, rule: LogRule, cost: number, out: Verdict): void {
  const over = ring.count + cost - rule.limit
  out.allowed = over <= 0
  // `over` of the oldest times must leave, each a whole window after it came.
  out.retryAt = over <= 0 ? 0 : cost > rule.limit ? Infinity : ring.at(over - 1) + rule.windowTicks
}

export function describe(ring: Ring, rule: LogRule, now: number, out: Verdict): void {
  out.used = ring.count
  out.resetAt = ring.count === 0 ? now : ring.newest + rule.windowTicks
}

/** Takes back a charge: the oldest live times go. None goes if the charge itself has left the window. */
export function refund(ring: Ring, rule: LogRule, now: number, cost: number, chargedAt: number): void {
  if (now - chargedAt < rule.windowTicks) ring.dropOldest(Math.min(cost, ring.count))
}
