import { BadRequest } from '../http-answer.ts'

/** The query of the URL that a proxy calls: `/v1/decide?deny=403&headers=user:x-user&site=shop`. */
export interface DecideQuery {
  /** The status to refuse with, for a proxy that cannot pass on any other. */
  readonly deny: 403 | undefined
  readonly cost: number
  /** Attributes with their values from the query. */
  readonly attributes: ReadonlyMap<string, string>
  /** Attributes whose values come from request headers: attribute to header name. */
  readonly headers: ReadonlyMap<string, string>
}

/** Attributes that come from the request itself, so the query may not set them. */
const FACTS: readonly string[] = ['ip', 'method', 'route', 'host', 'proto']
const PAIR = /^([^:]+):([!#$%&'*+.^_`|~\w-]+)$/

/**
 * Reads the query. Each name may appear once: if a proxy copies a client's text into the query without encoding it, the
 * client could otherwise set a name a second time.
 */
export function readQuery(query: string): DecideQuery {
  const { deny, cost, headers, ...attributes } = onceEach(new URLSearchParams(query))
  const pairs = headers === undefined ? [] : headers.split(',').map(pairOf)
  const names = [...Object.keys(attributes), ...pairs.map(([attribute]) => attribute)]
  for (const [i, name] of names.entries()) {
    if (FACTS.includes(name)) throw wrong(`no ${name} in the query, since it is known from the request`)
    if (names.indexOf(name) < i) throw wrong(`each attribute once, got '${name.slice(0, 80)}' again`)
  }
  return {
    deny: denyOf(deny),
    cost: costOf(cost),
    attributes: new Map(Object.entries(attributes)),
    headers: new Map(pairs),
  }
}

function onceEach(query: URLSearchParams): Record<string, string> {
  const once = Object.fromEntries(query)
  if (Object.keys(once).length < [...query].length) throw wrong('each name of the query once')
  return once
}

function pairOf(text: string): [attribute: string, header: string] {
  const [, attribute, header] = PAIR.exec(text) ?? []
  if (attribute === undefined || header === undefined) {
    throw wrong("headers as attribute:header, such as 'user:x-user,plan:x-plan'")
  }
  return [attribute, header.toLowerCase()]
}

function denyOf(text: string | undefined): 403 | undefined {
  if (text === undefined) return undefined
  if (text === '403') return 403
  throw wrong('deny=403, or no deny for 429 and 503')
}

/** A cost of 0 would let everything pass. */
function costOf(text = '1'): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  throw wrong('cost as a whole number, 1 or more')
}

function wrong(what: string): BadRequest {
  return new BadRequest(400, `expected ${what}`)
}
