import { brand } from '../../brand.ts'
import { expected, isAsyncFunction } from '../../errors.ts'
import type { Key } from '../../limiter/key.ts'
import { answered, yesOrNo } from '../guard/user-function.ts'
import type { RequestFacts, RequestView } from './request-facts.ts'
import { sha256 } from './sha256.ts'

/**
 * The caller, as a key. A helper that finds no value uses the client's address, so that callers cannot escape a limit by
 * leaving a value out. An address is a key without a prefix. Every other key starts with its kind (`user:`), so that no
 * user name can equal an address.
 */
export class Identity<R = RequestView> {
  readonly keyOf: (facts: RequestFacts<R>) => string
  /** How an operator writes the same key. */
  readonly form: KeyForm

  constructor(keyOf: (facts: RequestFacts<R>) => string, form: KeyForm) {
    this.keyOf = keyOf
    this.form = form
  }
}

/** What keys of an identity look like. */
export interface KeyForm {
  /** For error messages: `'user:…'`. */
  readonly example: string
  /** The key for what an operator wrote; undefined if the identity never gives such a key. `addressOf` normalizes an address. */
  read(written: Key, addressOf: (text: string) => string | undefined): string | undefined
}

const ADDRESS: KeyForm = {
  example: "an address such as '203.0.113.7'",
  read: (written, addressOf) => (typeof written === 'string' ? addressOf(written) : undefined),
}

/** Keys that start with a prefix, or else the address. */
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

/** The properties in which the usual middleware of the frameworks stores what it knows about a request. */
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

/** The user who is logged in: by default `r.user.id` or `r.auth.userId`. */
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

/** Servers make a new session for a client that sends no cookie. Counting by that session would give it fresh quota. */
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
 * A claim of a token that earlier middleware has verified: from `r.auth.payload`, `r.auth` or `r.user`, or from what `read`
 * returns. This never reads the token itself, since anyone can write one.
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
 * A name as people type it into a login form. Names that differ only in surrounding spaces, case, width or Unicode
 * composition are one name. A form with different values in `username` and `email` does not say which of them logs in, so
 * all such forms share one key. Otherwise a new value in the field that the login ignores would give fresh quota.
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

/** Longer names are not folded, which bounds the work that a stranger can cause. */
const LONGEST_FOLDED = 16_384

/** Converts to upper case first: lower case alone would keep `ß` apart from `ss`, and `ς` from `σ`. */
function folded(name: string): string {
  if (name.length > LONGEST_FOLDED) return name
  return name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC').trim()
}

/** The `User-Agent` header. Any client can change it, so use it only together with the address: `all(ip(), userAgent())`. */
export function userAgent(): Identity {
  return new Identity(
    facts => named('agent', facts.header('user-agent')) ?? facts.ip,
    prefixed('agent:', agent => named('agent', agent)),
  )
}

/** The template of the route (`/orders/:id`). All requests that match no route share one key. */
export function route(): Identity {
  return new Identity(facts => `route:${facts.route ?? ''}`, {
    example: "'route:/orders/:id'",
    read: written => (typeof written === 'string' && written.startsWith('route:') ? written : undefined),
  })
}

export interface Proof<R = RequestView> {
  /** Whether the value is known. Only known values get their own count, since invented ones would give fresh quota. */
  verify?: (value: string, r: R) => boolean
}

/**
 * A header that names the caller. Any client can send one, so the key is the address if `verify` is missing or returns
 * false.
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

/** An API key, stored only as its hash. A key that `verify` rejects counts by address. */
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

/** `Bearer abc` gives the key `abc`. */
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

/** Writes the length of each part before it (`&3:abc`), so that different parts never give the same key. */
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

/** The first identity that finds more than the address: `firstOf(user(), apiKey({ verify }), all(ip(), userAgent()))`. */
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

/** After this many requests in a row without a value, the property is probably misspelt. */
export const MANY_MISSES = 100

export function neverFound(what: string): string {
  return `${what} found no value in the first ${MANY_MISSES} requests, so all of them were counted by address; check what it reads`
}

/**
 * Whether there is a value at all. A value that is not text (`["victim"]` in a login form) does not fall back to the
 * address: all such values share the key `kind?`, so that no address gets fresh guesses by sending them.
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

/** Functions of the user may return a text, a whole number, a bigint or an id object. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'bigint' || Number.isSafeInteger(value) || isId(value) ? String(value) : undefined
}

/** An id object of a database, such as MongoDB's ObjectId: its class has its own `toString`. JSON cannot produce one. */
function isId(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype !== null && prototype !== Object.prototype && value.toString !== Object.prototype.toString
}

/** Long values are stored as their hash, so that a stranger cannot fill the store with them. */
function named(kind: string, value: string | undefined): string | undefined {
  if (value === undefined || value === '') return undefined
  return value.length > LONGEST_PLAIN ? `${kind}#${hashOf(value)}` : `${kind}:${value}`
}

const LONGEST_PLAIN = 256

/** The first 160 bits of the SHA-256, in hex. */
export function hashOf(value: string): string {
  let text = ''
  for (const byte of sha256(value).subarray(0, 20)) text += byte.toString(16).padStart(2, '0')
  return text
}

/** The key that a user's own function returned; undefined if it returned none. */
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
