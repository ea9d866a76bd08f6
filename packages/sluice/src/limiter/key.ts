import { expected } from '../errors.ts'

/** A key of one or several parts. Parts never run together: `['a', 'bc']` is another key than `['ab', 'c']`. */
export type Key = string | readonly string[]

/**
 * The first character of an encoded key. A plain key that starts with the mark gets it twice, and in a key of several
 * parts a digit follows the mark. So no two keys collide.
 */
const MARK = '\u0000'

/** One string for a key of one or several parts. Each part has its length before it, so parts cannot run together. */
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
