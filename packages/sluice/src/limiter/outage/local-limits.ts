import { type Rule, ruleOf } from '../../algorithms/rule.ts'
import { type Clock, TICKS_PER_MS } from '../../clock.ts'
import type { Rate } from '../../duration.ts'
import type { Policy } from '../../policy.ts'
import { Charge } from '../../stores/charge.ts'
import { type MemoryStore, memoryStore } from '../../stores/memory/memory-store.ts'
import type { BoundLimit } from '../limits.ts'

/** The limits of a limiter as this process enforces them by itself: a share of each or numbers of its own, counted in a store of its own. */
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
    // What the limit itself would never let pass, its share never does either, be its own numbers as large as they may.
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

  /** The share may change as instances come and go. */
  private ruleFor(rule: Rule, share: number): Rule {
    let local = this.rules.get(rule)
    if (local === undefined || local.share !== share) {
      local = { share, rule: ruleOf(scaled(rule.policy, share)) }
      this.rules.set(rule, local)
    }
    return local.rule
  }
}

/** A share of a policy, in the same windows: never less than 1, unless it was 0. */
export function scaled(policy: Policy, share: number): Policy {
  // A product of doubles may be a hair above the whole number that is meant.
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

/** The same count over a longer time, rounded up: a whole count could not always be divided without letting more pass. */
function slowed({ count, periodMs }: Rate, share: number): Rate {
  return { count, periodMs: Math.ceil((periodMs * TICKS_PER_MS) / share) / TICKS_PER_MS }
}
