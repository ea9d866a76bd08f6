import type { LimitState } from '../../decision.ts'

/** What `consume` resolves to, and what it rejects with if there are too few points. */
export class RateLimiterRes {
  readonly remainingPoints: number
  readonly msBeforeNext: number
  /** Points of refused calls are not consumed. */
  readonly consumedPoints: number
  readonly isFirstInDuration: boolean

  constructor(remainingPoints = 0, msBeforeNext = 0, consumedPoints = 0, isFirstInDuration = false) {
    this.remainingPoints = remainingPoints
    this.msBeforeNext = msBeforeNext
    this.consumedPoints = consumedPoints
    this.isFirstInDuration = isFirstInDuration
  }
}

type Counted = Pick<LimitState, 'allowed' | 'limit' | 'remaining' | 'resetAfterMs' | 'retryAfterMs'>

/** The answer of one limit to a call that costs these points. */
export function resultOf(
  { allowed, limit, remaining, resetAfterMs, retryAfterMs }: Counted,
  points: number,
): RateLimiterRes {
  const consumed = limit - remaining
  const ms = Math.ceil(allowed ? resetAfterMs : retryAfterMs)
  return new RateLimiterRes(remaining, ms, consumed, allowed && points > 0 && consumed === points)
}
