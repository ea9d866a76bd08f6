import type { ConfigNode } from '../config-node.ts'
import { isWildcard, wildcard } from '../wildcard.ts'

/** One line of `when`: the values that an attribute may have. */
export interface Condition {
  readonly attribute: string
  /** Any of these values, as written. */
  readonly values: readonly string[]
  holds(value: string): boolean
}

export function readConditions(node: ConfigNode): Condition[] | undefined {
  const members = node.members('a map from attributes to what they must be')
  if (members?.size === 0) return node.wrong('at least one attribute')
  return members && [...members].flatMap(([attribute, member]) => readCondition(attribute, member) ?? [])
}

function readCondition(attribute: string, node: ConfigNode): Condition | undefined {
  if (attribute === '') return node.wrongName('the name of an attribute')
  const one = 'text, a number, or a list of them'
  const nodes = Array.isArray(node.value) ? node.items(one) : [node]
  const values = nodes?.flatMap(value => value.spelt(one) ?? [])
  if (values === undefined || values.length < nodes!.length) return undefined
  const plain = new Set(values.filter(value => !isWildcard(value)))
  const forms = values.filter(isWildcard).map(wildcard)
  return { attribute, values, holds: value => plain.has(value) || forms.some(matches => matches(value)) }
}
