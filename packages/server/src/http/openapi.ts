import { API, type Route } from './api.ts'

const schema = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
})
const whole = { type: 'integer', minimum: 0 }
const attribute = { type: ['string', 'number', 'boolean', 'null'] }
const ask = { ...schema({ cost: { ...whole, default: 1 } }), additionalProperties: attribute }

const SCHEMAS = {
  Ask: { ...ask, description: 'What is known about the subject, and what it costs.' },
  Asks: { oneOf: [ref('Ask'), { type: 'array', items: ref('Ask'), minItems: 1, maxItems: 1000 }] },
  Reserve: { ...schema({ cost: whole, ttl_ms: { type: 'integer', minimum: 1 } }), additionalProperties: attribute },
  Settle: schema({ id: { type: 'string' }, actual: whole, cancel: { type: 'boolean' } }, ['id']),
  Reset: {
    ...schema({ limits: { type: 'array', items: { type: 'string' } } }),
    additionalProperties: attribute,
  },
  Mode: schema({ limit: { type: 'string' }, mode: { enum: ['enforce', 'shadow', 'off'] } }, ['limit', 'mode']),
  RateLimitRequest: { type: 'object', description: 'envoy.service.ratelimit.v3.RateLimitRequest as proto3 JSON' },
} as const

const MEANINGS: Readonly<Record<number, string>> = {
  200: 'Allowed, or done.',
  404: 'No such reservation.',
  429: 'Refused: the body says by which limit and until when, as does Retry-After.',
  500: 'The question could not be answered.',
  503: 'Refused, because the store is down and the limit fails closed.',
}

/** The document at `/openapi.json`, made from the table of routes. */
export function openApi() {
  const paths: Record<string, object> = {}
  for (const route of API) paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(route) }
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice', version: '1', description: 'Decides, request by request, who is served and who waits.' },
    paths,
    components: { schemas: SCHEMAS, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  }
}

function operation({ summary, body, statuses, right }: Route) {
  const responses = Object.fromEntries(
    statuses.map(status => [status, { description: MEANINGS[status], content: { 'application/json': {} } }]),
  )
  return {
    summary,
    ...(right === 'admin' && { security: [{ token: [] }] }),
    ...(body !== undefined && {
      requestBody: { required: true, content: { 'application/json': { schema: ref(body) } } },
    }),
    responses: { ...responses, 400: { description: 'What was expected is in `error`.' } },
  }
}

function ref(name: string) {
  return { $ref: `#/components/schemas/${name}` }
}
