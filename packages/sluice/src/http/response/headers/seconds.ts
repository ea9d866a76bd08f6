import { TICKS_PER_MS, toTicks } from '../../../clock.ts'
import type { Shown } from './description.ts'
import { type Pace, ticksToFree } from './pace.ts'
import { integer } from './structured.ts'

/** `Retry-After`: whole seconds, rounded up, at least 1; undefined when no wait helps. */
export function retryAfterSeconds(retryAfterMs: number): number | undefined {
  return retryAfterMs === Infinity ? undefined : Math.max(1, secondsUp(retryAfterMs))
}

/**
 * `t` of draft 11 and the reset of drafts 6 and 7. The drafts disagree on what it means; this holds under all of them.
 * A refused caller reads what `Retry-After` says, one with nothing left when there will be something, and others how
 * long `remaining` has to last. Undefined where no time would be true.
 */
export function effectiveSeconds(pace: Pace, state: Shown, remaining: number, at: number): number | undefined {
  if (!state.allowed) return retryAfterSeconds(state.retryAfterMs)
  if (pace.frees === 'on release') return undefined
  if (remaining === 0) return state.limit === 0 ? undefined : retryAfterSeconds(untilOneMoreMs(pace, state))
  switch (pace.frees) {
    case 'steadily':
      return secondsOfTicks(ticksToFree(remaining, pace))
    case 'by sub-window':
      return secondsOfTicks(ticksToNext(pace.ticks, toTicks(at)))
    default:
      return secondsUp(state.resetAfterMs)
  }
}

/**
 * A bucket is whole when all of it has drained, and takes one more when all but one has; in whole ticks, so that no
 * noise in a double adds a second. Of the other kinds only the reset is known, which is the latest it can be.
 */
function untilOneMoreMs(pace: Pace, { limit, resetAfterMs }: Shown): number {
  if (pace.frees !== 'steadily') return resetAfterMs
  return (Math.round(resetAfterMs * TICKS_PER_MS) - Math.floor(ticksToFree(limit - 1, pace))) / TICKS_PER_MS
}

/** Sub-windows start at the Unix epoch. */
function ticksToNext(subTicks: number, now: number): number {
  return (Math.floor(now / subTicks) + 1) * subTicks - now
}

export function secondsOfTicks(ticks: number): number {
  return secondsUp(Math.ceil(ticks) / TICKS_PER_MS)
}

function secondsUp(ms: number): number {
  return integer(Math.ceil(ms / 1000))
}
