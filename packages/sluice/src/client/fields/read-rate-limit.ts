import { checkOptions } from '../../check-options.ts'
import { systemClock } from '../../clock.ts'
import { parsePlainDecimal, parseRetryAfter, type ReadingTime, readingTime } from './field-times.ts'
import { readNamedFields } from './named-fields.ts'
import type { Fields, RateLimitInfo, ToldLimit } from './rate-limit-info.ts'
import { readStructuredFields } from './ratelimit-fields.ts'

/** A `Response`, or its headers. */
export interface ToldResponse {
  readonly headers: Pick<Headers, 'get' | 'forEach'> | Readonly<Record<string, string | readonly string[] | undefined>>
}

export interface ReadOptions {
  /** Epoch milliseconds; the machine's clock by default. */
  now?: number
  /** The unit of a reset below 1,000,000,000; seconds by default. */
  resetUnit?: 's' | 'ms'
}

/** Reads everything a response says about limits, in any dialect. Malformed fields are ignored. */
export function readRateLimit(response: ToldResponse, options: ReadOptions = {}): RateLimitInfo {
  const { now = systemClock.now(), resetUnit = 's' } = checkOptions('readRateLimit', options, ['now', 'resetUnit'])
  const fields = fieldsOfLimits(response.headers)
  return fields === undefined ? NOTHING : readFields(fields, now, resetUnit)
}

function readFields(fields: Fields, now: number, resetUnit: 's' | 'ms'): RateLimitInfo {
  const time = readingTime(now, fields.get('date') ?? '')
  const retryAt = retryAtOf(fields, time)
  // RFC 9111: a response with an Age comes from a cache, so what it says about limits is out of date.
  if (fields.has('age')) return { ...NOTHING, retryAt }
  const named = readNamedFields(fields, time, resetUnit)
  const structured = readStructuredFields(fields, time)
  const policies = structured.length > 0 ? structured : named.policies
  const binding = bindingOf(policies)
  return {
    limit: binding?.limit,
    remaining: binding?.remaining,
    resetAt: binding?.resetAt,
    retryAt,
    policies,
    bucket: named.bucket,
    scope: named.scope ?? fields.get('stripe-rate-limited-reason'),
  }
}

const NOTHING: RateLimitInfo = Object.freeze({
  ...{ limit: undefined, remaining: undefined, resetAt: undefined, retryAt: undefined },
  ...{ policies: Object.freeze([]), bucket: undefined, scope: undefined },
})

/** `Retry-After-Ms` if it agrees with `Retry-After` to the second, otherwise the later of the two. */
function retryAtOf(fields: Fields, time: ReadingTime): number | undefined {
  const seconds = parseRetryAfter(fields.get('retry-after') ?? '', time)
  const ms = parsePlainDecimal(fields.get('retry-after-ms') ?? '')
  if (ms === undefined) return seconds
  const fine = time.now + ms
  return seconds !== undefined && seconds > fine + 1000 ? seconds : fine
}

/** The one with the least left, then the latest reset, then the first. */
function bindingOf(policies: readonly ToldLimit[]): ToldLimit | undefined {
  let binding = policies[0]
  for (const policy of policies) {
    const [left, least] = [policy.remaining ?? Infinity, binding!.remaining ?? Infinity]
    if (left < least || (left === least && (policy.resetAt ?? 0) > (binding!.resetAt ?? 0))) binding = policy
  }
  return binding
}

/** The fields that may say something about limits, and the date; undefined if there are none, as in most responses. */
function fieldsOfLimits(headers: ToldResponse['headers']): Fields | undefined {
  let fields: Map<string, string> | undefined
  let date = ''
  const visit = (name: string, value: string) => {
    if (name === 'date') date = value
    else if (OF_LIMITS.test(name)) {
      fields ??= new Map()
      fields.set(name, value)
    }
  }
  if (typeof headers.forEach === 'function') {
    ;(headers as Headers).forEach((value, name) => {
      visit(name, value)
    })
  } else {
    for (const [name, value] of Object.entries(headers as Record<string, string | readonly string[] | undefined>)) {
      if (value !== undefined) visit(name.toLowerCase(), typeof value === 'string' ? value : value.join(', '))
    }
  }
  fields?.set('date', date)
  return fields
}

const OF_LIMITS = /limit|retry-after|^age$/
