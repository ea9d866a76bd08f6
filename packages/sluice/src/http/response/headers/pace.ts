import type { CalendarUnit } from '../../../calendar.ts'
import { TICKS_PER_MS } from '../../../clock.ts'
import type { Rate } from '../../../duration.ts'
import { limitOfPolicy, type Policy } from '../../../policy.ts'

/** How the quota of a limit comes back. The times in its fields are calculated from this. */
export interface Pace {
  readonly frees: 'steadily' | 'by sub-window' | 'by entry' | 'at the reset' | 'on release'
  /** If steadily, `count` units come back every `ticks`. If by sub-window, its length in ticks. Otherwise 0. */
  readonly ticks: number
  readonly count: number
}

const TICKS_PER_SECOND = 1000 * TICKS_PER_MS

export function paceOf(policy: Policy): Pace {
  switch (policy.kind) {
    case 'tokenBucket':
      return steady(policy.refill)
    case 'leakyBucket':
      return steady(policy.leak)
    case 'gcra':
      return steady(policy.rate)
    case 'slidingWindow':
      return { frees: 'by sub-window', ticks: ticksOf(policy.windowMs) / policy.buckets, count: 0 }
    case 'slidingLog':
      return { frees: 'by entry', ticks: 0, count: 0 }
    case 'concurrency':
      return { frees: 'on release', ticks: 0, count: 0 }
    default:
      return { frees: 'at the reset', ticks: 0, count: 0 }
  }
}

function steady({ count, periodMs }: Rate): Pace {
  return { frees: 'steadily', ticks: ticksOf(periodMs), count }
}

function ticksOf(ms: number): number {
  return Math.round(ms * TICKS_PER_MS)
}

/** How long a bucket takes to free `requests`. Multiplies before it divides, so that rounding the result is exact below 2^53. */
export function ticksToFree(requests: number, { ticks, count }: Pace): number {
  return (requests * ticks) / count
}

/**
 * The window of a policy in whole seconds, rounded up so that no reader derives a faster rate from it. 0 if there is none
 * to tell: slots have no window, and a reader would take a fraction of a second for a whole one.
 */
export function windowSeconds(policy: Policy): number {
  const ticks = windowTicks(policy)
  return ticks < TICKS_PER_SECOND ? 0 : Math.ceil(ticks / TICKS_PER_SECOND)
}

function windowTicks(policy: Policy): number {
  switch (policy.kind) {
    case 'fixedWindow':
      return policy.windowMs > 0 ? ticksOf(policy.windowMs) : CALENDAR_DAYS[policy.align as CalendarUnit] * DAY_TICKS
    case 'slidingWindow':
    case 'slidingLog':
      return ticksOf(policy.windowMs)
    case 'concurrency':
      return 0
    default:
      return ticksToFree(limitOfPolicy(policy), paceOf(policy))
  }
}

const DAY_TICKS = 86_400 * TICKS_PER_SECOND
/** The longest month, so that the time left in any month fits. Days and weeks as if no clock change fell into them. */
const CALENDAR_DAYS: Readonly<Record<CalendarUnit, number>> = { day: 1, week: 7, month: 31 }
