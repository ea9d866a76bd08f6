import { expected } from '../../errors.ts'
import type { Description, Shown } from './headers/description.ts'
import { writeDraft11 } from './headers/draft-11.ts'
import { writeDraft6, writeDraft7, writeOlderPolicy } from './headers/older-drafts.ts'
import { writeX, writeXBucket } from './headers/x.ts'

export { type DescribeOptions, type Description, describe, type Shown } from './headers/description.ts'
export { retryAfterSeconds } from './headers/seconds.ts'

/** The header families that tell a caller about its limits. All but `draft-11` show one limit: the binding one. */
export type HeaderFamily = 'draft-11' | 'draft-7' | 'draft-6' | 'x' | 'x-bucket'

const X_FIELDS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** The fields each family may send. */
const FIELDS: Readonly<Record<HeaderFamily, readonly string[]>> = {
  'draft-11': ['RateLimit', 'RateLimit-Policy'],
  'draft-7': ['RateLimit', 'RateLimit-Policy'],
  'draft-6': ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'RateLimit-Policy'],
  x: X_FIELDS,
  'x-bucket': [...X_FIELDS, 'X-RateLimit-Reset-After', 'X-RateLimit-Bucket'],
}

/** Pairs of families that use one field with two meanings. */
const RIVALS: readonly (readonly [HeaderFamily, HeaderFamily, field: string])[] = [
  ['draft-11', 'draft-7', 'RateLimit'],
  ['x', 'x-bucket', 'X-RateLimit-Reset'],
]

/** Checks the option `headers`: a family, several of them, or `false` for none. */
export function headerFamilies(option: unknown): readonly HeaderFamily[] {
  if (option === undefined) return ['draft-11']
  if (option === false) return []
  const families = (Array.isArray(option) ? option : [option]).map(familyOf)
  for (const [one, other, field] of RIVALS) {
    if (!families.includes(one) || !families.includes(other)) continue
    const advice = `both send ${field}, each with a meaning of its own`
    throw expected('SLUICE_BAD_OPTION', `headers with '${one}' or '${other}'`, `${one}, ${other}`, advice)
  }
  return [...new Set(families)]
}

function familyOf(value: unknown): HeaderFamily {
  if (typeof value === 'string' && Object.hasOwn(FIELDS, value)) return value as HeaderFamily
  const known = Object.keys(FIELDS).map(family => `'${family}'`)
  throw expected('SLUICE_BAD_OPTION', `headers as ${known.join(', ')}, several of them in an array, or false`, value)
}

/** The names that `Access-Control-Expose-Headers` must list so that scripts of other origins can read the fields. */
export function exposedNames(families: readonly HeaderFamily[]): string {
  return [...new Set([...families.flatMap(family => FIELDS[family]), 'Retry-After'])].join(', ')
}

/**
 * Appends name, value, name, value … to `out`, for each family. `states` are the limits a caller may know of, each with
 * its description at the same index, and `binding` is the index of the binding one. `at` is the store's clock in epoch
 * milliseconds. `partitions`, if given, are keyed hashes of the limits' keys in base64. A limit whose `remaining` is
 * `Infinity` does not limit, so nothing is written for it.
 */
export function writeFields(
  families: readonly HeaderFamily[],
  descriptions: readonly Description[],
  states: readonly Shown[],
  binding: number,
  at: number,
  out: string[],
  partitions?: readonly string[],
): void {
  const state = states[binding]
  for (const family of families) {
    if (family === 'draft-11') writeDraft11(descriptions, states, at, out, partitions)
    else if (state !== undefined) writeBinding(family, families, descriptions[binding]!, state, at, out)
  }
}

function writeBinding(
  family: Exclude<HeaderFamily, 'draft-11'>,
  families: readonly HeaderFamily[],
  description: Description,
  state: Shown,
  at: number,
  out: string[],
): void {
  if (state.remaining === Infinity) return
  switch (family) {
    case 'draft-7':
      writeDraft7(description, state, at, out)
      writeOlderPolicy(description, out)
      break
    case 'draft-6':
      writeDraft6(description, state, at, out)
      // A response has one RateLimit-Policy, and a later draft's says more.
      if (!families.includes('draft-11') && !families.includes('draft-7')) writeOlderPolicy(description, out)
      break
    case 'x':
      writeX(description, state, at, out)
      break
    case 'x-bucket':
      writeXBucket(description, state, at, out)
  }
}
