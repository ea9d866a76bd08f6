import { NamedLimiter } from '../limiter/named-limiter.ts'
import type { OnOutage } from '../limiter/outage/on-outage.ts'
import type { Policy } from '../policy.ts'
import { readPlanPolicy } from './attributes/policies.ts'
import type { ConfigNode } from './config-node.ts'
import { policyWords } from './words.ts'

const MODES = ['local', 'open', 'closed'] as const

/** `local`, `open` or `closed`; or `{ local: … }` with a share, a rate, or a map of one algorithm. */
export function readOnOutage(node: ConfigNode): OnOutage | undefined {
  if (typeof node.value !== 'object' || node.value === null) return node.oneOf(MODES)
  if (node.members('a map of local', ['local']) === undefined) return undefined
  const local = node.member('local')
  if (typeof local.value !== 'number') {
    if (local.value === undefined) return local.wrong('a share such as 0.5, or numbers such as 20/m')
    const policy = readPlanPolicy(local)
    return policy && { local: policy }
  }
  if (local.value > 0 && local.value <= 1) return { local: local.value }
  return local.wrong('a share above 0, up to 1', 'a number of requests needs a time, such as 20/m')
}

/** Reports an `on_outage` that does not fit its policy. */
export function checkOnOutage(node: ConfigNode, limit: string, onOutage: OnOutage, policy: Policy): void {
  // The limiter checks whether they fit.
  node.attempt(() => new NamedLimiter({}, { [limit]: { policy, onOutage } }, false))
}

/** `local`, `local at a share of 0.2`, `local at 20 in 1m (sliding log)`. */
export function outageWords(onOutage: OnOutage): string {
  if (typeof onOutage === 'string') return onOutage
  const { local } = onOutage
  if (typeof local === 'number') return `local at a share of ${local}`
  return `local at ${typeof local === 'string' ? local : policyWords(local)}`
}
