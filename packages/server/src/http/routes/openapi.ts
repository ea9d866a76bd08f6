import { API } from '../api.ts'
import type { ApiRoute } from '../route.ts'
import { ref, SCHEMAS } from './schemas.ts'

const MEANINGS: Readonly<Record<number, string>> = {
  200: 'Allowed, or done.',
  400: 'What was expected is in `error`.',
  401: 'The token is missing, or another.',
  403: 'A page of another site may not call; operators need an admin token to be set.',
  404: 'No such reservation.',
  413: 'The body is too large.',
  429: 'Refused: the body says by which limit and until when, as does Retry-After.',
  500: 'The question could not be answered.',
  503: 'The store cannot be asked: a limit that fails closed refuses, and operators have to try again.',
}

/** The responses that any call may get besides those of its route. */
const ALWAYS = { 400: 'Error', 401: 'Error', 403: 'Error', 500: 'Error' }
const WITH_BODY = { 413: 'Error' }
const TO_OPERATORS = { 503: 'Error' }

/** The document at `/openapi.json`, made from the table of routes. */
export function openApi() {
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice', version: '1', description: 'Decides, request by request, who is served and who waits.' },
    paths: paths(),
    components: { schemas: SCHEMAS, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    // The settings decide whether a token is required.
    security: [{}, { token: [] }],
  }
}

function paths() {
  const all: Record<string, Record<string, ReturnType<typeof operation>>> = {}
  for (const route of API) all[route.path] = { ...all[route.path], [route.method.toLowerCase()]: operation(route) }
  return all
}

function operation({ method, summary, right, body, answers }: ApiRoute) {
  const responses = {
    ...ALWAYS,
    ...(method === 'POST' && WITH_BODY),
    ...(right === 'admin' && TO_OPERATORS),
    ...answers,
  }
  return {
    summary,
    tags: [right === 'admin' ? 'operators' : 'callers'],
    ...(method === 'GET' && { parameters: [QUERY] }),
    ...(body !== undefined && { requestBody: { required: true, ...content(body) } }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, name]) => [
        status,
        { description: MEANINGS[Number(status)], ...content(name) },
      ]),
    ),
  }
}

const QUERY = { name: 'subject', in: 'query', style: 'form', explode: true, schema: ref('Query') }

function content(name: string) {
  return { content: { 'application/json': { schema: ref(name) } } }
}
