import { assertTimeZone, type CalendarUnit, isCalendar } from './calendar.ts'
import { checkOptions } from './check-options.ts'
import {
  type Duration,
  durationOf,
  MAX_WINDOW_MS,
  MIN_WINDOW_MS,
  parseDuration,
  parseRate,
  type Rate,
  type RateText,
} from './duration.ts'
import { expected } from './errors.ts'
import { bucketSize, limitOf, windowOf } from './policy-options.ts'

/** A policy is one limit as frozen, validated, JSON-serialisable data. `JSON.parse(JSON.stringify(policy))` is one too. */
export type Policy =
  | TokenBucketPolicy
  | LeakyBucketPolicy
  | GcraPolicy
  | FixedWindowPolicy
  | SlidingWindowPolicy
  | SlidingLogPolicy
  | ConcurrencyPolicy

export interface TokenBucketPolicy {
  readonly kind: 'tokenBucket'
  readonly capacity: number
  readonly refill: Rate
}
export interface LeakyBucketPolicy {
  readonly kind: 'leakyBucket'
  readonly capacity: number
  readonly leak: Rate
}
export interface GcraPolicy {
  readonly kind: 'gcra'
  readonly rate: Rate
  /** How many may pass at once. */
  readonly burst: number
}
export interface FixedWindowPolicy {
  readonly kind: 'fixedWindow'
  readonly limit: number
  /** 0 where `align` is a calendar unit: those windows differ in length. */
  readonly windowMs: number
  readonly align: 'epoch' | 'key' | 'first' | CalendarUnit
  /** An IANA name; only with a calendar `align`. */
  readonly timeZone?: string
}
export interface SlidingWindowPolicy {
  readonly kind: 'slidingWindow'
  readonly limit: number
  readonly windowMs: number
  readonly buckets: number
}
export interface SlidingLogPolicy {
  readonly kind: 'slidingLog'
  readonly limit: number
  readonly windowMs: number
}
export interface ConcurrencyPolicy {
  readonly kind: 'concurrency'
  readonly limit: number
  readonly ttlMs: number
}

export function tokenBucket(options: { capacity: number; refill: Rate | RateText }): TokenBucketPolicy {
  const { capacity, refill } = checkOptions('tokenBucket', options, ['capacity', 'refill'])
  const rate = parseRate(refill, 'tokenBucket refill')
  return Object.freeze({
    kind: 'tokenBucket',
    capacity: bucketSize(capacity, 'tokenBucket capacity', rate),
    refill: rate,
  })
}

export function leakyBucket(options: { capacity: number; leak: Rate | RateText }): LeakyBucketPolicy {
  const { capacity, leak } = checkOptions('leakyBucket', options, ['capacity', 'leak'])
  const rate = parseRate(leak, 'leakyBucket leak')
  return Object.freeze({
    kind: 'leakyBucket',
    capacity: bucketSize(capacity, 'leakyBucket capacity', rate),
    leak: rate,
  })
}

export function gcra(options: { rate: Rate | RateText; burst: number }): GcraPolicy {
  const { rate, burst } = checkOptions('gcra', options, ['rate', 'burst'])
  const parsed = parseRate(rate, 'gcra rate')
  return Object.freeze({ kind: 'gcra', rate: parsed, burst: bucketSize(burst, 'gcra burst', parsed) })
}

export interface FixedWindowOptions {
  limit: number
  /** Left out with a calendar `align`. */
  window?: Duration
  align?: FixedWindowPolicy['align']
  timeZone?: string
}

export function fixedWindow(options: FixedWindowOptions): FixedWindowPolicy {
  const {
    limit,
    window,
    align = 'epoch',
    timeZone,
  } = checkOptions('fixedWindow', options, ['limit', 'window', 'align', 'timeZone'])
  const size = limitOf(limit, 'fixedWindow limit')
  if (typeof align === 'string' && isCalendar(align)) {
    if (window !== undefined) {
      throw expected('SLUICE_BAD_WINDOW', `no window beside align '${align}'`, window, 'the calendar gives the length')
    }
    return Object.freeze({
      kind: 'fixedWindow',
      limit: size,
      windowMs: 0,
      align,
      timeZone: assertTimeZone(timeZone ?? 'UTC'),
    })
  }
  if (align !== 'epoch' && align !== 'key' && align !== 'first') {
    throw expected('SLUICE_BAD_ALIGN', "align 'epoch', 'key', 'first', 'day', 'week' or 'month'", align)
  }
  if (timeZone !== undefined) {
    throw expected(
      'SLUICE_BAD_TIME_ZONE',
      `no timeZone beside align '${align}'`,
      timeZone,
      "use align 'day', 'week' or 'month'",
    )
  }
  return Object.freeze({ kind: 'fixedWindow', limit: size, windowMs: windowOf(window, 'fixedWindow window'), align })
}

export function slidingWindow(options: { limit: number; window: Duration; buckets?: number }): SlidingWindowPolicy {
  const { limit, window, buckets = 1 } = checkOptions('slidingWindow', options, ['limit', 'window', 'buckets'])
  const windowMs = windowOf(window, 'slidingWindow window')
  if (!Number.isInteger(buckets) || buckets < 1 || buckets > MAX_BUCKETS) {
    throw expected('SLUICE_BAD_BUCKETS', `slidingWindow buckets from 1 to ${MAX_BUCKETS}`, buckets)
  }
  if (Math.round(windowMs * 1000) % buckets !== 0) {
    const advice = `a window of ${windowMs} ms does not split into ${buckets}`
    throw expected('SLUICE_BAD_BUCKETS', 'sub-windows of whole microseconds', buckets, advice)
  }
  return Object.freeze({ kind: 'slidingWindow', limit: limitOf(limit, 'slidingWindow limit'), windowMs, buckets })
}

export function slidingLog(options: { limit: number; window: Duration }): SlidingLogPolicy {
  const { limit, window } = checkOptions('slidingLog', options, ['limit', 'window'])
  const size = limitOf(limit, 'slidingLog limit')
  if (size > MAX_LOG) {
    throw expected(
      'SLUICE_BAD_LIMIT',
      `a slidingLog limit up to ${MAX_LOG}`,
      size,
      'it keeps one time for each unit of cost: use slidingWindow with buckets, or tokenBucket',
    )
  }
  return Object.freeze({ kind: 'slidingLog', limit: size, windowMs: windowOf(window, 'slidingLog window') })
}

export function concurrency(options: { limit: number; ttl: Duration }): ConcurrencyPolicy {
  const { limit, ttl } = checkOptions('concurrency', options, ['limit', 'ttl'])
  const ttlMs = parseDuration(ttl, 'concurrency ttl', { min: MIN_WINDOW_MS, max: MAX_WINDOW_MS }, 'SLUICE_BAD_TTL')
  return Object.freeze({ kind: 'concurrency', limit: limitOf(limit, 'concurrency limit'), ttlMs })
}

const MAX_BUCKETS = 256
/**
 * The largest log. A log takes 8 bytes per unit of cost, and one large cost takes as many at once: beyond this,
 * decisions are too slow.
 */
const MAX_LOG = 65_536

/** What is accepted as a policy: a policy, one that went through JSON, or a rate. */
export type PolicyLike = Policy | RateText

/**
 * Up to this limit a rate becomes a log: it takes little more memory than a counter, and so small a counter admits
 * clearly less than it says.
 */
export const MOST_EXACT = 32

/**
 * The policy for a text or an object. A rate such as `'100/m'` admits that many in any such span: exactly up to 32
 * (`slidingLog`), by the sliding counter above (`slidingWindow`). A frozen policy made here is returned unchanged.
 */
export function policyOf(value: string | Policy): Policy {
  if (typeof value === 'string') {
    const { count: limit, periodMs } = parseRate(value, 'policy')
    const window: Duration = `${periodMs}ms`
    return limit <= MOST_EXACT ? slidingLog({ limit, window }) : slidingWindow({ limit, window })
  }
  if (typeof value !== 'object' || value === null || !('kind' in value)) {
    throw expected(
      'SLUICE_BAD_POLICY',
      "a policy such as tokenBucket({ capacity: 100, refill: '10/s' }) or '100/m'",
      value,
    )
  }
  const policy = value
  switch (policy.kind) {
    case 'tokenBucket':
      return tokenBucket({ capacity: policy.capacity, refill: policy.refill })
    case 'leakyBucket':
      return leakyBucket({ capacity: policy.capacity, leak: policy.leak })
    case 'gcra':
      return gcra({ rate: policy.rate, burst: policy.burst })
    case 'fixedWindow':
      return isCalendar(policy.align)
        ? fixedWindow({ limit: policy.limit, align: policy.align, timeZone: policy.timeZone ?? 'UTC' })
        : fixedWindow({ limit: policy.limit, window: windowText(policy.windowMs), align: policy.align })
    case 'slidingWindow':
      return slidingWindow({ limit: policy.limit, window: windowText(policy.windowMs), buckets: policy.buckets })
    case 'slidingLog':
      return slidingLog({ limit: policy.limit, window: windowText(policy.windowMs) })
    case 'concurrency':
      return concurrency({ limit: policy.limit, ttl: durationOf(policy.ttlMs, 'ttlMs', 'SLUICE_BAD_TTL') })
    default:
      throw expected('SLUICE_BAD_POLICY', 'a policy of a known kind', (policy as { kind: unknown }).kind)
  }
}

function windowText(windowMs: unknown): Duration {
  return durationOf(windowMs, 'windowMs', 'SLUICE_BAD_WINDOW')
}

/** The number a policy promises: the `limit` of a decision. */
export function limitOfPolicy(policy: Policy): number {
  switch (policy.kind) {
    case 'tokenBucket':
    case 'leakyBucket':
      return policy.capacity
    case 'gcra':
      return policy.burst
    default:
      return policy.limit
  }
}
