import { TICKS_PER_MS } from './clock.ts'
import { type ErrorCode, expected } from './errors.ts'

/** `count` units every `periodMs`: `'10/s'` is `{ count: 10, periodMs: 1000 }`. */
export interface Rate {
  readonly count: number
  readonly periodMs: number
}

type DurationUnit = 'd' | 'h' | 'm' | 's' | 'ms'

/** A number with its unit: `'250ms' '10s' '15m' '1h' '30d'`. Without a unit only 0 is clear. */
export type Duration = 0 | `${number}${DurationUnit}`
/** A count per period: `'10/s' '5000/h' '100/15m'`. */
export type RateText = `${number}/${DurationUnit}` | `${number}/${number}${DurationUnit}`

/** Inclusive, in milliseconds. By default from 0 to the longest window. */
export interface DurationBounds {
  readonly min?: number
  readonly max?: number
}

const DAY_MS = 86_400_000
/** Largest first: `formatMs` takes the first unit that divides evenly. */
const UNITS: readonly (readonly [DurationUnit, number])[] = [
  ['d', DAY_MS],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
]
const UNIT_MS: ReadonlyMap<string, number> = new Map(UNITS)

export const MIN_WINDOW_MS = 1
export const MAX_WINDOW_MS = 366 * DAY_MS

/** Milliseconds, always a whole number of ticks, so that kernels may count in integers. */
export function parseDuration(
  value: unknown,
  what: string,
  bounds: DurationBounds = {},
  code: ErrorCode = 'SLUICE_BAD_DURATION',
): number {
  const { min = 0, max = MAX_WINDOW_MS } = bounds
  const fits = (ms: number) => ms >= min && ms <= max
  const readMs = value === 0 ? 0 : typeof value === 'string' ? readDuration(value) : NaN
  const ms = wholeTicks(readMs) / TICKS_PER_MS
  if (fits(ms)) return ms
  const duration = `${what} to be a duration from ${formatMs(min)} to ${formatMs(max)} (such as '250ms', '10s', '15m', '1h', '30d')`
  const advice = fits(readMs) ? 'time is counted in whole microseconds (0.001ms)' : durationAdvice(value, fits)
  throw expected(code, duration, value, advice)
}

/** The milliseconds of a policy that went through JSON, as a duration. */
export function durationOf(ms: unknown, what: string, code: ErrorCode): Duration {
  if (typeof ms === 'number' && ms >= 0 && ms < Infinity) return `${ms}ms`
  throw expected(code, `${what} as a number of milliseconds`, ms)
}

/** Takes a rate as text, or as the object it becomes in a policy that went through JSON. */
export function parseRate(value: unknown, what: string): Rate {
  const { count, periodMs } = readRate(value)
  const ticks = wholeTicks(periodMs)
  if (isRate(count, ticks)) return Object.freeze({ count, periodMs: ticks / TICKS_PER_MS })
  const rate = `${what} to be a rate from '1/366d' to '1000000/s' (text such as '10/s', '5000/h', '100/15m')`
  throw expected('SLUICE_BAD_RATE', rate, value, count === 0 ? ZERO_RATE_ADVICE : rateAdvice(value))
}

/**
 * A million a second is one per tick, so the fastest rate is `count <= ticks`: integers below 2^53 on both sides, no
 * rounding. The slowest rate, the smallest count over the longest period, needs no check of its own.
 */
function isRate(count: number, ticks: number): boolean {
  return Number.isSafeInteger(count) && count >= 1 && count <= ticks && ticks <= MAX_WINDOW_MS * TICKS_PER_MS
}

/**
 * Ticks, or NaN if the time falls between two ticks. Errors in the last bits of a double are ignored: `1.1 * 1000` is
 * 1100.0000000000002. At the longest window the ignored part is below a thirtieth of a tick.
 */
function wholeTicks(ms: number): number {
  const ticks = Math.round(ms * TICKS_PER_MS) + 0 // + 0 turns -0 into 0
  return Math.abs(ticks / TICKS_PER_MS - ms) <= Math.abs(ms) * 2 ** -50 ? ticks : NaN
}

function readDuration(text: string): number {
  const [, amount = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text) ?? []
  return amount === '' ? NaN : Number(amount) * (UNIT_MS.get(unit) ?? NaN)
}

function readRate(value: unknown): Rate {
  if (typeof value === 'string') {
    const [, count = 'NaN', period = ''] = /^(\d+)\/(.+)$/.exec(value) ?? []
    // A bare unit means one of it.
    return { count: Number(count), periodMs: readDuration(UNIT_MS.has(period) ? `1${period}` : period) }
  }
  const { count, periodMs } = Object(value) as Partial<Record<keyof Rate, unknown>>
  return {
    count: typeof count === 'number' ? count : NaN,
    periodMs: typeof periodMs === 'number' ? periodMs : NaN,
  }
}

export function formatMs(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, unitMs]) => ms !== 0 && ms % unitMs === 0) ?? ['ms', 1]
  return `${ms / unitMs}${unit}`
}

/** Common spellings of units and what they are here. `M` is left out, because it may mean minutes or months. */
const SPELLINGS: readonly (readonly [RegExp, number, DurationUnit])[] = [
  [/^(ms|msecs?|millis|milliseconds?)$/i, 1, 'ms'],
  [/^(s|secs?|seconds?)$/i, 1, 's'],
  [/^(m|mins?|minutes?)$/, 1, 'm'],
  [/^(h|hrs?|hours?)$/i, 1, 'h'],
  [/^(d|days?)$/i, 1, 'd'],
  [/^(w|weeks?)$/i, 7, 'd'],
]

/** The text as it should have been written, or unchanged if that is unclear. */
function respell(text: string): string {
  const [, amount = '1', word = ''] = /^\s*(\d{1,9}(?:\.\d{1,3})?)?\s*([a-z]+)\s*$/i.exec(text) ?? []
  const [, factor, unit] = SPELLINGS.find(([spelling]) => spelling.test(word)) ?? []
  return factor === undefined ? text : `${Number(amount) * factor}${unit}`
}

function durationAdvice(value: unknown, fits: (ms: number) => boolean): string {
  if (typeof value !== 'string' && typeof value !== 'number') return ''
  const reads = (text: string) => fits(readDuration(text))
  if (/^\d+(\.\d+)?$/.test(String(value))) {
    const spellings = [
      [`${value}s`, 'seconds'],
      [`${value}ms`, 'milliseconds'],
    ].filter(([text]) => Number(value) > 0 && reads(text!))
    return spellings.length === 0
      ? ''
      : `write ${spellings.map(([text, unit]) => `'${text}' for ${unit}`).join(' or ')}`
  }
  const better = respell(String(value))
  return better !== value && reads(better) ? `write '${better}'` : ''
}

const ZERO_RATE_ADVICE = 'a rate of 0 never refills; to refuse everything, set the limit or capacity to 0'

function rateAdvice(value: unknown): string {
  if (typeof value !== 'string' && typeof value !== 'number') return ''
  const [, whole = '', decimals = '', period = 's'] =
    /^\s*(\d{1,9})(?:\.(\d{1,3}))?\s*(?:\/(.*))?$/.exec(String(value)) ?? []
  // Half a request a second is one every two seconds: counts stay whole, the period carries the fraction.
  const scale = 10 ** decimals.length
  const scaled = Number(whole + decimals)
  const shared = greatestCommonDivisor(scaled, scale)
  const periodMs = (readDuration(respell(period)) * scale) / shared
  const better = `${scaled / shared}/${formatMs(periodMs).replace(/^1(?=[a-z])/, '')}`
  return isRate(scaled / shared, wholeTicks(periodMs)) ? `write '${better}'` : ''
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
