import { calendarWindow, isCalendar } from '../calendar.ts'
import { TICKS_PER_MS } from '../clock.ts'
import type { FixedWindowPolicy } from '../policy.ts'
import type { Verdict } from './verdict.ts'

/**
 * The fixed window: a count that starts again at every boundary. It is simple to explain ("1000 a day"), but admits up
 * to twice the limit around a boundary, which the sliding kinds do not.
 *
 * State is (count, endAt): the window is open while now < endAt, whatever its alignment. It stores the end rather than
 * an index, so that one algorithm serves every alignment and a clock gone backwards stays in the open window.
 */
export interface FixedRule {
  readonly kind: 'fixed'
  readonly policy: FixedWindowPolicy
  readonly limit: number
  readonly perRequest: 1
  /** 0 for calendar windows. */
  readonly windowTicks: number
  readonly shape: string
  /** The end of the window that holds `now`; `phase` moves the boundaries of `align: 'key'`. */
  endAfter(now: number, phase: number): number
}

export function fixedRule(policy: FixedWindowPolicy): FixedRule {
  const { align, limit } = policy
  const windowTicks = Math.round(policy.windowMs * TICKS_PER_MS)
  const shape = isCalendar(align) ? `fixed ${align} ${policy.timeZone}` : `fixed ${windowTicks} ${align}`
  const endAfter = isCalendar(align)
    ? calendarEnd(policy)
    : align === 'first'
      ? (now: number) => now + windowTicks
      : (now: number, phase: number) => (Math.floor((now - phase) / windowTicks) + 1) * windowTicks + phase
  return { kind: 'fixed', policy, limit, perRequest: 1, windowTicks, shape, endAfter }
}

/** Asking the calendar is slow, so its answer is kept until the window ends. */
function calendarEnd(policy: FixedWindowPolicy): (now: number) => number {
  let start = 0
  let end = 0
  return now => {
    if (now < start || now >= end) {
      const window = calendarWindow(policy.align as 'day', policy.timeZone ?? 'UTC', now / TICKS_PER_MS)
      start = window.start * TICKS_PER_MS
      end = window.end * TICKS_PER_MS
    }
    return end
  }
}

/** `count` and `endAt` are those of the current window. */
export function decide(count: number, endAt: number, rule: FixedRule, cost: number, out: Verdict): void {
  out.allowed = count + cost <= rule.limit
  out.retryAt = out.allowed ? 0 : cost > rule.limit ? Infinity : endAt
}

export function describe(count: number, endAt: number, now: number, out: Verdict): void {
  out.used = count
  out.resetAt = wholeAt(count, endAt, now)
}

export function wholeAt(count: number, endAt: number, now: number): number {
  return count > 0 ? endAt : now
}

/** Whether a charge at `chargedAt` was counted in the window that ends at `endAt`. */
export function sameWindow(endAt: number, rule: FixedRule, chargedAt: number, phase: number): boolean {
  if (rule.windowTicks > 0) return chargedAt >= endAt - rule.windowTicks && chargedAt < endAt
  return rule.endAfter(chargedAt, phase) === endAt
}

/** When the window that ends at `endAt` began. */
export function startOf(endAt: number, { policy, windowTicks }: FixedRule): number {
  if (windowTicks > 0) return endAt - windowTicks
  return (
    calendarWindow(policy.align as 'day', policy.timeZone ?? 'UTC', (endAt - 1) / TICKS_PER_MS).start * TICKS_PER_MS
  )
}
