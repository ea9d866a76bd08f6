import { andThen } from '../../awaitable.ts'
import type { Actual } from '../../decider/decider.ts'
import { checkRequestOf, isMap, mapOf } from '../check-request.ts'
import { BadRequest, json } from '../http-answer.ts'
import type { ApiRoute } from '../route.ts'
import { retry, statusOf } from './decided.ts'

export const LONGEST_TTL_MS = 86_400_000
export const USUAL_TTL_MS = 60_000

export const RESERVATION_ROUTES: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/reserve',
    right: 'check',
    summary: 'Sets a cost aside for `ttl_ms`. The answer has the id it is settled by.',
    body: 'Reserve',
    answers: { 200: 'Reserved', 403: 'Reserved', 429: 'Reserved', 503: 'Reserved' },
    answer(text, decider) {
      const { ttl_ms: ttl = USUAL_TTL_MS, ...rest } = mapOf(text)
      return andThen(decider.checks.reserve(checkRequestOf(rest), ttlOf(ttl)), ({ decision, id }) =>
        json(statusOf(decision), { id: id ?? null, decision }, retry(decision)),
      )
    },
  },
  {
    method: 'POST',
    path: '/v1/settle',
    right: 'check',
    summary: 'Ends a reservation with what was really used, in all or by limit, or with `"cancel": true`.',
    body: 'Settle',
    answers: { 200: 'Settlement', 404: 'Error' },
    answer(text, decider) {
      const { id, actual, cancel = false } = mapOf(text)
      if (typeof id !== 'string') throw new BadRequest(400, 'expected the id that reserve answered')
      return andThen(decider.checks.settle(id, cancel === true ? undefined : actualOf(actual)), settlement => {
        if (settlement !== undefined) return json(200, settlement)
        throw new BadRequest(
          404,
          'no such reservation: it was settled, or it expired and was settled at what was reserved',
        )
      })
    },
  },
]

function ttlOf(ttl: unknown): number {
  if (Number.isSafeInteger(ttl) && (ttl as number) >= 1 && (ttl as number) <= LONGEST_TTL_MS) return ttl as number
  throw new BadRequest(400, `expected ttl_ms as a whole number from 1 to ${LONGEST_TTL_MS}`)
}

function actualOf(actual: unknown): Actual {
  const amounts = isMap(actual) ? Object.values(actual) : [actual]
  if (amounts.length > 0 && amounts.every(isAmount)) return actual as Actual
  throw new BadRequest(
    400,
    'expected actual as a whole number, 0 or more, or one for each limit by name; or cancel true',
  )
}

function isAmount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
