import type { Clock } from '../../clock.ts'
import type { Decision } from '../../decision.ts'
import { expected } from '../../errors.ts'
import { NamedLimiter } from '../../limiter/named-limiter.ts'
import { type PolicyLike, policyOf } from '../../policy.ts'
import type { RequestFacts } from '../request/request-facts.ts'

/** `'count'` counts preflights like other requests. A policy limits them apart, for each address. */
export type PreflightOption = PolicyLike | 'count'

/**
 * Limits CORS preflights by address. A browser sends them on its own, so they do not use the caller's quota. Any client
 * can send them, so they are not unlimited either. The state is always in this process, because a preflight is not
 * worth a call to a remote store.
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

/** Undefined if preflights count like other requests. */
export function preflightsOf(option: PreflightOption = BY_DEFAULT, clock: Clock): Preflights | undefined {
  return option === 'count' ? undefined : new Preflights(option, clock)
}
