import { type Policy, policyOf } from '../../policy.ts'
import type { GuardLimit } from './guard-limit.ts'
import type { Plans } from './plans.ts'
import { strictest } from './strictest.ts'

/** For a limit that has nothing else to go by. */
const LAST_RESORT: Policy = policyOf('1/s')

/** What holds for a request whose policy could not be chosen: the strictest that the limit, or else any other, may have. */
export function fallbackPolicy(limit: GuardLimit, all: readonly GuardLimit[]): Policy {
  return knownPolicy(limit) ?? strictest(all.map(knownPolicy).filter(policy => policy !== undefined)) ?? LAST_RESORT
}

/** Of plans the strictest; of other functions nothing is known. */
function knownPolicy({ policy }: GuardLimit): Policy | undefined {
  return typeof policy === 'function' ? (policy as Partial<Plans>).strictest : policyOf(policy)
}
