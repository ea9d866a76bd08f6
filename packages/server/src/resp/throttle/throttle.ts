import { type Integer, narrow } from '../integer.ts'

/** The arguments of one CL.THROTTLE. One object serves many calls, so copy what you need after the call. */
export interface ThrottleRequest {
  /** The key is `bytes` from `start` to `end`. */
  bytes: Buffer
  start: number
  end: number
  /** Nanoseconds between two requests of a steady stream; more than 0. */
  interval: Integer
  /** How many requests may pass at once; 0 or less refuses all. */
  limit: Integer
  /** 0 only looks; less than 0 gives back. */
  quantity: Integer
}

export function freshRequest(): ThrottleRequest {
  return { bytes: Buffer.alloc(0), start: 0, end: 0, interval: 1, limit: 0, quantity: 0 }
}

/** The five integers of the answer. */
export interface ThrottleVerdict {
  limited: boolean
  limit: Integer
  remaining: Integer
  /** In seconds; -1 if allowed, or if it can never pass. */
  retryAfter: Integer
  /** In seconds. */
  resetAfter: Integer
}

export function freshVerdict(): ThrottleVerdict {
  return { limited: false, limit: 0, remaining: 0, retryAfter: 0, resetAfter: 0 }
}

export interface ThrottleStats {
  readonly keys: number
  /** Decisions made on a shared cell because there was no room for the key. */
  readonly overflowed: number
}

/** Decides CL.THROTTLE. The answer is there when the call returns, or when its promise resolves. */
export interface Throttle {
  decide(ask: ThrottleRequest, verdict: ThrottleVerdict): Promise<void> | undefined
  /** Forgets a key, and returns whether anything was kept of it. */
  forget(bytes: Buffer, start: number, end: number): boolean | Promise<boolean>
  /** The milliseconds until a key is idle; 0 if nothing is kept of it. */
  left(bytes: Buffer, start: number, end: number): number | Promise<number>
  /** Undefined if the state is kept elsewhere. */
  stats(): ThrottleStats | undefined
}

const NS_PER_SECOND = 1_000_000_000
/** Up to here a period in nanoseconds is exact as a double: 104 days. */
const LONGEST_EXACT_SECONDS = Math.floor(Number.MAX_SAFE_INTEGER / NS_PER_SECOND)

/** Whole nanoseconds between two requests at `count` per `period` seconds; both are above 0. Less than 1 ns gives 0. */
export function intervalOf(count: Integer, period: Integer): Integer {
  if (typeof count === 'number' && typeof period === 'number' && period <= LONGEST_EXACT_SECONDS) {
    return Math.floor((period * NS_PER_SECOND) / count)
  }
  return narrow((BigInt(period) * BigInt(NS_PER_SECOND)) / BigInt(count))
}
