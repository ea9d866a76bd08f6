import type { IncomingMessage } from 'node:http'
import { pathsOf } from 'sluice/http'
import type { Attributes } from 'sluice/rules'
import { BadRequest } from '../http-answer.ts'
import type { DecideQuery } from './decide-query.ts'

/** Traefik and Caddy send the first, nginx configurations usually the second. */
const URI = ['x-forwarded-uri', 'x-original-uri']
const METHOD = ['x-forwarded-method', 'x-original-method']

/** Whether the call says which request it asks about. */
export function isAsked({ headers }: IncomingMessage): boolean {
  return URI.some(name => headers[name] !== undefined)
}

/** The attributes of the request that a trusted proxy asks about, with those that its query adds. */
export function askedAbout(request: IncomingMessage, ip: string, query: DecideQuery): Attributes {
  const uri = said(request, URI)
  if (uri === undefined) {
    throw new BadRequest(400, 'expected X-Forwarded-Uri or X-Original-URI: which request is it about?')
  }
  const headers = [...query.headers].map(([attribute, header]) => [attribute, headerOf(request, header) ?? ''] as const)
  // Proxies send an empty value for a variable that is not set, for example if no user is signed in.
  const more = [...query.attributes, ...headers].filter(([, value]) => value !== '')
  return {
    ...Object.fromEntries(more),
    ...facts(ip, said(request, METHOD) ?? request.method, uri, said(request, ['x-forwarded-host']) ?? hostOf(request)),
    proto: (said(request, ['x-forwarded-proto']) ?? 'http').toLowerCase(),
  }
}

/** The attributes of the call itself, for peers that are not trusted proxies. */
export function itself(request: IncomingMessage, ip: string): Attributes {
  return { ...facts(ip, request.method, request.url ?? '/', hostOf(request)), proto: 'http' }
}

/**
 * Normalizes each attribute, so that another spelling does not get around a limit. A path that servers read differently
 * gives several routes, because the server behind the proxy is not known.
 */
function facts(ip: string, method = 'GET', uri: string, host: string) {
  const paths = pathsOf(uri)
  const name = method.toUpperCase()
  return {
    ip,
    method: name === 'HEAD' ? 'GET' : name,
    route: paths.length === 1 ? paths[0]! : paths,
    host: host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, ''),
  }
}

/**
 * The one value that all lines of these headers have. The proxy sets one of the headers, but the client may have sent
 * another, and the two cannot be told apart.
 */
function said({ headersDistinct }: IncomingMessage, names: readonly string[]): string | undefined {
  const lines = names.flatMap(name => headersDistinct[name] ?? [])
  const values = new Set(lines.filter(line => line !== ''))
  if (values.size > 1) {
    throw new BadRequest(400, `expected ${names.join(' and ')} to say one thing: the proxy has to set or clear them`)
  }
  const [value] = values
  return value
}

function hostOf({ headers }: IncomingMessage): string {
  return headers.host ?? ''
}

/** The value of a header; several lines are joined by `, `. */
export function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}
