import { checkCost, type LimitMode } from '../../limiter/limits.ts'
import { policyWords } from '../words.ts'
import { mismatch, policyFor } from './applying.ts'
import { type Attributes, attributeOf, costFrom } from './attributes.ts'
import { isPlans, type RuleLimit } from './limit.ts'

/** What one limit does with a subject, in words. */
export interface Explanation {
  readonly limit: string
  readonly applies: boolean
  readonly why: string
  readonly mode: LimitMode
  /** The key that the request is counted under: `user=42`, or `everybody`. */
  readonly key?: string
  readonly policy?: string
  readonly cost?: number
}

export function explainLimit(limit: RuleLimit, mode: LimitMode, subject: Attributes, callCost: number): Explanation {
  const { name, key, cost, policy } = limit
  const absent = key.find(attribute => attributeOf(subject, attribute) === undefined)
  const failed = mismatch(limit, subject)
  const no = (why: string): Explanation => ({ limit: name, applies: false, why, mode })
  if (mode === 'off') return no('it is switched off')
  if (absent !== undefined) return no(`it counts by ${key.join(' and ')}, and there is no ${absent}`)
  if (failed !== undefined) {
    const value = attributeOf(subject, failed.attribute)
    const wanted = failed.values.map(one => `'${one}'`).join(' or ')
    return no(
      `${failed.attribute} must be ${wanted}, and ${value === undefined ? 'there is none' : `it is '${value}'`}`,
    )
  }
  const plan = isPlans(policy) ? planWords(policy.policies, policy.by, attributeOf(subject, policy.by)) : ''
  return {
    limit: name,
    applies: true,
    why: whyWords(limit),
    mode,
    key: key.map(attribute => `${attribute}=${attributeOf(subject, attribute)}`).join(' ') || 'everybody',
    policy: `${policyWords(policyFor(limit, subject))}${plan}`,
    cost: typeof cost === 'string' ? costFrom(subject, cost) : checkCost(cost ?? callCost),
  }
}

function whyWords({ key, when }: RuleLimit): string {
  const reasons = key.length === 0 ? [] : [`${key.join(' and ')} ${key.length === 1 ? 'is' : 'are'} there`]
  for (const { attribute, values } of when) {
    reasons.push(`${attribute} is ${values.length === 1 ? `'${values[0]}'` : `one of '${values.join("', '")}'`}`)
  }
  return reasons.length === 0 ? 'it is for every request' : reasons.join(', ')
}

function planWords(policies: ReadonlyMap<string, unknown>, by: string, plan: string | undefined): string {
  if (plan === undefined) return `: the strictest plan, as there is no ${by}`
  return policies.has(plan) ? `: plan ${plan}` : `: the strictest plan, as there is no plan '${plan}'`
}
