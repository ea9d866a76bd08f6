import { clamp, narrow } from '../integer.ts'
import type { ThrottleVerdict } from './throttle.ts'

/**
 * The arithmetic of CL.THROTTLE in whole nanoseconds. What is kept of a key is its theoretical arrival time; here it is
 * `ahead`, how far that lies in the future, never less than 0. Each decision returns what it is afterwards.
 *
 * It is not the library's bucket, though it is the same algorithm. That one counts requests, so a key that comes back
 * under another rate brings along its requests; here it must bring along its time. And that one keeps the exact rate,
 * where CL.THROTTLE cuts the interval to a whole nanosecond.
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
  const after = Math.max(0, ahead + increment) // giving back never makes it better than full
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

/** May `decide` be trusted with these? With each term up to here, every sum is exact. */
export function isExact(ahead: number, interval: number, limit: number, quantity: number): boolean {
  return ahead <= EXACT && Math.abs(interval * limit) <= EXACT && Math.abs(interval * quantity) <= EXACT
}

const EXACT = 2 ** 52

/** Whole seconds; what is a millisecond or more beyond them counts as one. */
function seconds(ns: number): number {
  const whole = Math.floor(ns / 1e9)
  return ns - whole * 1e9 >= 1e6 ? whole + 1 : whole
}

/** No key is kept ahead further than 146 years: whoever asks for more gets that. */
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
