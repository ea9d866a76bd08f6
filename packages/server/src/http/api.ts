import type { DecisionJson } from 'sluice'
import type { Ask, Decider, Maybe } from '../decider/decider.ts'
import { answerJson } from '../rls/json.ts'
import { askOf, asksOf, mapOf } from './asks.ts'
import { type Answer, BadRequest, json } from './exchange.ts'

/** Who may call: anybody who may check, or an operator. */
export type Right = 'check' | 'admin'

export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly right: Right
  /** For the OpenAPI document. */
  readonly summary: string
  readonly body?: string
  readonly statuses: readonly number[]
  /** `text` is the body of a POST, the query of a GET. */
  answer(text: string, decider: Decider): Maybe<Answer>
}

const LONGEST_TTL_MS = 86_400_000

/** The HTTP API. `/openapi.json` is made from this table. */
export const API: readonly Route[] = [
  {
    method: 'POST',
    path: '/v1/check',
    right: 'check',
    summary:
      'Takes the cost from all limits that apply, or from none. An array is decided one by one and always answers 200.',
    body: 'Asks',
    statuses: [200, 429, 503],
    answer(text, decider) {
      const asked = asksOf(text)
      if (isBatch(asked)) return batch(asked, ask => decider.check(ask))
      return andThen(decider.check(asked), decided)
    },
  },
  {
    method: 'POST',
    path: '/v1/peek',
    right: 'check',
    summary: 'Says whether the cost would pass, and takes nothing.',
    body: 'Asks',
    statuses: [200, 429, 503],
    answer(text, decider) {
      const asked = asksOf(text)
      if (isBatch(asked)) return batch(asked, ask => decider.peek(ask))
      return andThen(decider.peek(asked), decided)
    },
  },
  {
    method: 'POST',
    path: '/v1/reserve',
    right: 'check',
    summary: 'Sets a cost aside for `ttl_ms`. The answer has the id it is settled by.',
    body: 'Reserve',
    statuses: [200, 429, 503],
    answer(text, decider) {
      const { ttl_ms: ttlMs = 60_000, ...rest } = mapOf(text)
      if (!Number.isSafeInteger(ttlMs) || (ttlMs as number) < 1 || (ttlMs as number) > LONGEST_TTL_MS) {
        throw new BadRequest(400, `expected ttl_ms as a whole number from 1 to ${LONGEST_TTL_MS}`)
      }
      const reserved = decider.reserve(askOf(rest), ttlMs as number)
      return andThen(reserved, ({ decision, id }) =>
        json(statusOf(decision), { id: id ?? null, decision }, retry(decision)),
      )
    },
  },
  {
    method: 'POST',
    path: '/v1/settle',
    right: 'check',
    summary: 'Ends a reservation with what was really used, or with `"cancel": true`.',
    body: 'Settle',
    statuses: [200, 404],
    answer(text, decider) {
      const { id, actual, cancel = false } = mapOf(text)
      if (typeof id !== 'string') throw new BadRequest(400, 'expected the id that reserve answered')
      if (cancel !== true && !(Number.isSafeInteger(actual) && (actual as number) >= 0)) {
        throw new BadRequest(400, 'expected actual as a whole number from 0 on, or cancel true')
      }
      return andThen(decider.settle(id, cancel === true ? undefined : (actual as number)), settlement => {
        if (settlement !== undefined) return json(200, settlement)
        throw new BadRequest(
          404,
          'no such reservation: it was settled, or it expired and was settled at what was reserved',
        )
      })
    },
  },
  {
    method: 'POST',
    path: '/v1/refund',
    right: 'admin',
    summary: 'Gives the cost back to all limits that apply, never beyond full.',
    body: 'Ask',
    statuses: [200],
    answer: (text, decider) => andThen(decider.refund(askOf(mapOf(text))), () => json(200, { refunded: true })),
  },
  {
    method: 'POST',
    path: '/v1/reset',
    right: 'admin',
    summary: 'Forgets what is counted for a subject, in the limits named or in all that have a key.',
    body: 'Reset',
    statuses: [200],
    answer(text, decider) {
      const { limits, ...subject } = mapOf(text)
      if (limits !== undefined && !(Array.isArray(limits) && limits.every(name => typeof name === 'string'))) {
        throw new BadRequest(400, 'expected limits as names of limits')
      }
      const reset = decider.reset(askOf(subject).subject, limits as string[] | undefined)
      return andThen(reset, () => json(200, { reset: true }))
    },
  },
  {
    method: 'POST',
    path: '/v1/modes',
    right: 'admin',
    summary: 'Turns a limit to enforce, shadow or off, until the rules are loaded again.',
    body: 'Mode',
    statuses: [200],
    answer(text, decider) {
      const { limit, mode } = mapOf(text)
      if (typeof limit !== 'string') throw new BadRequest(400, 'expected limit as the name of one')
      return andThen(decider.setMode(limit, mode as never), () => json(200, { limit, mode }))
    },
  },
  {
    method: 'GET',
    path: '/v1/shadows',
    right: 'admin',
    summary: 'What enforcing the shadow limits would change, and for whom.',
    statuses: [200],
    answer: (_, decider) => andThen(decider.shadows(), shadows => json(200, shadows)),
  },
  {
    method: 'GET',
    path: '/v1/explain',
    right: 'check',
    summary: 'Which limits apply to the subject in the query, and why; nothing is counted.',
    statuses: [200],
    answer(query, decider) {
      const { cost = '1', ...subject } = Object.fromEntries(new URLSearchParams(query))
      return andThen(decider.explain(askOf({ ...subject, cost: Number(cost) })), explained => json(200, explained))
    },
  },
  {
    method: 'POST',
    path: '/json',
    right: 'check',
    summary: "Envoy's rate limit service as proto3 JSON.",
    body: 'RateLimitRequest',
    statuses: [200, 429, 500],
    answer: (text, decider) => answerJson(decider, text),
  },
]

export function decided(decision: DecisionJson): Answer {
  return json(statusOf(decision), decision, retry(decision))
}

/** 503 where it is not the caller's own doing: the store could not be asked, and the limit fails closed. */
export function statusOf({ allowed, reason }: DecisionJson): number {
  if (allowed) return 200
  return reason === 'outage' ? 503 : 429
}

export function retry({ allowed, retryAfterMs }: DecisionJson): Record<string, string> | undefined {
  if (allowed || retryAfterMs === null) return undefined
  return { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }
}

function isBatch(asked: Ask | readonly Ask[]): asked is readonly Ask[] {
  return Array.isArray(asked)
}

async function batch(asks: readonly Ask[], decide: (ask: Ask) => Maybe<DecisionJson>): Promise<Answer> {
  return json(200, await Promise.all(asks.map(decide)))
}

function andThen<T, U>(value: Maybe<T>, next: (value: T) => U): Maybe<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
