import type { DecisionJson } from 'sluice'
import type { HttpAnswer } from '../http-answer.ts'
import { textOf } from './decision-text.ts'

export const NOTHING_APPLIED = 'no limit applies to these attributes: GET /v1/explain says why'

/** A decision as HTTP tells it. */
export function decided(decision: DecisionJson): HttpAnswer {
  const fields = retry(decision)
  const text = textOf(decision)
  const body = decision.limits.length > 0 ? text : `${text.slice(0, -1)},"note":"${NOTHING_APPLIED}"}`
  const answer = { status: statusOf(decision), body }
  return fields === undefined ? answer : { ...answer, fields }
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
