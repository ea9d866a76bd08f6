import type { Policy } from '../policy.ts'
import { type BucketRule, bucketRule } from './bucket.ts'
import { type SlotsRule, slotsRule } from './concurrency.ts'
import { type FixedRule, fixedRule } from './fixed-window.ts'
import { type LogRule, logRule } from './sliding-log.ts'
import { type SlidingRule, slidingRule } from './sliding-window.ts'

/**
 * A policy made ready for its kernel: its numbers in ticks and units. Two rules of the same `shape` can read each
 * other's state, so a changed limit keeps its state, while a changed window starts with none.
 */
export type Rule = BucketRule | FixedRule | SlidingRule | LogRule | SlotsRule

const rules = new WeakMap<Policy, Rule>()

/** The rule of a policy, made once for each policy object. */
export function ruleOf(policy: Policy): Rule {
  let rule = rules.get(policy)
  if (rule === undefined) {
    rule = compile(policy)
    rules.set(policy, rule)
  }
  return rule
}

function compile(policy: Policy): Rule {
  switch (policy.kind) {
    case 'fixedWindow':
      return fixedRule(policy)
    case 'slidingWindow':
      return slidingRule(policy)
    case 'slidingLog':
      return logRule(policy)
    case 'concurrency':
      return slotsRule(policy)
    default:
      return bucketRule(policy)
  }
}
