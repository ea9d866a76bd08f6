import { expected } from '../errors.ts'
import type { Key } from '../limiter/limits.ts'
import type { Facts, Seen } from './facts.ts'
import { sha256 } from './sha256.ts'

/**
 * Who is asking, as a key. What a helper cannot find it takes from the client's address, so that nobody escapes by leaving
 * something out. An address stands as it is; all else has its kind before it, so that no user can be named like an address.
 */
export interface Identity {
  (facts: Facts): string
  readonly [IDENTITY]: true
}

const IDENTITY: unique symbol = Symbol('identity')

export function isIdentity(key: unknown): key is Identity {
  return typeof key === 'function' && IDENTITY in key
}

/** The client's address. */
export function ip(): Identity {
  return identity(facts => facts.ip)
}

/** A user who has proved who they are: by default `r.user.id` or `r.auth.userId`. */
export function user(read: (r: Seen) => unknown = r => r.user?.id ?? r.auth?.userId): Identity {
  return known('user', read)
}

/** A session that the server has found: by default `r.session.id` or `r.sessionID`. */
export function session(read: (r: Seen) => unknown = r => r.session?.id ?? r.sessionID): Identity {
  return known('session', read)
}

/** The customer a user belongs to: by default `r.tenant.id` or `r.auth.tenantId`. */
export function tenant(read: (r: Seen) => unknown = r => r.tenant?.id ?? r.auth?.tenantId): Identity {
  return known('tenant', read)
}

/** A name as people type it: case, width and composition do not make another one. For login forms. */
export function username(read: (r: Seen) => unknown = r => r.body?.username ?? r.body?.email): Identity {
  return known('username', r => {
    const name = read(r)
    return typeof name === 'string' ? name.normalize('NFKC').toLowerCase().normalize('NFKC').trim() : name
  })
}

/** The program that asks, as it names itself: no identity, but with the address (`all(ip(), userAgent())`) a finer one. */
export function userAgent(): Identity {
  return identity(facts => named('agent', facts.header('user-agent')) ?? facts.ip)
}

/** The template of the route (`/orders/:id`). All that match none are one. */
export function route(): Identity {
  return identity(facts => `route:${facts.route ?? ''}`)
}

export interface Proof {
  /** Whether the value belongs to somebody. Only then it counts for itself; else invented values would buy fresh quota. */
  verify?: (value: string, r: Seen) => boolean
}

/**
 * A header that says who is asking. Anybody can send one: without `verify`, or where it says no, the address counts.
 */
export function header(name: string, { verify }: Proof = {}): Identity {
  if (typeof name !== 'string' || name === '') throw expected('SLUICE_BAD_OPTION', 'header() with a name', name)
  return identity(facts => {
    const value = facts.header(name)
    if (value === undefined || verify?.(value, facts.seen) !== true) return facts.ip
    return named(`header ${name.toLowerCase()}`, value) ?? facts.ip
  })
}

/** An API key, kept only as its hash. One that `verify` does not know shares the limit of its address. */
export function apiKey({ header: name = 'x-api-key', verify }: Proof & { header?: string } = {}): Identity {
  return identity(facts => {
    const value = keyIn(facts.header(name))
    if (value === undefined || verify?.(value, facts.seen) !== true) return facts.ip
    return `key:${hashOf(value)}`
  })
}

/** `Bearer abc` is the key `abc`. */
function keyIn(value: string | undefined): string | undefined {
  const key = value?.replace(/^bearer\s+/i, '')
  return key === '' ? undefined : key
}

/** Several parts together: `all(ip(), route())` counts each route of each address. */
export function all(...parts: readonly Identity[]): Identity {
  checkParts('all', parts)
  return identity(facts => {
    let key = '&'
    for (const part of parts) key += lengthBefore(part(facts))
    return key
  })
}

/** The first that finds more than the address: `firstOf(user(), apiKey({ verify }), all(ip(), userAgent()))`. */
export function firstOf(...choices: readonly Identity[]): Identity {
  checkParts('firstOf', choices)
  return identity(facts => {
    for (const choice of choices) {
      const key = choice(facts)
      if (key !== facts.ip) return key
    }
    return facts.ip
  })
}

function checkParts(helper: string, parts: readonly unknown[]): void {
  const odd = parts.length === 0 ? undefined : parts.find(part => !isIdentity(part))
  if (parts.length > 0 && odd === undefined) return
  throw expected('SLUICE_BAD_OPTION', `${helper}() of identity helpers such as ip() and user()`, odd)
}

function identity(read: (facts: Facts) => string): Identity {
  return Object.assign(read, { [IDENTITY]: true as const })
}

function known(kind: string, read: (r: Seen) => unknown): Identity {
  if (typeof read !== 'function') throw expected('SLUICE_BAD_OPTION', `${kind}() with a function of the request`, read)
  return identity(facts => named(kind, textOf(read(facts.seen))) ?? facts.ip)
}

/** What a user's function may answer in place of a text. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : undefined
}

/** Long values are kept as their hash: what a stranger sends must not fill the store. */
function named(kind: string, value: string | undefined): string | undefined {
  if (value === undefined || value === '') return undefined
  return value.length > LONGEST_PLAIN ? `${kind}#${hashOf(value)}` : `${kind}:${value}`
}

const LONGEST_PLAIN = 256

/** 160 bits of it, in hex. */
export function hashOf(value: string): string {
  let text = ''
  for (const byte of sha256(value).subarray(0, 20)) text += byte.toString(16).padStart(2, '0')
  return text
}

/** One part of a joined key: `3:abc`, so that parts cannot run together. */
function lengthBefore(part: string): string {
  return `${part.length}:${part}`
}

/** A key as a user's own function gave it; undefined where it gave none. */
export function keyFrom(value: unknown): Key | undefined {
  if (Array.isArray(value)) {
    const parts = value.map(textOf)
    return parts.length > 0 && parts.every(part => part !== undefined && part !== '') ? (parts as string[]) : undefined
  }
  const text = textOf(value)
  return text === '' ? undefined : text
}
