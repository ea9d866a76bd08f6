import { type Rule, ruleOf } from '../../algorithms/rule.ts'
import { type Clock, TICKS_PER_MS } from '../../clock.ts'
import type { Rate } from '../../duration.ts'
import type { Policy } from '../../policy.ts'
import { Charge } from '../../stores/charge.ts'
import { type MemoryStore, memoryStore } from '../../stores/memory/memory-store.ts'
import type { BoundLimit } from '../limits.ts'

/**
 * Limits that this process enforces by itself during an outage: a share of each limit, or numbers of its own, in a
 * local store.
 */
export class LocalLimits {
  readonly store: MemoryStore
  private readonly twins = new Map<BoundLimit<never>, BoundLimit<never>>()
  private readonly rules = new WeakMap<Rule, { share: number; rule: Rule }>()

  constructor(clock: Clock) {
    this.store = memoryStore({ clock })
  }

  /** The same charge against the local limit. */
  chargeFor({ limit, rule, key, cost, role }: Charge): Charge {
    const bound = limit as BoundLimit<never>
    const { own, share = limit.space.localShare } = bound.outage
    // A cost that the limit itself can never admit is refused here too, even if the local numbers are larger.
    const local = own !== undefined && rule.limit > 0 && cost <= rule.limit ? own : this.ruleFor(rule, share)
    return new Charge(this.twinOf(bound), local, key, cost, role)
  }

  private twinOf(limit: BoundLimit<never>): BoundLimit<never> {
    let twin = this.twins.get(limit)
    if (twin === undefined) {
      twin = { ...limit, store: this.store, space: this.store.bind(limit.space.path) }
      this.twins.set(limit, twin)
    }
    return twin
  }

  /** The local limit's rule. It changes when the share does, as processes come and go. */
  private ruleFor(rule: Rule, share: number): Rule {
    let local = this.rules.get(rule)
    if (local === undefined || local.share !== share) {
      local = { share, rule: ruleOf(scaled(rule.policy, share)) }
      this.rules.set(rule, local)
    }
    return local.rule
  }
}

/** A share of a policy over the same windows: at least 1, unless the limit is 0. */
export function scaled(policy: Policy, share: number): Policy {
  // Rounding may put a product of doubles slightly above a whole number.
  const part = (limit: number) => Math.min(limit, Math.max(1, Math.ceil(share * limit - 1e-9)))
  switch (policy.kind) {
    case 'tokenBucket':
      return { ...policy, capacity: part(policy.capacity), refill: slowed(policy.refill, share) }
    case 'leakyBucket':
      return { ...policy, capacity: part(policy.capacity), leak: slowed(policy.leak, share) }
    case 'gcra':
      return { ...policy, burst: part(policy.burst), rate: slowed(policy.rate, share) }
    default:
      return { ...policy, limit: part(policy.limit) }
  }
}

/** The same count over a longer time, rounded up. A lower count over the same time is seldom a whole number. */
function slowed({ count, periodMs }: Rate, share: number): Rate {
  return { count, periodMs: Math.ceil((periodMs * TICKS_PER_MS) / share) / TICKS_PER_MS }
}
