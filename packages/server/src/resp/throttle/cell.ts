import { clamp, narrow } from '../integer.ts'
import type { ThrottleVerdict } from './throttle.ts'

/**
 * The arithmetic of CL.THROTTLE in whole nanoseconds. The state of a key is its theoretical arrival time. `ahead` is how far
 * that lies in the future, never less than 0. Each decision returns the new `ahead`.
 *
 * The library's bucket is the same algorithm but does not fit. It counts requests, so under another rate a key would keep
 * its requests; here it must keep its time. It also keeps the exact rate, where CL.THROTTLE cuts the interval to a whole
 * nanosecond.
 */
export function decide(
  ahead: number,
  interval: number,
  limit: number,
  quantity: number,
  verdict: ThrottleVerdict,
): number {
  const tolerance = interval * limit
  const increment = interval * quantity
  const after = Math.max(0, ahead + increment) // a refund never gives more than a full limit
  const excess = after - tolerance
  verdict.limited = excess > 0
  verdict.limit = limit
  const left = excess > 0 ? ahead : after
  const room = tolerance - left
  verdict.remaining = room > 0 ? Math.floor(room / interval) : 0
  verdict.retryAfter = excess > 0 && increment <= tolerance ? seconds(excess) : -1
  verdict.resetAfter = seconds(left)
  return left
}

/** Whether `decide` is exact for these numbers: every sum is exact if each term is at most this large. */
export function isExact(ahead: number, interval: number, limit: number, quantity: number): boolean {
  return ahead <= EXACT && Math.abs(interval * limit) <= EXACT && Math.abs(interval * quantity) <= EXACT
}

const EXACT = 2 ** 52

/** Whole seconds, rounded up if the rest is a millisecond or more. */
function seconds(ns: number): number {
  const whole = Math.floor(ns / 1e9)
  return ns - whole * 1e9 >= 1e6 ? whole + 1 : whole
}

/** The furthest that a key may be ahead: 146 years. Larger values are clamped. */
export const HORIZON = 2n ** 62n

/** The same for numbers of any size. */
export function decideLong(
  ahead: bigint,
  interval: bigint,
  limit: bigint,
  quantity: bigint,
  verdict: ThrottleVerdict,
): bigint {
  const wanted = interval * limit
  const tolerance = wanted < HORIZON ? wanted : HORIZON
  const increment = interval * quantity
  const sum = ahead + increment
  const after = sum > 0n ? sum : 0n
  const excess = after - tolerance
  verdict.limited = excess > 0n
  verdict.limit = narrow(limit)
  const left = excess > 0n ? ahead : after
  const room = tolerance - left
  verdict.remaining = room > 0n ? clamp(room / interval) : 0
  verdict.retryAfter = excess > 0n && increment <= tolerance ? clamp(secondsLong(excess)) : -1
  verdict.resetAfter = clamp(secondsLong(left))
  return left
}

function secondsLong(ns: bigint): bigint {
  return ns / 1_000_000_000n + (ns % 1_000_000_000n >= 1_000_000n ? 1n : 0n)
}
