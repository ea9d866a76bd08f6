import { stableHash } from '../../hash.ts'
import type { LimitOptions } from '../../limiter/limits.ts'
import type { Domains } from './descriptor-file.ts'
import { type HitBatch, hitIn } from './hit-batch.ts'
import type { RateLimit } from './rate-limit.ts'
import { type DescriptorEntry, rulesOf } from './tree.ts'

/**
 * Where a limit is counted.
 *
 * A limiter looks at all its limits on every request, and rules may be thousands: so they share a fixed number of
 * counters, each a limit of the limiter that takes policy, key and cost from what is asked. A rule is always in the same
 * counter, since its state is there; that follows from its name alone, so that the other rules may come and go.
 */
export interface CounterRef {
  readonly counter: string
  /** Which of several limits on one descriptor, from 0. */
  readonly nth: number
}

const COUNTERS = 64
/** Overrides belong to no rule; those of a request mostly differ in their keys. */
const OVERRIDE_COUNTERS = Array.from({ length: 8 }, (_, i) => `override-${i}`)

export function counterRefs(domains: Domains): Map<RateLimit, CounterRef> {
  const refs = new Map<RateLimit, CounterRef>()
  for (const level of domains.values()) {
    for (const { name, limits } of rulesOf(level)) {
      for (const [nth, limit] of limits.entries()) refs.set(limit, { counter: counterOf(name, nth, limit), nth })
    }
  }
  return refs
}

/** What decides during an outage is a counter's own, and so part of its name. */
function counterOf(rule: string, nth: number, { onOutage }: RateLimit): string {
  const counter = stableHash(`${rule} ${nth}`, COUNTERS)
  if (onOutage === 'local') return `counter-${counter}`
  return `counter-${counter}-${typeof onOutage === 'string' ? onOutage : JSON.stringify(onOutage.local)}`
}

export function overrideCounter(entries: readonly DescriptorEntry[]): CounterRef {
  const keys = entries.map(({ key }) => key).join('.')
  return { counter: OVERRIDE_COUNTERS[stableHash(keys, OVERRIDE_COUNTERS.length)]!, nth: 0 }
}

/** The limits of the limiter: the counters that are taken. */
export function counterLimits(refs: ReadonlyMap<RateLimit, CounterRef>): Record<string, LimitOptions<HitBatch>> {
  const limits = new Map(OVERRIDE_COUNTERS.map(counter => [counter, counterLimit(counter, 'local')]))
  for (const [{ onOutage }, { counter }] of refs) {
    if (!limits.has(counter)) limits.set(counter, counterLimit(counter, onOutage))
  }
  return Object.fromEntries(limits)
}

function counterLimit(counter: string, onOutage: RateLimit['onOutage']): LimitOptions<HitBatch> {
  return {
    mode: batch => {
      const hit = hitIn(batch, counter)
      if (hit === undefined) return 'off'
      // A quota refuses only together with the others, so the limiter must not refuse by it alone.
      return hit.effect === 'refuses' ? 'enforce' : 'shadow'
    },
    policy: batch => hitIn(batch, counter)!.policy,
    key: batch => hitIn(batch, counter)?.key,
    cost: batch => hitIn(batch, counter)?.cost ?? 0,
    onOutage,
  }
}
