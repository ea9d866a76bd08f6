import { expected, isAsyncFunction } from '../../errors.ts'
import { answered } from '../../lookup.ts'
import { Identity, ofKind } from './identity.ts'
import { missCounter, named, textOf } from './key-text.ts'
import type { RequestFacts, RequestView } from './request-facts.ts'

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

/** The user who is logged in: by default `r.user.id` or `r.auth.userId`. */
export function user<R = RequestView>(read: (r: R) => unknown = foundUser): Identity<R> {
  return known('user', read)
}

function foundUser(r: unknown): unknown {
  const { user, auth } = r as FoundOnRequest
  return user?.id ?? auth?.userId
}

/** A session that the server has found: by default `r.session.id` or `r.sessionID`, if the client's cookie names it. */
export function session<R = RequestView>(read: (r: R) => unknown = foundSession): Identity<R> {
  return known('session', read)
}

/** Servers make a new session for a client that sends no cookie. Counting by that session would give it fresh quota. */
function foundSession(r: unknown): unknown {
  const { session, sessionID, header } = r as FoundOnRequest & RequestView
  const id = session?.id ?? sessionID
  return typeof id === 'string' && header('cookie')?.includes(id) === true ? id : undefined
}

/** The customer a user belongs to: by default `r.tenant.id` or `r.auth.tenantId`. */
export function tenant<R = RequestView>(read: (r: R) => unknown = foundTenant): Identity<R> {
  return known('tenant', read)
}

function foundTenant(r: unknown): unknown {
  const { tenant, auth } = r as FoundOnRequest
  return tenant?.id ?? auth?.tenantId
}

/**
 * A claim of a token that earlier middleware has verified: from `r.auth.payload`, `r.auth` or `r.user`, or from what
 * `read` returns. This never reads the token itself, since anyone can write one.
 */
export function jwt<R = RequestView>(claim: string, read?: (r: R) => unknown): Identity<R> {
  if (typeof claim !== 'string' || claim === '') throw expected('SLUICE_BAD_OPTION', 'jwt() with a claim', claim)
  if (read !== undefined) checkReader('jwt', read)
  const claims = (r: R): readonly unknown[] => {
    if (read !== undefined) return [answered(read(r))]
    const { auth, user } = r as FoundOnRequest
    return [auth?.payload, auth, user]
  }
  return known(`jwt ${claim}`, (r: R) => {
    const found = claims(r).find(payload => payload instanceof Promise || Object.hasOwn(Object(payload), claim))
    return found === undefined || found instanceof Promise ? found : Object(found)[claim]
  })
}

/**
 * A name as people type it into a login form. Names that differ only in surrounding spaces, case, width or Unicode
 * composition are one name. A form with different values in `username` and `email` does not say which of them logs in,
 * so all such forms share one key. Otherwise a new value in the field that the login ignores would give fresh quota.
 */
export function username<R = RequestView>(read: (r: R) => unknown = typedName): Identity<R> {
  return known('username', read, name => folded(name.trim()))
}

function typedName(r: unknown): unknown {
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

/** The identity of a caller whom the server knows. `read` returns it from what earlier middleware has stored. */
function known<R>(
  kind: string,
  read: (r: R) => unknown,
  canonical: (name: string) => string = name => name,
): Identity<R> {
  checkReader(kind, read)
  const values = missCounter(`${kind}()`)
  const others = `${kind}?`
  const find = (facts: RequestFacts<R>) => {
    const value = answered(read(facts.view))
    if (value instanceof Promise) throw expected('SLUICE_BAD_OPTION', `${kind}() to find its value at once`, value)
    if (!isGiven(value)) {
      values.missed(facts)
      return undefined
    }
    values.found()
    return named(kind, textOf(typeof value === 'string' ? canonical(value) : value)) ?? others
  }
  const { keyOf, form } = ofKind(kind, find, name => named(kind, canonical(name)))
  return new Identity(keyOf, {
    example: form.example,
    read: (written, addressOf) => (written === others ? others : form.read(written, addressOf)),
  })
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
