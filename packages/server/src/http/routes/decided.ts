import type { DecisionJson } from 'sluice'
import type { HttpAnswer } from '../http-answer.ts'
import { textOf } from './decision-text.ts'

export const NOTHING_APPLIED = 'no limit applies to these attributes: GET /v1/explain says why'

/** A decision as the HTTP API returns it. */
export function decided(decision: DecisionJson): HttpAnswer {
  const fields = retry(decision)
  const text = textOf(decision)
  const body = appliedTo(decision) ? text : `${text.slice(0, -1)},"note":"${NOTHING_APPLIED}"}`
  const answer = { status: statusOf(decision), body }
  return fields === undefined ? answer : { ...answer, fields }
}

/** Whether any limit or list applied. */
export function appliedTo({ limits, reason }: DecisionJson): boolean {
  return limits.length > 0 || reason !== 'ok'
}

/** 503 if the store could not be asked and the limit fails closed, which is not the caller's fault. 403 if a list denies
 * the caller, since waiting does not help. */
export function statusOf({ allowed, reason }: DecisionJson): number {
  if (allowed) return 200
  if (reason === 'denied') return 403
  return reason === 'outage' ? 503 : 429
}

export function retry({ allowed, retryAfterMs }: DecisionJson): Record<string, string> | undefined {
  if (allowed || retryAfterMs === null) return undefined
  return { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }
}
