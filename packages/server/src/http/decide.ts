import type { IncomingMessage } from 'node:http'
import type { DecisionJson } from 'sluice'
import { canonicalPath, describeLimit, writeFields } from 'sluice/http'
import { type Attributes, policyFor, type RuleLimit } from 'sluice/rules'
import { retry, statusOf } from './api.ts'
import type { Answer } from './exchange.ts'

/** What the decision endpoint must know beside the decider: who may speak for others, and how limits look. */
export interface DecideSite {
  readonly clientAddress: (peer: string | undefined, header: (name: string) => string | undefined) => string
  readonly trusts: (peer: string | undefined) => boolean
  readonly limits: readonly RuleLimit[]
}

/** Any path, where a proxy says which request it asks about. */
export function isAsked(request: IncomingMessage): boolean {
  return request.headers['x-forwarded-uri'] !== undefined || request.headers['x-original-uri'] !== undefined
}

/**
 * What a proxy's sub-request says of the request it asks about. Only a trusted proxy is believed; anybody else asks about
 * itself. What the proxy puts into the query of its own request (`?user=…`) is taken as attributes.
 */
export function subjectOf(request: IncomingMessage, query: URLSearchParams, site: DecideSite): Attributes {
  const peer = request.socket.remoteAddress
  const header = (name: string) => textOf(request.headers[name])
  const said = site.trusts(peer) ? header : () => undefined
  const uri = said('x-forwarded-uri') ?? said('x-original-uri') ?? '/'
  const { deny: _, ...attributes } = Object.fromEntries(query)
  return {
    ...(site.trusts(peer) && attributes),
    ip: site.clientAddress(peer, header),
    method: said('x-forwarded-method') ?? said('x-original-method') ?? request.method ?? 'GET',
    route: canonicalPath(uri),
    host: said('x-forwarded-host') ?? header('host') ?? '',
    proto: said('x-forwarded-proto') ?? 'http',
  }
}

function textOf(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}

/** 200 or a refusal, with the fields a proxy hands on. nginx knows only 401 and 403: `?deny=403`, and the real status beside. */
export function answerProxy(
  decision: DecisionJson,
  subject: Attributes,
  query: URLSearchParams,
  limits: readonly RuleLimit[],
): Answer {
  const status = statusOf(decision)
  const deny = query.get('deny')
  const shown = status === 200 || (deny !== '401' && deny !== '403') ? status : Number(deny)
  const fields = {
    'X-Sluice-Status': String(status),
    'Cache-Control': 'no-store',
    ...retry(decision),
    ...rateLimitFields(decision, subject, limits),
  }
  return { status: shown, body: '', type: 'text/plain', fields }
}

function rateLimitFields(
  { limits: states, policy: binding, at }: DecisionJson,
  subject: Attributes,
  limits: readonly RuleLimit[],
): Record<string, string> {
  const shown = states.flatMap(state => {
    const limit = limits.find(({ name }) => name === state.name)
    if (limit === undefined || limit.quiet || state.shadow) return []
    return [
      {
        ...state,
        retryAfterMs: state.retryAfterMs ?? Infinity,
        description: describeLimit(state.name, policyFor(limit, subject)),
      },
    ]
  })
  const out: string[] = []
  const index = shown.findIndex(({ name }) => name === binding)
  writeFields(
    ['draft-11'],
    shown.map(({ description }) => description),
    shown,
    index,
    at,
    out,
  )
  return Object.fromEntries(out.flatMap((name, i) => (i % 2 === 0 ? [[name, out[i + 1]!]] : [])))
}
