import type { Duration, LimitMode } from 'sluice'
import { andThen } from '../../awaitable.ts'
import { checkRequestOf, mapOf } from '../check-request.ts'
import { BadRequest, json } from '../http-answer.ts'
import type { ApiRoute } from '../route.ts'

export const OPERATOR_ROUTES: readonly ApiRoute[] = [
  {
    method: 'POST',
    path: '/v1/refund',
    right: 'admin',
    summary: 'Gives the cost back to all limits that apply, never beyond full.',
    body: 'CheckRequest',
    answers: { 200: 'Refunded' },
    answer: (text, decider) =>
      andThen(decider.operations.refund(checkRequestOf(mapOf(text))), () => json(200, { refunded: true })),
  },
  {
    method: 'POST',
    path: '/v1/reset',
    right: 'admin',
    summary: 'Clears the counts of a subject, in the limits that `limits` names or in all that have a key.',
    body: 'Reset',
    answers: { 200: 'WasReset' },
    answer(text, decider) {
      const { limits, ...subject } = mapOf(text)
      if (limits !== undefined && !isNames(limits)) throw new BadRequest(400, 'expected limits as names of limits')
      return andThen(decider.operations.reset(checkRequestOf(subject).subject, limits), () =>
        json(200, { reset: true }),
      )
    },
  },
  {
    method: 'POST',
    path: '/v1/block',
    right: 'admin',
    summary:
      'Refuses a subject by the limit that `limit` names, for the time in `for`. `limit` may be left out if there is only one.',
    body: 'Block',
    answers: { 200: 'Blocked' },
    answer(text, decider) {
      const { limit, for: length, ...subject } = mapOf(text)
      if (limit !== undefined && typeof limit !== 'string') throw new BadRequest(400, 'expected limit as a name')
      if (typeof length !== 'string') throw new BadRequest(400, 'expected for as a duration such as "15m"')
      const block = { ...(limit !== undefined && { limit }), for: length as Duration }
      return andThen(decider.operations.block(checkRequestOf(subject).subject, block), () =>
        json(200, { blocked: true }),
      )
    },
  },
  {
    method: 'POST',
    path: '/v1/modes',
    right: 'admin',
    summary: 'Turns a limit to enforce, shadow or off, until the rules are loaded again.',
    body: 'Mode',
    answers: { 200: 'Mode' },
    answer(text, decider) {
      const { limit, mode } = mapOf(text)
      if (typeof limit !== 'string') throw new BadRequest(400, 'expected limit as the name of one')
      return andThen(decider.operations.setMode(limit, mode as LimitMode), () => json(200, { limit, mode }))
    },
  },
  {
    method: 'GET',
    path: '/v1/modes',
    right: 'admin',
    summary: 'The mode of each limit now.',
    answers: { 200: 'Modes' },
    answer: (_, decider) => andThen(decider.operations.modes(), modes => json(200, modes)),
  },
  {
    method: 'GET',
    path: '/v1/shadows',
    right: 'admin',
    summary: 'What enforcing the shadow limits would change, and for whom.',
    answers: { 200: 'Shadows' },
    answer: (_, decider) => andThen(decider.operations.shadows(), shadows => json(200, shadows)),
  },
]

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every(name => typeof name === 'string')
}
