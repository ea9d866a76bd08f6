/** The two clocks that the times in a response are read by, in epoch milliseconds. */
export interface ReadingTime {
  /** This machine's clock. */
  readonly now: number
  /** The server's clock at the same moment, as far as known. */
  readonly serverNow: number
}

/** `Date` has whole seconds, and an answer takes some time to arrive. */
const DATE_STEP_MS = 1000
const TRAVEL_MS = 1000

/**
 * If this machine's clock agrees with the response's `Date`, it is used, because it is finer. Otherwise `Date` is used. It is
 * up to a second behind the server's clock, so the resulting times are late, never early.
 */
export function readingTime(now: number, date: string): ReadingTime {
  const dated = parseDate(date)
  const agrees = dated === undefined || (now >= dated && now < dated + DATE_STEP_MS + TRAVEL_MS)
  return { now, serverNow: agrees ? now : dated }
}

const EPOCH_MS_FROM = 1e11
const EPOCH_SECONDS_FROM = 1e9
const PLAIN_DECIMAL = /^\d{1,15}(?:\.\d{1,9})?$/

/**
 * When a limit resets, epoch milliseconds of this machine: a Go duration, a plain decimal (epoch milliseconds, epoch
 * seconds or seconds from now, by its size) or a date. Undefined for anything else.
 */
export function parseReset(
  text: string,
  { now, serverNow }: ReadingTime,
  relative: 's' | 'ms' = 's',
): number | undefined {
  const trimmed = text.trim()
  if (PLAIN_DECIMAL.test(trimmed)) {
    const value = Number(trimmed)
    if (value >= EPOCH_MS_FROM) return value - serverNow + now
    if (value >= EPOCH_SECONDS_FROM) return value * 1000 - serverNow + now
    return now + value * (relative === 's' ? 1000 : 1)
  }
  const durationMs = parseGoDuration(trimmed)
  if (durationMs !== undefined) return now + durationMs
  const date = parseDate(trimmed)
  return date === undefined ? undefined : date - serverNow + now
}

/** `Retry-After`: seconds, possibly with a fraction, or a date. Epoch milliseconds of this machine. */
export function parseRetryAfter(text: string, { now, serverNow }: ReadingTime): number | undefined {
  const trimmed = text.trim()
  if (PLAIN_DECIMAL.test(trimmed)) return now + Number(trimmed) * 1000
  const date = parseDate(trimmed)
  return date === undefined ? undefined : Math.max(now, date - serverNow + now)
}

/** A count, rounded down: part of a request cannot be made. */
export function parseCount(text: string): number | undefined {
  const trimmed = text.trim()
  return PLAIN_DECIMAL.test(trimmed) ? Math.floor(Number(trimmed)) : undefined
}

export function parsePlainDecimal(text: string): number | undefined {
  const trimmed = text.trim()
  return PLAIN_DECIMAL.test(trimmed) ? Number(trimmed) : undefined
}

const GO_UNIT_MS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
}

function parseGoDuration(text: string): number | undefined {
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:h|ms|m|s|us|µs|ns)){1,7}$/.test(text)) return undefined
  let ms = 0
  for (const [, amount, unit] of text.matchAll(/([\d.]+)(h|ms|m|s|us|µs|ns)/g))
    ms += Number(amount) * GO_UNIT_MS[unit!]!
  return ms
}

/** IMF-fixdate and RFC 850 dates name GMT; asctime and an ISO time without a zone are read as UTC. */
const ZONED =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4}|[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2}) \d{2}:\d{2}:\d{2} GMT$|^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/
const ISO_WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?$/

function parseDate(text: string): number | undefined {
  if (text.length > 40) return undefined
  const zoned = ZONED.test(text)
    ? text
    : ASCTIME.test(text)
      ? `${text} GMT`
      : ISO_WITHOUT_ZONE.test(text)
        ? `${text}Z`
        : ''
  const at = zoned === '' ? NaN : Date.parse(zoned)
  return Number.isNaN(at) ? undefined : at
}
