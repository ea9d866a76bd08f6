import { MOST_ATTRIBUTES, MOST_IN_A_BATCH } from '../check-request.ts'
import { LONGEST_TTL_MS, USUAL_TTL_MS } from './reservation-routes.ts'

const boolean = { type: 'boolean' }
const string = { type: 'string' }
const number = { type: 'number' }
const whole = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
/** An infinite number is written as null. */
const numberOrNever = { type: ['number', 'null'] }
const mode = { enum: ['enforce', 'shadow', 'off'] }

/** The attributes of a subject, next to the call's own properties. */
const subject = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  properties,
  maxProperties: MOST_ATTRIBUTES + Object.keys(properties).length,
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
})

/** An object with these properties and, if given, optional ones; no others. */
const record = (properties: Readonly<Record<string, object>>, optional: Readonly<Record<string, object>> = {}) => ({
  type: 'object',
  properties: { ...properties, ...optional },
  required: Object.keys(properties),
  additionalProperties: false,
})

export function ref(name: string) {
  return { $ref: `#/components/schemas/${name}` }
}

/** Requests and responses, for the OpenAPI document. */
export const SCHEMAS = {
  CheckRequest: {
    ...subject({ cost: { ...whole, default: 1 } }),
    description: 'What is known about the subject, and what it costs.',
  },
  CheckRequests: {
    oneOf: [ref('CheckRequest'), { type: 'array', items: ref('CheckRequest'), minItems: 1, maxItems: MOST_IN_A_BATCH }],
  },
  Query: { type: 'object', additionalProperties: string, description: 'The subject, and `cost`.' },
  Reserve: subject({
    cost: { ...whole, default: 1 },
    ttl_ms: { type: 'integer', minimum: 1, maximum: LONGEST_TTL_MS, default: USUAL_TTL_MS },
  }),
  Settle: {
    type: 'object',
    properties: {
      id: string,
      actual: { oneOf: [whole, { type: 'object', minProperties: 1, additionalProperties: whole }] },
      cancel: boolean,
    },
    required: ['id'],
    anyOf: [{ required: ['actual'] }, { properties: { cancel: { const: true } }, required: ['cancel'] }],
  },
  Reset: subject({ limits: { type: 'array', items: string } }),
  Block: {
    ...subject({ limit: string, for: { ...string, description: 'A duration such as 15m.' } }),
    required: ['for'],
  },
  Mode: record({ limit: string, mode }),
  Modes: { type: 'array', items: ref('Mode') },
  Limits: {
    type: 'array',
    items: record(
      {
        ...{ limit: string, key: { type: 'array', items: string }, mode },
        when: { type: 'object', additionalProperties: { type: 'array', items: string } },
        policy: { oneOf: [string, { type: 'object', additionalProperties: string }] },
      },
      {
        by: { ...string, description: 'The attribute that chooses among plans.' },
        cost: { oneOf: [whole, string], description: 'What a request costs, or the attribute that says it.' },
      },
    ),
  },
  RateLimitRequest: { type: 'object', description: 'envoy.service.ratelimit.v3.RateLimitRequest as proto3 JSON' },

  Limit: record({
    ...{ name: string, allowed: boolean, limit: number, remaining: number, resetAt: number, resetAfterMs: number },
    ...{ retryAfterMs: numberOrNever, shadow: boolean, cached: boolean },
  }),
  Decision: record(
    {
      allowed: boolean,
      reason: {
        enum: ['ok', 'limited', 'cost-exceeds-limit', 'blocked', 'too-many-holds', 'outage', 'denied', 'exempt'],
      },
      policy: { ...string, description: 'The limit that refused, or the one nearest to refusing.' },
      limit: numberOrNever,
      remaining: { ...numberOrNever, description: 'A cost of so much passes now, one more does not.' },
      at: { ...number, description: 'Milliseconds since the epoch by the clock of the store, as are all times.' },
      resetAt: number,
      resetAfterMs: number,
      retryAfterMs: { ...numberOrNever, description: '0 when allowed, null where the cost can never pass.' },
      degraded: { enum: [false, 'open', 'local', 'closed'] },
      limits: { type: 'array', items: ref('Limit') },
    },
    { note: { ...string, description: 'Where no limit applied.' } },
  ),
  Decisions: { oneOf: [ref('Decision'), { type: 'array', items: { oneOf: [ref('Decision'), ref('Error')] } }] },
  Reserved: record({ id: { type: ['string', 'null'] }, decision: ref('Decision') }),
  Settlement: record({ reserved: whole, charged: whole, overdrawn: boolean }),
  Explanations: {
    type: 'array',
    items: {
      type: 'object',
      properties: { limit: string, applies: boolean, why: string, mode, key: string, policy: string, cost: whole },
      required: ['limit', 'applies', 'why', 'mode'],
      additionalProperties: false,
    },
  },
  Shadows: {
    type: 'array',
    items: record({
      ...{ limit: string, decided: whole, newlyRefused: whole, newlyAllowed: whole },
      top: { type: 'array', items: record({ key: string, count: whole, over: whole }) },
    }),
  },
  Refunded: record({ refunded: { const: true } }),
  Blocked: record({ blocked: { const: true } }),
  WasReset: record({ reset: { const: true } }),
  RateLimitResponse: {
    type: 'object',
    properties: { overallCode: { enum: ['OK', 'OVER_LIMIT'] }, statuses: { type: 'array' } },
    required: ['overallCode'],
    description: 'envoy.service.ratelimit.v3.RateLimitResponse as proto3 JSON',
  },
  Error: record({ error: { ...string, description: 'What was expected.' } }),
  Status: { anyOf: [record({ code: whole, message: string }), ref('Error')], description: 'google.rpc.Status' },
}
