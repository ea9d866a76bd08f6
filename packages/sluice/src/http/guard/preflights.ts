import type { Clock } from '../../clock.ts'
import type { Decision } from '../../decision.ts'
import { expected } from '../../errors.ts'
import { NamedLimiter } from '../../limiter/named-limiter.ts'
import { type PolicyLike, policyOf } from '../../policy.ts'
import type { RequestFacts } from '../request/request-facts.ts'

/** `'count'` treats preflights as any request; a policy is their bucket. */
export type PreflightOption = PolicyLike | 'count'

/**
 * The bucket of CORS preflights, by address. A browser sends them on its own, so they do not cost the caller's quota; but
 * any client can send one, so they are not free either. Always in this process: they are not worth a call to a store.
 */
export class Preflights {
  private readonly limiter: NamedLimiter<RequestFacts, 'sync'>

  constructor(policy: PolicyLike, clock: Clock) {
    const { kind } = policyOf(policy)
    if (kind === 'concurrency') {
      throw expected('SLUICE_NOT_SUPPORTED', 'preflight as a rate, a window or a bucket', kind)
    }
    this.limiter = new NamedLimiter({ clock }, { preflight: { policy, key: facts => facts.ip } }, false)
  }

  decide(facts: RequestFacts): Decision {
    return this.limiter.consume(facts)
  }

  close(): void {
    this.limiter.close()
  }
}

const BY_DEFAULT: PolicyLike = '600/m'

/** Undefined where preflights count as any request. */
export function preflightsOf(option: PreflightOption = BY_DEFAULT, clock: Clock): Preflights | undefined {
  return option === 'count' ? undefined : new Preflights(option, clock)
}
