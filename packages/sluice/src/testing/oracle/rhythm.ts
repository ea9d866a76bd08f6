import { calendarWindow } from '../../calendar.ts'
import type { Rate } from '../../duration.ts'
import type { Policy } from '../../policy.ts'

/** The ticks at which a policy is worth testing. Traces use them as hints; no verdict is checked against them. */
export interface Rhythm {
  /** About the time between two units at the steady rate. */
  readonly interval: number
  /** About the time in which a used-up limit is full again. */
  readonly window: number
  /** The tick of the next change: the boundary of a window, or the end of a charge made at `chargedAt`. */
  edge(at: number, chargedAt: number): number
}

export function rhythmOf(policy: Policy, phase = 0): Rhythm {
  switch (policy.kind) {
    case 'tokenBucket':
      return bucket(policy.capacity, policy.refill)
    case 'leakyBucket':
      return bucket(policy.capacity, policy.leak)
    case 'gcra':
      return bucket(policy.burst, policy.rate)
    case 'fixedWindow': {
      const { align, limit } = policy
      const window = ticks(policy.windowMs)
      if (align === 'first') return spread(window, limit, (_, chargedAt) => chargedAt + window)
      if (align === 'epoch') return spread(window, limit, at => boundaryAfter(at, window, 0))
      if (align === 'key') return spread(window, limit, at => boundaryAfter(at, window, phase))
      const length = ticks({ day: 1, week: 7, month: 30 }[align] * 86_400_000)
      return spread(length, limit, at =>
        ticks(calendarWindow(align, policy.timeZone ?? 'UTC', Math.floor(at / 1000)).end),
      )
    }
    case 'slidingWindow': {
      const window = ticks(policy.windowMs)
      return spread(window, policy.limit, at => boundaryAfter(at, window / policy.buckets, 0))
    }
    case 'slidingLog': {
      const window = ticks(policy.windowMs)
      return spread(window, policy.limit, (_, chargedAt) => chargedAt + window)
    }
    case 'concurrency': {
      const ttl = ticks(policy.ttlMs)
      return spread(ttl, policy.limit, (_, chargedAt) => chargedAt + ttl)
    }
  }
}

function bucket(capacity: number, rate: Rate): Rhythm {
  const interval = ticks(rate.periodMs) / rate.count
  return {
    interval: Math.ceil(interval),
    window: Math.ceil(interval * Math.max(1, capacity)),
    edge: (_, chargedAt) => Math.ceil(chargedAt + interval),
  }
}

function spread(window: number, limit: number, edge: Rhythm['edge']): Rhythm {
  return { interval: Math.ceil(window / Math.max(1, limit)), window, edge }
}

function boundaryAfter(at: number, length: number, phase: number): number {
  return at + length - ((((at - phase) % length) + length) % length)
}

const ticks = (ms: number): number => Math.round(ms * 1000)
