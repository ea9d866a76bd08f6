import type { Decision, LimitState } from '../decision.ts'
import { retryAfterSeconds } from './headers.ts'

/** A whole response in place of the handler's. */
export interface Refusal {
  readonly status: number
  /** Beside those of the decision: name, value, name, value … */
  readonly fields: readonly string[]
  readonly body: string
}

/** What a refusal is made of, as the user's own `refuse` sees and may change it. */
export interface RefusalParts {
  status: number
  headers: Record<string, string>
  /** An object is sent as JSON. */
  body: string | object
}

const TYPES = 'https://iana.org/assignments/http-problem-types#'
const QUOTA = { type: `${TYPES}quota-exceeded`, title: 'Quota Exceeded' }
const CAPACITY = { type: `${TYPES}temporary-reduced-capacity`, title: 'Temporary Reduced Capacity' }
const ABUSE = { type: `${TYPES}abnormal-usage-detected`, title: 'Abnormal Usage Detected' }
const NO_STORE = ['Cache-Control', 'no-store'] as const

/**
 * The refusal of a decision: 429 for the caller's own quota, 503 for what everybody shares and for an outage. Nothing in
 * it names a key or an address; of a quiet limit, not even that it was the one.
 */
export function refusalOf(decision: Decision, isShared: (limit: string) => boolean, quiet: boolean): Refusal {
  const { reason } = decision
  const refused = decision.limits.filter(({ allowed, shadow }) => !allowed && !shadow)
  const capacity = reason === 'outage' || refused.every(({ name }) => isShared(name))
  const status = capacity ? 503 : 429
  const seconds = retryAfterSeconds(decision.retryAfterMs)
  const problem = quiet ? { title: capacity ? 'Service Unavailable' : 'Too Many Requests' } : kindOf(reason, capacity)
  const body = {
    ...problem,
    status,
    ...(!quiet && { 'violated-policies': refused.map(nameOf) }),
    error: 'rate_limit_exceeded',
    message: messageOf(decision, capacity, seconds),
    ...(seconds !== undefined && { retry_after: seconds }),
  }
  const retry = seconds === undefined ? [] : ['Retry-After', String(seconds)]
  return problemResponse(status, [...NO_STORE, ...retry], body)
}

function kindOf(reason: Decision['reason'], capacity: boolean): { type: string; title: string } {
  if (capacity) return CAPACITY
  return reason === 'blocked' ? ABUSE : QUOTA
}

function messageOf({ reason }: Decision, capacity: boolean, seconds: number | undefined): string {
  if (seconds === undefined) return 'This request costs more than the limit ever allows.'
  const wait = `Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`
  if (reason === 'outage') return `The request could not be checked. ${wait}`
  return capacity ? `The service is at its capacity. ${wait}` : `Too many requests. ${wait}`
}

function nameOf({ name }: LimitState): string {
  return name
}

/** For an address on the list of those that are not served. */
export const DENIED: Refusal = problemResponse(403, NO_STORE, {
  title: 'Forbidden',
  status: 403,
  error: 'forbidden',
  message: 'Requests from this address are not served.',
})

/** For a client that has gone before its turn came: nobody reads it. */
export const GONE: Refusal = { status: 499, fields: [], body: '' }

function problemResponse(status: number, fields: readonly string[], body: object): Refusal {
  return { status, fields: [...fields, 'Content-Type', 'application/problem+json'], body: JSON.stringify(body) }
}

/** A refusal as the user changes it. */
export function changed(refusal: Refusal, change: (parts: RefusalParts) => Partial<RefusalParts> | undefined): Refusal {
  const headers: Record<string, string> = {}
  for (let i = 0; i < refusal.fields.length; i += 2) headers[refusal.fields[i]!] = refusal.fields[i + 1]!
  const body: unknown = refusal.body === '' ? '' : JSON.parse(refusal.body)
  const parts: RefusalParts = { status: refusal.status, headers, body: body as string | object }
  const { status, headers: fields, body: text } = { ...parts, ...change(parts) }
  return {
    status,
    fields: Object.entries(fields).flat(),
    body: typeof text === 'string' ? text : JSON.stringify(text),
  }
}
