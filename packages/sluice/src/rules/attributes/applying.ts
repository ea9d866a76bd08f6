import type { Key } from '../../limiter/key.ts'
import type { Policy } from '../../policy.ts'
import { type Attributes, attributeOf, readingsOf } from './attributes.ts'
import type { Condition } from './conditions.ts'
import { isPlans, type RuleLimit } from './limit.ts'

/** The first condition that does not hold; undefined if all hold. */
export function mismatch({ when }: RuleLimit, subject: Attributes): Condition | undefined {
  for (const condition of when) {
    if (!readingsOf(subject, condition.attribute).some(condition.holds)) return condition
  }
  return undefined
}

/**
 * The key that a subject is counted under: its values of the key's attributes, then the attributes' names. Because of
 * the names, a limit whose `key` changed starts with no state. The first value comes first, so that a cluster keeps
 * (user) and (user, route) together. Undefined if the limit does not apply.
 */
export function keyFor(limit: RuleLimit, subject: Attributes): Key | undefined {
  const parts: string[] = []
  for (const attribute of limit.key) {
    const value = countedBy(limit, subject, attribute)
    if (value === undefined) return undefined
    parts.push(value)
  }
  if (mismatch(limit, subject) !== undefined) return undefined
  for (const attribute of limit.key) parts.push(attribute)
  return parts
}

/** The value of an attribute that meets the limit's condition on it; otherwise the first value. */
function countedBy({ when }: RuleLimit, subject: Attributes, attribute: string): string | undefined {
  const readings = readingsOf(subject, attribute)
  if (readings.length < 2) return readings[0]
  const conditions = when.filter(condition => condition.attribute === attribute)
  return readings.find(reading => conditions.every(({ holds }) => holds(reading))) ?? readings[0]
}

export function policyFor({ policy }: RuleLimit, subject: Attributes): Policy {
  if (!isPlans(policy)) return policy
  return policy.policies.get(attributeOf(subject, policy.by) ?? '') ?? policy.strictest
}
