import type { IncomingMessage } from 'node:http'
import type { DecisionJson, LimitState } from 'sluice'
import { describeLimit, writeFields } from 'sluice/http'
import { type Attributes, policyFor, type RuleLimit } from 'sluice/rules'
import { type Awaitable, andThen } from '../../awaitable.ts'
import type { Decider } from '../../decider/decider.ts'
import type { HttpAnswer } from '../http-answer.ts'
import { askedAbout, headerOf, itself } from './asked-about.ts'
import { type DecideQuery, readQuery } from './decide-query.ts'
import { retry, statusOf } from './decided.ts'

/** What the decision endpoint needs besides the decider: which proxies are trusted, and how limits are described. */
export interface DecideSite {
  readonly clientAddress: (peer: string | undefined, header: (name: string) => string | undefined) => string
  readonly trusts: (peer: string | undefined) => boolean
  readonly limits: readonly RuleLimit[]
}

/**
 * A proxy asks this endpoint about a request before it serves it. Only a trusted proxy may describe a request; for any
 * other caller this decides about the call itself.
 */
export function decide(
  request: IncomingMessage,
  text: string,
  site: DecideSite,
  decider: Decider,
): Awaitable<HttpAnswer> {
  const query = readQuery(text)
  const peer = request.socket.remoteAddress
  const ip = site.clientAddress(peer, name => headerOf(request, name))
  const subject = site.trusts(peer) ? askedAbout(request, ip, query) : itself(request, ip)
  const decided = decider.checks.check({ subject, cost: query.cost, isLenient: true })
  return andThen(decided, decision => {
    const shown = shownLimits(decision, subject, site.limits)
    const answer = (states: readonly ShownLimit[]) =>
      answerOf(decision, query, site.limits, rateLimit(decision, states))
    if (!decision.allowed || !shown.some(isSpent)) return answer(shown)
    // Only a refusal knows when a window with nothing left has one more unit.
    const look = decider.checks.peek({ subject, cost: 1, isLenient: true })
    return andThen(look, ({ limits }) => answer(shown.map(state => withNext(state, limits))))
  })
}

/** 200 or a refusal, with the fields that a proxy passes on. nginx accepts only 403, so a header tells the real status. */
function answerOf(
  decision: DecisionJson,
  { deny }: DecideQuery,
  limits: readonly RuleLimit[],
  rateLimit: Record<string, string>,
): HttpAnswer {
  const status = statusOf(decision)
  const fields = {
    'X-Sluice-Status': String(status),
    'Cache-Control': 'no-store',
    ...retry(decision),
    ...rateLimit,
  }
  if (status === 200) return { status, body: '', type: 'text/plain', fields }
  const body = problemOf(decision, status, limits)
  // nginx drops the body of this answer, but it can put a header of it into its own response.
  return { status: deny ?? status, body, type: PROBLEM_JSON, fields: { ...fields, 'X-Sluice-Problem': body } }
}

const PROBLEM_JSON = 'application/problem+json'
const TYPES = 'https://iana.org/assignments/http-problem-types#'
const QUOTA = { type: `${TYPES}quota-exceeded`, title: 'Quota Exceeded' }
const CAPACITY = { type: `${TYPES}temporary-reduced-capacity`, title: 'Temporary Reduced Capacity' }
const ABUSE = { type: `${TYPES}abnormal-usage-detected`, title: 'Abnormal Usage Detected' }

/** The body for a refused client (RFC 9457), in ASCII, since it travels in a header. It never mentions a quiet limit. */
function problemOf({ reason, limits: states }: DecisionJson, status: number, limits: readonly RuleLimit[]): string {
  const refused = states.filter(({ allowed, shadow }) => !allowed && !shadow).map(({ name }) => name)
  const isQuiet = limits.some(({ name, quiet }) => quiet && refused.includes(name))
  const kind = reason === 'outage' ? CAPACITY : reason === 'blocked' ? ABUSE : QUOTA
  if (reason === 'denied') return JSON.stringify({ title: 'Forbidden', status })
  const problem = isQuiet
    ? { title: status === 503 ? 'Service Unavailable' : 'Too Many Requests', status }
    : { ...kind, status, 'violated-policies': refused }
  return JSON.stringify(problem).replace(/[^ -~]/g, sign => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A limit that a caller may know of. */
interface ShownLimit extends LimitState {
  readonly description: ReturnType<typeof describeLimit>
}

function shownLimits(
  { limits: states }: DecisionJson,
  subject: Attributes,
  limits: readonly RuleLimit[],
): readonly ShownLimit[] {
  return states.flatMap(state => {
    const limit = limits.find(({ name }) => name === state.name)
    if (limit === undefined || limit.quiet || state.shadow) return []
    const description = describeLimit(state.name, policyFor(limit, subject))
    return [{ ...state, retryAfterMs: state.retryAfterMs ?? Infinity, description }]
  })
}

function isSpent({ remaining, description: { pace } }: ShownLimit): boolean {
  return remaining === 0 && (pace.frees === 'by sub-window' || pace.frees === 'by entry')
}

function withNext(state: ShownLimit, looked: DecisionJson['limits']): ShownLimit {
  const next = looked.find(({ name }) => name === state.name)?.retryAfterMs ?? null
  return next === null || !isSpent(state) ? state : { ...state, retryAfterMs: next }
}

/** RateLimit and RateLimit-Policy for every limit that a caller may know of. */
function rateLimit(decision: DecisionJson, shown: readonly ShownLimit[]): Record<string, string> {
  const binding = shown.findIndex(({ name }) => name === decision.policy)
  const out: string[] = []
  const descriptions = shown.map(({ description }) => description)
  writeFields(['draft-11'], descriptions, shown, binding, decision.at, out)
  return Object.fromEntries(out.flatMap((name, i) => (i % 2 === 0 ? [[name, out[i + 1]!]] : [])))
}
