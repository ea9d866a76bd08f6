import { TICKS_PER_MS, toTicks } from '../../../clock.ts'
import type { Shown } from './description.ts'
import { type Pace, ticksToFree } from './pace.ts'
import { integer } from './structured.ts'

/** `Retry-After`: whole seconds, rounded up, at least 1; undefined when no wait helps. */
export function retryAfterSeconds(retryAfterMs: number): number | undefined {
  return retryAfterMs === Infinity ? undefined : Math.max(1, secondsUp(retryAfterMs))
}

/**
 * The wait that every family tells, each in its own form: `t`, `reset`, `X-RateLimit-Reset`. Undefined if no time is true.
 *
 * - After a refusal: until the same cost passes.
 * - With nothing left: until one unit passes.
 * - With something left in a bucket: until there is one more unit; 0 if it is full.
 * - With something left in a window: until the window or sub-window ends. In a log: until it is empty.
 */
export function effectiveMs(pace: Pace, state: Shown, at: number): number | undefined {
  const { allowed, limit, retryAfterMs, resetAfterMs } = state
  if (!allowed) return retryAfterMs === Infinity ? undefined : retryAfterMs
  if (pace.frees === 'on release' || limit === 0) return undefined
  const remaining = integer(state.remaining)
  if (remaining === 0 && retryAfterMs > 0) return retryAfterMs
  if (pace.frees === 'steadily') return untilOneMoreMs(pace, state, remaining)
  if (remaining === 0) return latestForOneMoreMs(pace, state)
  return pace.frees === 'by sub-window' ? ticksToNext(pace.ticks, toTicks(at)) / TICKS_PER_MS : resetAfterMs
}

/** `t` of draft 11 and the reset of drafts 6 and 7: at least 1 if the caller has to wait. */
export function effectiveSeconds(pace: Pace, state: Shown, at: number): number | undefined {
  const ms = effectiveMs(pace, state, at)
  if (ms === undefined) return undefined
  return !state.allowed || integer(state.remaining) === 0 ? retryAfterSeconds(ms) : secondsUp(ms)
}

/**
 * A bucket has one more unit when it lacks one unit less than now. Calculated in whole ticks, so that a rounding error of
 * a double does not add a second.
 */
function untilOneMoreMs(pace: Pace, { limit, resetAfterMs }: Shown, remaining: number): number {
  if (remaining >= limit) return 0
  const resetTicks = Math.round(resetAfterMs * TICKS_PER_MS)
  return Math.max(0, resetTicks - Math.floor(ticksToFree(limit - remaining - 1, pace))) / TICKS_PER_MS
}

/**
 * The latest time at which a window has one more unit; its counts are not known here. In a sliding window the latest case
 * is that everything was counted in the newest sub-window: its first unit leaves when 1 / limit of its last sub-window
 * has passed.
 */
function latestForOneMoreMs(pace: Pace, { limit, resetAfterMs }: Shown): number {
  if (pace.frees !== 'by sub-window') return resetAfterMs
  const resetTicks = Math.round(resetAfterMs * TICKS_PER_MS)
  return Math.max(0, resetTicks - pace.ticks + Math.ceil(pace.ticks / limit)) / TICKS_PER_MS
}

/** Sub-windows start at the Unix epoch. */
function ticksToNext(subTicks: number, now: number): number {
  return (Math.floor(now / subTicks) + 1) * subTicks - now
}

function secondsUp(ms: number): number {
  return integer(Math.ceil(ms / 1000))
}
