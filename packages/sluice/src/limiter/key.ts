import { expected } from '../errors.ts'

/** Parts are kept apart, however they are spelt: `['a', 'bc']` is never `['ab', 'c']`. */
export type Key = string | readonly string[]

/** Starts an encoded key. A plain key that starts with it gets a second one, and parts go on with a digit: no two meet. */
const MARK = '\u0000'

/** One string for a key of one or several parts, each with its length before it, so that parts cannot run together. */
export function encodeKey(key: Key, limit: string): string {
  if (typeof key === 'string') return key.charCodeAt(0) === 0 ? MARK + key : key
  if (!Array.isArray(key) || key.length === 0) throw badKey(key, limit)
  let text = MARK
  for (const part of key) {
    if (typeof part !== 'string') throw badKey(part, limit)
    text += `${part.length}:${part}`
  }
  return text
}

function badKey(got: unknown, limit: string): Error {
  const advice = 'return undefined where the limit does not apply'
  return expected('SLUICE_BAD_KEY', `limit '${limit}' key to be a string or several strings`, got, advice)
}
