import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { DecisionJson } from 'sluice'
import { describeLimit, writeFields } from 'sluice/http'
import { type Attributes, policyFor, type RuleLimit } from 'sluice/rules'
import type { Awaitable } from '../../awaitable.ts'
import type { Decider } from '../../decider/decider.ts'
import type { HttpAnswer } from '../http-answer.ts'
import { askedAbout, headerOf, itself } from './asked-about.ts'
import { type DecideQuery, readQuery } from './decide-query.ts'
import { retry, statusOf } from './decided.ts'

/** What the decision endpoint must know beside the decider: who may speak for others, and how limits look. */
export interface DecideSite {
  readonly clientAddress: (peer: string | undefined, header: (name: string) => string | undefined) => string
  readonly trusts: (peer: string | undefined) => boolean
  readonly limits: readonly RuleLimit[]
}

/**
 * Decides about the request that a proxy asks about before it serves it. Only a trusted proxy is believed; anybody else
 * asks about itself.
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
  const answer = (decision: DecisionJson) => answerOf(decision, query, rateLimit(decision, subject, site.limits))
  const decision = decider.checks.check({ subject, cost: query.cost, isLenient: true })
  return decision instanceof Promise ? decision.then(answer) : answer(decision)
}

/** 200 or a refusal, with the fields a proxy hands on. nginx knows only 403: so that, and the real status beside. */
function answerOf(decision: DecisionJson, { deny }: DecideQuery, rateLimit: Record<string, string>): HttpAnswer {
  const status = statusOf(decision)
  const fields = {
    'X-Sluice-Status': String(status),
    'Cache-Control': 'no-store',
    ...retry(decision),
    ...rateLimit,
  }
  if (status === 200) return { status, body: '', type: 'text/plain', fields }
  return { status: deny ?? status, body: `${STATUS_CODES[status]}\n`, type: 'text/plain', fields }
}

/** RateLimit and RateLimit-Policy, of every limit that a caller may know of. */
function rateLimit(decision: DecisionJson, subject: Attributes, limits: readonly RuleLimit[]): Record<string, string> {
  const shown = decision.limits.flatMap(state => {
    const limit = limits.find(({ name }) => name === state.name)
    if (limit === undefined || limit.quiet || state.shadow) return []
    const description = describeLimit(state.name, policyFor(limit, subject))
    return [{ ...state, retryAfterMs: state.retryAfterMs ?? Infinity, description }]
  })
  const binding = shown.findIndex(({ name }) => name === decision.policy)
  const out: string[] = []
  const descriptions = shown.map(({ description }) => description)
  writeFields(['draft-11'], descriptions, shown, binding, decision.at, out)
  return Object.fromEntries(out.flatMap((name, i) => (i % 2 === 0 ? [[name, out[i + 1]!]] : [])))
}
