import { expected } from './errors.ts'

/** A local day, a local week from Monday on, or a local month. */
export type CalendarUnit = 'day' | 'week' | 'month'

/** Epoch milliseconds, `start` inclusive, `end` exclusive. */
export interface CalendarWindow {
  readonly start: number
  readonly end: number
}

const DAY_MS = 86_400_000

export function isCalendar(align: string): align is CalendarUnit {
  return align === 'day' || align === 'week' || align === 'month'
}

export function assertTimeZone(name: unknown): string {
  // Offsets such as '+01:00' are refused on purpose: engines disagree about them, and they have no summer time.
  if (typeof name === 'string' && /^[A-Za-z][\w+/-]*$/.test(name)) {
    try {
      formatterOf(name)
      return name
    } catch {
      // Intl does not know the zone: the error below says so.
    }
  }
  const advice = typeof name === 'string' && /^[+-]/.test(name) ? 'name a place: an offset knows no summer time' : ''
  throw expected('SLUICE_BAD_TIME_ZONE', "an IANA time zone such as 'Europe/Berlin'", name, advice)
}

/**
 * The window that contains `at`. A window starts at the first instant whose local date has reached it, and never gives
 * way to an earlier one, so windows tile time. If midnight is skipped, the day starts late. If midnight comes twice, it
 * starts at the first. If the clock goes back over midnight (St. John's once went from 00:01 to 23:01), the repeated
 * evening belongs to the new day.
 */
export function calendarWindow(unit: CalendarUnit, timeZone: string, at: number): CalendarWindow {
  const zone = formatterOf(timeZone)
  const local = Math.floor(at) + offsetAt(zone, at)
  const firstDate = unitStart(unit, local)
  let nextDate = unitAfter(unit, firstDate)
  let start = reach(zone, firstDate)
  let end = reach(zone, nextDate)
  while (end <= at) {
    nextDate = unitAfter(unit, nextDate)
    start = end
    end = reach(zone, nextDate)
  }
  return { start, end }
}

// Local times are kept as the epoch milliseconds they would be in UTC, so that Date's UTC methods do their arithmetic.

function unitStart(unit: CalendarUnit, local: number): number {
  const date = new Date(local)
  const sinceMonday = (date.getUTCDay() + 6) % 7
  const day = unit === 'month' ? 1 : date.getUTCDate() - (unit === 'week' ? sinceMonday : 0)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day)
}

function unitAfter(unit: CalendarUnit, local: number): number {
  if (unit !== 'month') return local + (unit === 'week' ? 7 : 1) * DAY_MS
  const date = new Date(local)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

/**
 * The first instant whose local time is `midnight` or later. It steps through spans of constant offset, within which
 * the answer is a subtraction. Bisecting by date could find the second of two midnights.
 */
function reach(zone: Intl.DateTimeFormat, midnight: number): number {
  let from = midnight - DAY_MS // no zone is a whole day ahead of UTC, so here it is still before midnight
  for (;;) {
    const offset = offsetAt(zone, from)
    const candidate = midnight - offset
    if (candidate <= from) return from // the clock was set forward past midnight
    if (offsetAt(zone, candidate) === offset) return candidate
    from = offsetChange(zone, from, candidate)
  }
}

/** The first instant after `before` with another offset, given that `after` has one. */
function offsetChange(zone: Intl.DateTimeFormat, before: number, after: number): number {
  const offset = offsetAt(zone, before)
  let same = before
  let changed = after
  while (changed - same > 1) {
    const middle = Math.floor((same + changed) / 2)
    if (offsetAt(zone, middle) === offset) same = middle
    else changed = middle
  }
  return changed
}

/** Local time minus UTC, in milliseconds. */
function offsetAt(zone: Intl.DateTimeFormat, at: number): number {
  const second = Math.floor(at / 1000) * 1000
  const parts = zone.formatToParts(second)
  const read = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find(part => part.type === type)?.value)
  const date = Date.UTC(read('year'), read('month') - 1, read('day'), read('hour'), read('minute'), read('second'))
  return date - second
}

/** Names are case-insensitive; folding them keeps the cache no larger than the list of zones. */
const formatters = new Map<string, Intl.DateTimeFormat>()

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const name = timeZone.toLowerCase()
  let formatter = formatters.get(name)
  if (formatter === undefined) {
    formatter = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    formatters.set(name, formatter)
  }
  return formatter
}
