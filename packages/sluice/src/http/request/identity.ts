import { brand } from '../../brand.ts'
import { checkOptions } from '../../check-options.ts'
import { expected } from '../../errors.ts'
import type { Key } from '../../limiter/key.ts'

import { yesOrNo } from '../../lookup.ts'
import { hashed, isHashed, named } from './key-text.ts'

import type { RequestFacts, RequestView } from './request-facts.ts'

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
brand('Identity', Identity)

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

/** Keys of one kind, such as `user:42`, or else the address. `find` finds such a key, `keyOf` makes it of a value. */
export function ofKind<R>(
  kind: string,
  find: (facts: RequestFacts<R>) => string | undefined,
  keyOf: (value: string) => string | undefined = value => named(kind, value),
): Identity<R> {
  return new Identity(facts => find(facts) ?? facts.ip, {
    example: `'${kind}:…' or ${ADDRESS.example}`,
    read(written, addressOf) {
      if (typeof written !== 'string') return undefined
      if (written.startsWith(`${kind}:`)) return keyOf(written.slice(kind.length + 1))
      return isHashed(kind, written) ? written : addressOf(written)
    },
  })
}

/** The client's address. */
export function ip<R = RequestView>(): Identity<R> {
  return new Identity<R>(facts => facts.ip, ADDRESS)
}

/** The `User-Agent` header. Any client can change it, so use it only together with the address: `all(ip(), userAgent())`. */
export function userAgent<R = RequestView>(): Identity<R> {
  return ofKind('agent', facts => named('agent', facts.header('user-agent')))
}

/** The template of the route (`/orders/:id`). All requests that match no route share one key. */
export function route<R = RequestView>(): Identity<R> {
  return new Identity<R>(facts => `route:${facts.route ?? ''}`, {
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
export function header<R = RequestView>(name: string, options: Proof<R> = {}): Identity<R> {
  if (typeof name !== 'string' || name === '') throw expected('SLUICE_BAD_OPTION', 'header() with a name', name)
  const { verify } = checkOptions('header()', options, ['verify'])
  const kind = `header ${name.toLowerCase()}`
  return ofKind(kind, facts => named(kind, verified(verify, facts.header(name), facts)))
}

/** An API key, stored only as its hash. A key that `verify` rejects counts by address. */
export function apiKey<R = RequestView>(options: Proof<R> & { header?: string } = {}): Identity<R> {
  const { header: name = 'x-api-key', verify } = checkOptions('apiKey()', options, ['header', 'verify'])
  const keyOf = (value: string | undefined) => (value === undefined ? undefined : hashed('key', value))
  return ofKind(
    'key',
    facts => keyOf(verified(verify, keyIn(facts.header(name)), facts)),
    value => keyOf(keyIn(value)),
  )
}

/** The value, if it is known. */
function verified<R>(verify: Proof<R>['verify'], value: string | undefined, facts: RequestFacts<R>) {
  const isKnown = value !== undefined && verify !== undefined && yesOrNo('verify', verify(value, facts.view) ?? false)
  return isKnown ? value : undefined
}

/** `Bearer abc` gives the key `abc`. */
function keyIn(value: string | undefined): string | undefined {
  const key = value?.replace(/^bearer\s+/i, '')
  return key?.trim() === '' ? undefined : key
}

/** Several parts together: `all(ip(), route())` counts each route of each address. */
export function all<R = RequestView>(...parts: readonly Identity<R>[]): Identity<R> {
  checkParts('all', parts)
  return new Identity(facts => joinParts(parts.map(part => part.keyOf(facts))), {
    example: `[${parts.map(({ form }) => form.example).join(', ')}]`,
    read: (written, addressOf) => {
      const texts = typeof written === 'string' ? splitParts(written) : written
      if (texts.length !== parts.length) return undefined
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

/** No parts if the key is not what `joinParts` writes. */
function splitParts(key: string): readonly string[] {
  const parts: string[] = []
  for (let at = 1; at < key.length; ) {
    const [head = '', digits] = /^(\d+):/.exec(key.slice(at)) ?? []
    const from = at + head.length
    at = head === '' ? key.length : from + Number(digits)
    parts.push(key.slice(from, at))
  }
  return joinParts(parts) === key ? parts : []
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
