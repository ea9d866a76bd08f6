import type { Decision, LimitState } from '../../decision.ts'
import { retryAfterSeconds } from './headers.ts'

/** A whole response that replaces the handler's. */
export interface Refusal {
  readonly status: number
  /** Name, value, name, value …, in addition to the fields of the decision. */
  readonly fields: readonly string[]
  readonly body: string
}

export const PROBLEM_JSON = 'application/problem+json'
/** The names of the limits that refused. */
export const VIOLATED = 'violated-policies'

const TYPES = 'https://iana.org/assignments/http-problem-types#'
const QUOTA = { type: `${TYPES}quota-exceeded`, title: 'Quota Exceeded' }
const CAPACITY = { type: `${TYPES}temporary-reduced-capacity`, title: 'Temporary Reduced Capacity' }
const ABUSE = { type: `${TYPES}abnormal-usage-detected`, title: 'Abnormal Usage Detected' }

/** What a guard sets for its refusals. */
interface RefusalRules {
  isShared(limit: string): boolean
  /** The limit's own status, if it has one. */
  statusOf(limit: string): number | undefined
  /** The largest share of the wait that is added to `Retry-After`. */
  readonly retryAfterJitter: number
}

/**
 * The refusal of a decision: 429 for the caller's own quota, 503 for a shared limit and for an outage, unless the binding
 * limit has its own status. It never names a key or an address. For a quiet limit it does not name the limit either.
 * `states` are the limits as callers are told.
 */
export function refusalOf(
  decision: Decision,
  states: readonly LimitState[],
  rules: RefusalRules,
  quiet: boolean,
): Refusal {
  const { reason } = decision
  const refused = states.filter(({ allowed, shadow }) => !allowed && !shadow)
  const capacity = reason === 'outage' || refused.every(({ name }) => rules.isShared(name))
  const own = quiet || reason === 'outage' ? undefined : rules.statusOf(decision.policy)
  const status = own ?? (capacity ? 503 : 429)
  const exact = retryAfterSeconds(Math.max(...refused.map(({ retryAfterMs }) => retryAfterMs)))
  const seconds = exact === undefined ? undefined : spread(exact, rules.retryAfterJitter)
  const kind = kindOf(reason, capacity)
  // JSON leaves out properties that are undefined.
  const body = {
    type: quiet ? undefined : kind.type,
    title: quiet ? (capacity ? 'Service Unavailable' : 'Too Many Requests') : kind.title,
    status,
    [VIOLATED]: quiet ? undefined : refused.map(nameOf),
    error: 'rate_limit_exceeded',
    message: messageOf(reason, capacity, seconds),
    retry_after: seconds,
  }
  return problemResponse(status, body, seconds)
}

/** Adds only, so that callers who were refused together come back at different times and none comes back too early. */
function spread(seconds: number, jitter: number): number {
  return seconds + Math.floor(Math.random() * (jitter * seconds + 1))
}

function kindOf(reason: Decision['reason'], capacity: boolean): { type: string; title: string } {
  if (capacity) return CAPACITY
  return reason === 'blocked' ? ABUSE : QUOTA
}

function messageOf(reason: Decision['reason'], capacity: boolean, seconds: number | undefined): string {
  if (seconds === undefined) return 'This request costs more than the limit ever allows.'
  const wait = `Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`
  if (reason === 'outage') return `The request could not be checked. ${wait}`
  return capacity ? `The service is at its capacity. ${wait}` : `Too many requests. ${wait}`
}

function nameOf({ name }: LimitState): string {
  return name
}

/** The refusal of an address on the `deny` list. */
export const DENIED: Refusal = problemResponse(403, {
  title: 'Forbidden',
  status: 403,
  error: 'forbidden',
  message: 'Requests from this address are not served.',
})

/** For a client that left while it was delayed, so it does not see this response. */
export const GONE: Refusal = { status: 499, fields: [], body: '' }

function problemResponse(status: number, body: object, retryAfter?: number): Refusal {
  const fields = ['Cache-Control', 'no-store', 'Content-Type', PROBLEM_JSON]
  if (retryAfter !== undefined) fields.push('Retry-After', String(retryAfter))
  return { status, fields, body: JSON.stringify(body) }
}

/** The body as an object if it is JSON, else as its text. */
export function parsedBody(text: string): string | object {
  try {
    return text.startsWith('{') ? (JSON.parse(text) as object) : text
  } catch {
    return text
  }
}
