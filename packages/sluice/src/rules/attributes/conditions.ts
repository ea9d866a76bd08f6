import type { Place } from '../place.ts'
import { isWildcard, wildcard } from '../wildcard.ts'

/** One line of `when`: what an attribute must be. */
export interface Condition {
  readonly attribute: string
  /** Any of these, as written. */
  readonly values: readonly string[]
  holds(value: string): boolean
}

export function readConditions(place: Place): Condition[] | undefined {
  const members = place.members('a map from attributes to what they must be')
  if (members?.size === 0) return place.wrong('at least one attribute')
  return members && [...members].flatMap(([attribute, member]) => readCondition(attribute, member) ?? [])
}

function readCondition(attribute: string, place: Place): Condition | undefined {
  if (attribute === '') return place.wrongName('the name of an attribute')
  const one = 'text, a number, or a list of them'
  const places = Array.isArray(place.value) ? place.items(one) : [place]
  const values = places?.flatMap(value => value.spelt(one) ?? [])
  if (values === undefined || values.length < places!.length) return undefined
  const plain = new Set(values.filter(value => !isWildcard(value)))
  const forms = values.filter(isWildcard).map(wildcard)
  return { attribute, values, holds: value => plain.has(value) || forms.some(matches => matches(value)) }
}
