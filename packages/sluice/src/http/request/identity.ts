import { brand } from '../../brand.ts'
import { expected, isAsyncFunction } from '../../errors.ts'
import type { Key } from '../../limiter/key.ts'
import { answered, yesOrNo } from '../guard/user-function.ts'
import type { RequestFacts, RequestView } from './request-facts.ts'
import { sha256 } from './sha256.ts'

/**
 * The caller, as a key. A helper that finds no value takes the client's address, so that a caller who leaves something out
 * does not escape. An address stands as it is. Every other key starts with its kind, so that no user can be named like an
 * address.
 */
export class Identity<R = RequestView> {
  readonly keyOf: (facts: RequestFacts<R>) => string
  /** The same key as an operator writes it. */
  readonly form: KeyForm

  constructor(keyOf: (facts: RequestFacts<R>) => string, form: KeyForm) {
    this.keyOf = keyOf
    this.form = form
  }
}

/** What keys of an identity look like. */
export interface KeyForm {
  /** For a complaint: `'user:…'`. */
  readonly example: string
  /** The key that is meant; undefined if the identity never gives such a key. `addressOf` knows one spelling of an address. */
  read(written: Key, addressOf: (text: string) => string | undefined): string | undefined
}

const ADDRESS: KeyForm = {
  example: "an address such as '203.0.113.7'",
  read: (written, addressOf) => (typeof written === 'string' ? addressOf(written) : undefined),
}

/** Texts that begin with their kind, and the address where there is none. */
function prefixed(prefix: string, keyOf: (rest: string) => string | undefined): KeyForm {
  return {
    example: `'${prefix}…' or ${ADDRESS.example}`,
    read: (written, addressOf) => {
      if (typeof written !== 'string') return undefined
      return written.startsWith(prefix) ? keyOf(written.slice(prefix.length)) : addressOf(written)
    },
  }
}
brand('Identity', Identity)

/** Where the usual middleware of the frameworks leaves what it has found out about a request. */
export interface FoundOnRequest {
  readonly user?: { readonly id?: unknown; readonly plan?: string }
  readonly auth?: {
    readonly userId?: unknown
    readonly tenantId?: unknown
    readonly plan?: string
    readonly payload?: unknown
  }
  readonly tenant?: { readonly id?: unknown }
  readonly session?: { readonly id?: unknown }
  readonly sessionID?: unknown
  readonly body?: { readonly username?: unknown; readonly email?: unknown }
  readonly plan?: string
}

/** The client's address. */
export function ip(): Identity {
  return new Identity(facts => facts.ip, ADDRESS)
}

/** A user who is logged in: by default `r.user.id` or `r.auth.userId`. */
export function user(): Identity
export function user<R = RequestView>(read: (r: R) => unknown): Identity<R>
export function user(read: (r: RequestView) => unknown = foundUser): Identity {
  return known('user', read)
}

function foundUser(r: RequestView): unknown {
  const { user, auth } = r as FoundOnRequest
  return user?.id ?? auth?.userId
}

/** A session that the server has found: by default `r.session.id` or `r.sessionID`, if the client's cookie names it. */
export function session(): Identity
export function session<R = RequestView>(read: (r: R) => unknown): Identity<R>
export function session(read: (r: RequestView) => unknown = foundSession): Identity {
  return known('session', read)
}

/** Servers make a new session for a client that sends no cookie. Counting that one would hand out fresh quota. */
function foundSession(r: RequestView): unknown {
  const { session, sessionID } = r as FoundOnRequest
  const id = session?.id ?? sessionID
  return typeof id === 'string' && r.header('cookie')?.includes(id) === true ? id : undefined
}

/** The customer a user belongs to: by default `r.tenant.id` or `r.auth.tenantId`. */
export function tenant(): Identity
export function tenant<R = RequestView>(read: (r: R) => unknown): Identity<R>
export function tenant(read: (r: RequestView) => unknown = foundTenant): Identity {
  return known('tenant', read)
}

function foundTenant(r: RequestView): unknown {
  const { tenant, auth } = r as FoundOnRequest
  return tenant?.id ?? auth?.tenantId
}

/**
 * A claim of a token that earlier middleware has verified: of `r.auth.payload`, `r.auth`, `r.user`, or what `read` finds.
 * The token itself is never read here, since anyone can write one.
 */
export function jwt<R = RequestView>(claim: string, read?: (r: R) => unknown): Identity<R>
export function jwt(claim: string, read?: (r: RequestView) => unknown): Identity {
  if (typeof claim !== 'string' || claim === '') throw expected('SLUICE_BAD_OPTION', 'jwt() with a claim', claim)
  if (read !== undefined) checkReader('jwt', read)
  const claims = (r: RequestView): readonly unknown[] => {
    if (read !== undefined) return [answered(read(r))]
    const { auth, user } = r as FoundOnRequest
    return [auth?.payload, auth, user]
  }
  return known(`jwt ${claim}`, r => {
    const found = claims(r).find(payload => payload instanceof Promise || Object.hasOwn(Object(payload), claim))
    return found === undefined || found instanceof Promise ? found : Object(found)[claim]
  })
}

/**
 * A name as people type it: spaces around it, case, width and composition do not make another one. For login forms. A
 * form with both `username` and `email` does not say which of them logs in, so all such forms share one key: otherwise a
 * fresh value in the field that the login ignores would be fresh quota.
 */
export function username(): Identity
export function username<R = RequestView>(read: (r: R) => unknown): Identity<R>
export function username(read: (r: RequestView) => unknown = typedName): Identity {
  checkReader('username', read)
  return known('username', read, name => folded(name.trim()))
}

function typedName(r: RequestView): unknown {
  const { body } = r as FoundOnRequest
  const names = [body?.username, body?.email].filter(isGiven)
  return names.length > 1 && names[0] !== names[1] ? names : names[0]
}

/** The whole name is folded, since a part of it would be another name. This bounds the work that a stranger can cause. */
const LONGEST_FOLDED = 16_384

/** By way of upper case, since some letters (ß, ς) have no other way to meet those that mean the same. */
function folded(name: string): string {
  if (name.length > LONGEST_FOLDED) return name
  return name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC').trim()
}

/** The program that asks, as it names itself: no identity, but with the address (`all(ip(), userAgent())`) a finer one. */
export function userAgent(): Identity {
  return new Identity(
    facts => named('agent', facts.header('user-agent')) ?? facts.ip,
    prefixed('agent:', agent => named('agent', agent)),
  )
}

/** The template of the route (`/orders/:id`). All that match none are one. */
export function route(): Identity {
  return new Identity(facts => `route:${facts.route ?? ''}`, {
    example: "'route:/orders/:id'",
    read: written => (typeof written === 'string' && written.startsWith('route:') ? written : undefined),
  })
}

export interface Proof<R = RequestView> {
  /** Whether the value is known. Only then it counts for itself, since invented values would buy fresh quota. */
  verify?: (value: string, r: R) => boolean
}

/**
 * A header that names the caller. Any client can send one: without `verify`, or if that answers false, the address counts.
 */
export function header<R = RequestView>(name: string, { verify }: Proof<R> = {}): Identity<R> {
  if (typeof name !== 'string' || name === '') throw expected('SLUICE_BAD_OPTION', 'header() with a name', name)
  const kind = `header ${name.toLowerCase()}`
  return new Identity(
    facts => {
      const value = facts.header(name)
      if (value === undefined || !isVerified(verify, value, facts)) return facts.ip
      return named(kind, value) ?? facts.ip
    },
    prefixed(`${kind}:`, value => named(kind, value)),
  )
}

/** An API key, kept only as its hash. One that `verify` does not know shares the limit of its address. */
export function apiKey<R = RequestView>({
  header: name = 'x-api-key',
  verify,
}: Proof<R> & { header?: string } = {}): Identity<R> {
  return new Identity(
    facts => {
      const value = keyIn(facts.header(name))
      if (value === undefined || !isVerified(verify, value, facts)) return facts.ip
      return `key:${hashOf(value)}`
    },
    prefixed('key:', value => (HASH.test(value) ? `key:${value}` : `key:${hashOf(value)}`)),
  )
}

const HASH = /^[\da-f]{40}$/

function isVerified<R>(verify: Proof<R>['verify'], value: string, facts: RequestFacts<R>): boolean {
  return verify !== undefined && yesOrNo('verify', verify(value, facts.view) ?? false)
}

/** `Bearer abc` is the key `abc`. */
function keyIn(value: string | undefined): string | undefined {
  const key = value?.replace(/^bearer\s+/i, '')
  return key === '' ? undefined : key
}

/** Several parts together: `all(ip(), route())` counts each route of each address. */
export function all<R = RequestView>(...parts: readonly Identity<R>[]): Identity<R> {
  checkParts('all', parts)
  return new Identity(facts => joinParts(parts.map(part => part.keyOf(facts))), {
    example: `[${parts.map(({ form }) => form.example).join(', ')}]`,
    read: (written, addressOf) => {
      const texts = typeof written === 'string' ? splitParts(written) : written
      if (texts?.length !== parts.length) return undefined
      const keys = parts.map(({ form }, i) => form.read(texts[i]!, addressOf)).filter(key => key !== undefined)
      return keys.length === parts.length ? joinParts(keys) : undefined
    },
  })
}

/** Each with its length before it, `&3:abc`, so that parts cannot run together. */
function joinParts(parts: readonly string[]): string {
  let key = '&'
  for (const part of parts) key += `${part.length}:${part}`
  return key
}

function splitParts(key: string): string[] | undefined {
  const parts: string[] = []
  for (let at = 1; at < key.length; ) {
    const [head, digits] = /^(\d+):/.exec(key.slice(at)) ?? []
    if (head === undefined) return undefined
    const from = at + head.length
    at = from + Number(digits)
    parts.push(key.slice(from, at))
  }
  return key[0] === '&' ? parts : undefined
}

/** The first that finds more than the address: `firstOf(user(), apiKey({ verify }), all(ip(), userAgent()))`. */
export function firstOf<R = RequestView>(...choices: readonly Identity<R>[]): Identity<R> {
  checkParts('firstOf', choices)
  const keyOf = (facts: RequestFacts<R>) => {
    for (const choice of choices) {
      const key = choice.keyOf(facts)
      if (key !== facts.ip) return key
    }
    return facts.ip
  }
  return new Identity(keyOf, {
    example: choices.map(({ form }) => form.example).join(' or '),
    read: (written, addressOf) => {
      for (const { form } of choices) {
        const key = form.read(written, addressOf)
        if (key !== undefined) return key
      }
      return ADDRESS.read(written, addressOf)
    },
  })
}

function checkParts(helper: string, parts: readonly unknown[]): void {
  const odd = parts.length === 0 ? undefined : parts.find(part => !(part instanceof Identity))
  if (parts.length > 0 && odd === undefined) return
  throw expected('SLUICE_BAD_OPTION', `${helper}() of identity helpers such as ip() and user()`, odd)
}

function known(
  kind: string,
  read: (r: RequestView) => unknown,
  canonical: (name: string) => string = name => name,
): Identity {
  checkReader(kind, read)
  let misses = 0
  const keyOf = (facts: RequestFacts): string => {
    const value = answered(read(facts.view))
    if (value instanceof Promise) throw expected('SLUICE_BAD_OPTION', `${kind}() to find its value at once`, value)
    if (isGiven(value)) {
      misses = -1
      return named(kind, textOf(typeof value === 'string' ? canonical(value) : value)) ?? `${kind}?`
    }
    if (misses >= 0 && ++misses === MANY_MISSES) facts.warn('SLUICE_KEY_NEVER_FOUND', neverFound(`${kind}()`))
    return facts.ip
  }
  const form = prefixed(`${kind}:`, name => named(kind, canonical(name)))
  const other = (written: unknown) => written === `${kind}?` || String(written).startsWith(`${kind}#`)
  return new Identity(keyOf, {
    example: form.example,
    read: (written, addressOf) => (other(written) ? String(written) : form.read(written, addressOf)),
  })
}

/** So many requests in a row without a value: probably a misspelt property. */
export const MANY_MISSES = 100

export function neverFound(what: string): string {
  return `${what} found no value in the first ${MANY_MISSES} requests, so all of them were counted by address; check what it reads`
}

/**
 * Whether there is a value at all. One that is there but is no text (`["victim"]` in a login form) does not fall back to
 * the address: all such values share the key `kind?`, so that no address gets fresh guesses by them.
 */
function isGiven(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() !== ''
  return value !== undefined && value !== null && value !== false
}

function checkReader(kind: string, read: unknown): void {
  if (isAsyncFunction(read)) {
    const advice = 'an async function may be the key itself: key: async r => …'
    throw expected('SLUICE_BAD_OPTION', `${kind}() with a function that is not async`, read, advice)
  }
  if (typeof read !== 'function') throw expected('SLUICE_BAD_OPTION', `${kind}() with a function of the request`, read)
}

/** What a user's function may answer in place of a text. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'bigint' || Number.isSafeInteger(value) || isId(value) ? String(value) : undefined
}

/** An id object of a database, such as MongoDB's ObjectId: of a class that says how it is written. No JSON makes one. */
function isId(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype !== null && prototype !== Object.prototype && value.toString !== Object.prototype.toString
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

/** A key as a user's own function gave it; undefined where it gave none. */
export function keyFrom(value: unknown): Key | undefined {
  if (!Array.isArray(value)) return partFrom(value)
  const parts = value.map(partFrom).filter(part => part !== undefined)
  return parts.length > 0 && parts.length === value.length ? parts : undefined
}

function partFrom(value: unknown): string | undefined {
  const text = textOf(value)
  if (text === undefined || text === '') return undefined
  return text.length > LONGEST_PLAIN ? `#${hashOf(text)}` : text
}
