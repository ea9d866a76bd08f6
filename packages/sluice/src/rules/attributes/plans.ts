import { limitOfPolicy, type Policy } from '../../policy.ts'
import type { ConfigNode } from '../config-node.ts'
import { readPlanPolicy } from './policies.ts'

/** A policy for each plan. */
export interface RulePlans {
  /** The attribute that names the plan. */
  readonly by: string
  readonly policies: ReadonlyMap<string, Policy>
  /** The policy for subjects without a plan, or with one that is not listed. */
  readonly strictest: Policy
}

export function readPlans(node: ConfigNode): RulePlans | undefined {
  const members = node.members('a map of by and the policy of each plan')
  if (members === undefined) return undefined
  const by = node.member('by').text('the attribute that names the plan')
  members.delete('by')
  if (members.size === 0) return node.wrong('at least one plan beside by')
  const policies = new Map<string, Policy>()
  for (const [plan, member] of members) {
    const policy = readPlanPolicy(member)
    if (policy !== undefined) policies.set(plan, policy)
  }
  const [first, ...rest] = policies.values()
  if (by === undefined || first === undefined || policies.size < members.size) return undefined
  if (rest.some(policy => isConcurrency(policy) !== isConcurrency(first))) {
    return node.wrong('plans that all count rates, or all count what is under way', 'otherwise none is the strictest')
  }
  return { by, policies, strictest: rest.reduce((a, b) => (isStricter(b, a) ? b : a), first) }
}

function isConcurrency(policy: Policy): boolean {
  return policy.kind === 'concurrency'
}

/** Whether `a` admits less than `b` in the long run, or as much in the long run but less at once. */
function isStricter(a: Policy, b: Policy): boolean {
  const [rateA, rateB] = [perMs(a), perMs(b)]
  return rateA !== rateB ? rateA < rateB : limitOfPolicy(a) < limitOfPolicy(b)
}

const CALENDAR_MS: Record<string, number> = { day: 86_400_000, week: 604_800_000, month: 2_592_000_000 }

function perMs(policy: Policy): number {
  if (limitOfPolicy(policy) === 0) return 0
  switch (policy.kind) {
    case 'tokenBucket':
      return policy.refill.count / policy.refill.periodMs
    case 'leakyBucket':
      return policy.leak.count / policy.leak.periodMs
    case 'gcra':
      return policy.rate.count / policy.rate.periodMs
    case 'concurrency':
      return policy.limit
    case 'fixedWindow':
      return policy.limit / (policy.windowMs || CALENDAR_MS[policy.align]!)
    default:
      return policy.limit / policy.windowMs
  }
}
