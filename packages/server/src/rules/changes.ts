import {
  type Condition,
  isPlans,
  keepsState,
  outageWords,
  policyWords,
  type RuleLimit,
  type RulePlans,
} from 'sluice/rules'
import type { LoadedRules } from './load.ts'

const KEPT = 'what callers have used is kept'
const FRESH = 'starts afresh'

/** What a reload changed, in sentences for the log, without keys or secrets. */
export function ruleChanges({ rules: before }: LoadedRules, { rules: after }: LoadedRules): string[] {
  const changes: string[] = []
  if (before.name !== after.name || before.prefix !== after.prefix) {
    changes.push(`name or prefix has changed: every limit ${FRESH}`)
  }
  if (before.store !== after.store) changes.push('store has changed: that takes a restart')
  if (JSON.stringify(before.trustedProxies) !== JSON.stringify(after.trustedProxies)) {
    changes.push('trusted_proxies have changed')
  }
  for (const list of ['allow', 'deny'] as const) {
    if (JSON.stringify(before[list]) !== JSON.stringify(after[list])) changes.push(`the ${list} list has changed`)
  }
  const old = new Map(before.limits.map(limit => [limit.name, limit]))
  for (const limit of after.limits) {
    const was = old.get(limit.name)
    old.delete(limit.name)
    changes.push(
      ...(was === undefined ? [`limit '${limit.name}' is new: ${limitWords(limit)}`] : limitChanges(was, limit)),
    )
  }
  for (const name of old.keys()) changes.push(`limit '${name}' is gone`)
  return changes
}

function limitChanges(before: RuleLimit, after: RuleLimit): string[] {
  const limit = `limit '${after.name}'`
  const changes: string[] = []
  if (keyWords(before) !== keyWords(after)) {
    changes.push(`${limit} counted ${keyWords(before)}, now ${keyWords(after)}: ${FRESH}`)
  }
  if (limitWords(before) !== limitWords(after)) {
    const state = keepsAll(before.policy, after.policy) ? KEPT : FRESH
    changes.push(`${limit} was ${limitWords(before)}, is now ${limitWords(after)}: ${state}`)
  }
  for (const [what, words] of Object.entries(ASIDE)) {
    const [was, is] = [words(before), words(after)]
    if (was !== is) changes.push(`${limit} had ${what} ${was}, now ${is}`)
  }
  return changes
}

/** The properties besides policy and key. A change of them keeps the counts. */
const ASIDE: Readonly<Record<string, (limit: RuleLimit) => string>> = {
  when: ({ when }) => when.map(conditionWords).join(' and ') || 'nothing',
  cost: ({ cost }) => (cost === undefined ? 'as called' : String(cost)),
  mode: ({ mode }) => mode,
  replaces: ({ replaces }) => replaces ?? 'nothing',
  on_outage: ({ onOutage }) => outageWords(onOutage),
  block_for: ({ blockFor }) => (blockFor === undefined ? 'nothing' : JSON.stringify(blockFor)),
  quiet: ({ quiet }) => String(quiet),
}

function keyWords({ key }: RuleLimit): string {
  return key.length === 0 ? 'everybody together' : `by ${key.join(' and ')}`
}

function conditionWords({ attribute, values }: Condition): string {
  return `${attribute} ${values.map(value => `'${value}'`).join(' or ')}`
}

function limitWords({ policy }: RuleLimit): string {
  if (!isPlans(policy)) return policyWords(policy)
  const plans = [...policy.policies].map(([plan, one]) => `${plan} ${policyWords(one)}`)
  return `plans by ${policy.by}: ${plans.join(', ')}`
}

/** Changes of plans. A caller who stays in a plan keeps the counts if the plan is in both files. */
function keepsAll(before: RuleLimit['policy'], after: RuleLimit['policy']): boolean {
  const [was, is] = [plansOf(before), plansOf(after)]
  return [...was].every(([plan, policy]) => {
    const now = is.get(plan)
    return now === undefined || keepsState(policy, now)
  })
}

function plansOf(policy: RuleLimit['policy']): RulePlans['policies'] {
  return isPlans(policy) ? policy.policies : new Map([['', policy]])
}
