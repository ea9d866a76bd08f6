import type { Attributes } from 'sluice/rules'
import type { CheckRequest } from '../decider/decider.ts'
import { shown } from '../shown.ts'
import { BadRequest } from './http-answer.ts'

export const MOST_ATTRIBUTES = 64
export const MOST_IN_A_BATCH = 1000

/** The parsed body as a map; throws `BadRequest` if it is not one. */
export function mapOf(text: string): Record<string, unknown> {
  const body = parse(text)
  if (isMap(body)) return body
  throw notAMap(body)
}

/** One check, or several in an array. */
export function checkRequestsOf(text: string): CheckRequest | readonly CheckRequest[] {
  const body = parse(text)
  if (!Array.isArray(body)) return checkRequestOf(body)
  if (body.length === 0 || body.length > MOST_IN_A_BATCH) {
    throw new BadRequest(400, `expected 1 to ${MOST_IN_A_BATCH} checks, got ${body.length}`)
  }
  return body.map(checkRequestOf)
}

/** `cost` is 1 if missing. All other properties are attributes of the subject. */
export function checkRequestOf(body: unknown): CheckRequest {
  if (!isMap(body)) throw notAMap(body)
  const { cost = 1, ...subject } = body
  const names = Object.keys(subject)
  if (names.length > MOST_ATTRIBUTES) {
    throw new BadRequest(400, `expected at most ${MOST_ATTRIBUTES} attributes, got ${names.length}`)
  }
  for (const name of names) {
    const value = subject[name]
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean' && value !== null) {
      throw new BadRequest(400, `expected attribute '${name.slice(0, 80)}' as text or a number, got ${shown(value)}`)
    }
  }
  if (!Number.isSafeInteger(cost) || (cost as number) < 0) {
    throw new BadRequest(400, `expected cost as a whole number, 0 or more, got ${shown(cost)}`)
  }
  return { subject: subject as Attributes, cost: cost as number }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new BadRequest(400, `expected a body of JSON, got ${text === '' ? 'nothing' : shown(text)}`)
  }
}

function notAMap(body: unknown): BadRequest {
  return new BadRequest(400, `expected a JSON object such as {"ip":"203.0.113.7","cost":1}, got ${shown(body)}`)
}

/** A cost from a query or a command line. Text that is not a cost is returned unchanged, for the error message. */
export function costOf(text: string): number | string {
  const cost = /^\d+$/.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(cost) ? cost : text
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
