import { expected } from '../../errors.ts'

/**
 * What is known about a request: `{ ip: '203.0.113.7', user: '42', route: '/search' }`. A list holds several values of
 * one attribute, for example a path that servers may read in different ways. A condition holds if one of the values
 * meets it. The limit counts by that value; without a condition on the attribute it counts by the first value.
 */
export type Attributes = Readonly<Record<string, string | number | readonly string[]>>

/** The first value of an attribute, as text; undefined if the subject does not have it. */
export function attributeOf(subject: Attributes, name: string): string | undefined {
  const value = given(subject, name)
  return Array.isArray(value) ? value[0] : value
}

/** All values of an attribute. */
export function readingsOf(subject: Attributes, name: string): readonly string[] {
  const value = given(subject, name)
  return value === undefined ? [] : Array.isArray(value) ? value : [value]
}

function given(subject: Attributes, name: string): string | string[] | undefined {
  if (typeof subject !== 'object' || subject === null) {
    throw expected('SLUICE_BAD_KEY', 'a subject as an object of attributes', subject)
  }
  // The subject is untrusted: properties inherited from Object are not attributes.
  const value: unknown = Object.hasOwn(subject, name) ? subject[name] : undefined
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return undefined
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return String(value)
  if (Array.isArray(value) && value.length > 0 && value.every(one => typeof one === 'string')) return value
  throw expected('SLUICE_BAD_KEY', `attribute '${name}' as text or a number`, value)
}

/** The cost given by an attribute. Throws if it is missing, so that leaving it out does not make a request cheap. */
export function costFrom(subject: Attributes, name: string): number {
  const value = attributeOf(subject, name)
  const cost = value !== undefined && /^\d{1,16}$/.test(value) ? Number(value) : NaN
  if (Number.isSafeInteger(cost)) return cost
  throw expected('SLUICE_BAD_COST', `attribute '${name}' as a cost: a whole number, 0 or more`, value)
}
