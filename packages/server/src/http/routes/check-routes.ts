import type { DecisionJson } from 'sluice'
import { type Awaitable, andThen } from '../../awaitable.ts'
import type { CheckRequest } from '../../decider/decider.ts'
import { answerJson } from '../../rls/json.ts'
import { checkRequestOf, checkRequestsOf, costOf } from '../check-request.ts'
import { type HttpAnswer, isMisuse, json } from '../http-answer.ts'
import type { ApiRoute } from '../route.ts'
import { appliedTo, decided, NOTHING_APPLIED } from './decided.ts'

export const CHECK_ROUTES: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/check',
    right: 'check',
    summary:
      'Takes the cost from all limits that apply, or from none. An array is decided one by one and always answers 200.',
    body: 'CheckRequests',
    answers: { 200: 'Decisions', 403: 'Decision', 429: 'Decision', 503: 'Decision' },
    answer: (text, decider) => answerAll(text, ask => decider.checks.check(ask)),
  },
  {
    method: 'POST',
    path: '/v1/peek',
    right: 'check',
    summary: 'Says whether the cost would pass, and takes nothing.',
    body: 'CheckRequests',
    answers: { 200: 'Decisions', 403: 'Decision', 429: 'Decision', 503: 'Decision' },
    answer: (text, decider) => answerAll(text, ask => decider.checks.peek(ask)),
  },
  {
    method: 'GET',
    path: '/v1/explain',
    right: 'check',
    summary: 'Which limits apply to the subject in the query, and why; nothing is counted.',
    answers: { 200: 'Explanations' },
    answer(query, decider) {
      const { cost = '1', ...subject } = Object.fromEntries(new URLSearchParams(query))
      return andThen(decider.checks.explain(checkRequestOf({ ...subject, cost: costOf(cost) })), explained =>
        json(200, explained),
      )
    },
  },
  {
    method: 'GET',
    path: '/v1/limits',
    right: 'check',
    summary: 'The limits of the rules that are served now.',
    answers: { 200: 'Limits' },
    answer: (_, decider) => andThen(decider.checks.limits(), limits => json(200, limits)),
  },
  {
    method: 'POST',
    path: '/json',
    right: 'check',
    summary: "Envoy's rate limit service as proto3 JSON.",
    body: 'RateLimitRequest',
    answers: { 200: 'RateLimitResponse', 400: 'Status', 429: 'RateLimitResponse', 500: 'Status' },
    answer: (text, decider) => answerJson(decider.descriptors, text),
  },
]

function answerAll(text: string, decide: (ask: CheckRequest) => Awaitable<DecisionJson>): Awaitable<HttpAnswer> {
  const asked = checkRequestsOf(text)
  return isBatch(asked) ? batch(asked, decide) : andThen(decide(asked), decided)
}

function isBatch(asked: CheckRequest | readonly CheckRequest[]): asked is readonly CheckRequest[] {
  return Array.isArray(asked)
}

/** If the limits reject one check of a batch as invalid, the caller still gets the decisions on the others. */
async function batch(
  asks: readonly CheckRequest[],
  decide: (ask: CheckRequest) => Awaitable<DecisionJson>,
): Promise<HttpAnswer> {
  const answers = asks.map(async ask => {
    try {
      return await decide(ask)
    } catch (error) {
      if (isMisuse(error)) return { error: error.message }
      throw error
    }
  })
  const told = await Promise.all(answers)
  return json(
    200,
    told.map(one => ('limits' in one && !appliedTo(one) ? { ...one, note: NOTHING_APPLIED } : one)),
  )
}
