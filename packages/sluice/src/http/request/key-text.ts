import { SluiceError } from '../../errors.ts'
import type { Key } from '../../limiter/key.ts'
import type { RequestFacts } from './request-facts.ts'
import { hashOf } from './sha256.ts'

/** Longer values are stored as their hash, so that a stranger cannot fill the store with them. */
const LONGEST_PLAIN = 256

/** A value as the key of its kind, `user:42`; undefined if there is none. */
export function named(kind: string, value: string | undefined): string | undefined {
  if (value === undefined || value.trim() === '') return undefined
  return value.length > LONGEST_PLAIN ? hashed(kind, value) : `${kind}:${value}`
}

/** A value that is stored as its hash alone: `user#…`. No plain key of the kind looks like it. */
export function hashed(kind: string, value: string): string {
  return `${kind}#${hashOf(value)}`
}

const HASH = /^[\da-f]{40}$/

export function isHashed(kind: string, key: string): boolean {
  return key.startsWith(`${kind}#`) && HASH.test(key.slice(kind.length + 1))
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
  return text.length > LONGEST_PLAIN ? hashed('', text) : text
}

/** Functions of the user may return a text, a whole number, a bigint or an id object. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'bigint' || Number.isSafeInteger(value) || isId(value) ? String(value) : undefined
}

/**
 * An id object of a database, such as MongoDB's ObjectId: its class has its own `toString`. JSON cannot produce one.
 */
function isId(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype !== null && prototype !== Object.prototype && value.toString !== Object.prototype.toString
}

/** The request has no value for the key, as when its caller is not logged in. */
export class MissingKey extends SluiceError {}

/** Warns if none of the first requests has a value: the property is probably misspelt. */
export function missCounter(what: string) {
  let misses = 0
  return {
    found(): void {
      misses = -Infinity
    },
    missed(facts: Pick<RequestFacts, 'warn'>): void {
      if (++misses === MANY_MISSES) facts.warn('SLUICE_KEY_NEVER_FOUND', `${what} ${NEVER_FOUND}`)
    },
  }
}

const MANY_MISSES = 100
const NEVER_FOUND = `found no value in the first ${MANY_MISSES} requests, so all of them were counted by address; check what it reads`
