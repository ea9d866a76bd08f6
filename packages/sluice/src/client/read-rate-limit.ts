import { systemClock } from '../clock.ts'
import { parsePlainDecimal, parseRetryAfter, type ReadingTime, readingTime } from './field-times.ts'
import { readNamedFields } from './named-fields.ts'
import { readStructuredFields } from './ratelimit-fields.ts'

/** One limit as a server tells of it. Times are epoch milliseconds of this machine. */
export interface ToldLimit {
  /** The server's name for it: `'burst'`, `'tokens'`; empty where it has none. */
  readonly name: string
  readonly limit?: number
  readonly remaining?: number
  /** When it is whole again, or when there will be more: servers differ. */
  readonly resetAt?: number
  readonly windowMs?: number
  /** What is counted, where it is not requests: `'content-bytes'`. */
  readonly unit?: string
  /** The partition key, in base64. */
  readonly partition?: string
}

export interface RateLimitInfo {
  /** Of the binding limit, as are `remaining` and `resetAt`: the one with the least left, then the latest reset. */
  readonly limit: number | undefined
  readonly remaining: number | undefined
  readonly resetAt: number | undefined
  /** When to ask again, if the server says so: `Retry-After`, never earlier. */
  readonly retryAt: number | undefined
  /** Every limit the server tells of. */
  readonly policies: readonly ToldLimit[]
  /** What the server calls the limit that counts this route: Discord's bucket, GitHub's resource. */
  readonly bucket: string | undefined
  /** Whom the limit concerns, or why it refused: Discord's scope, Stripe's reason. */
  readonly scope: string | undefined
}

/** A `Response`, or what is known of one. */
export interface ToldResponse {
  readonly headers: Pick<Headers, 'get' | 'forEach'> | Readonly<Record<string, string | readonly string[] | undefined>>
}

export interface ReadOptions {
  /** Epoch milliseconds; the machine's clock by default. */
  now?: number
  /** What a reset below 1,000,000,000 counts in; seconds by default. */
  resetUnit?: 's' | 'ms'
}

/** Everything a response says of limits, in any dialect. Fields that make no sense are ignored. */
export function readRateLimit(response: ToldResponse, options: ReadOptions = {}): RateLimitInfo {
  const fields = fieldsOfLimits(response.headers)
  return fields === undefined ? NOTHING : readFields(fields, options.now ?? systemClock.now(), options.resetUnit ?? 's')
}

/** By lower-case name. */
export type Fields = ReadonlyMap<string, string>

function readFields(fields: Fields, now: number, resetUnit: 's' | 'ms'): RateLimitInfo {
  const time = readingTime(now, fields.get('date') ?? '')
  const retryAt = retryAtOf(fields, time)
  // RFC 9111: a response with an Age was not made for this request, so what it tells of limits is out of date.
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

/** The finer of the two where they agree to the second, the later where they do not. */
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

/** What may tell of limits, by lower-case name, and the date to read it by; undefined where nothing does, as in most responses. */
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
