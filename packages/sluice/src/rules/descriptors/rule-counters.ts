import { stableHash } from '../../hash.ts'
import type { LimitOptions } from '../../limiter/limits.ts'
import type { Domains } from './descriptor-file.ts'
import { type HitBatch, hitIn } from './hit-batch.ts'
import type { RateLimit } from './rate-limit.ts'
import { type DescriptorEntry, rulesOf } from './tree.ts'

/**
 * Assigns limits to counters.
 *
 * A limiter checks all its limits on every request, and there may be thousands of rules. So the rules share a fixed
 * number of counters. Each counter is a limit of the limiter and takes policy, key and cost from the hit. A rule's
 * counter follows from its name alone, so its state stays where it is when other rules come or go.
 */
export interface CounterRef {
  readonly counter: string
  /** The index among several limits on one descriptor, from 0. */
  readonly nth: number
}

const COUNTERS = 64
/** Overrides belong to no rule; those of one request mostly have different keys. */
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

/** A counter has one `onOutage`, so the setting is part of the counter's name. */
function counterOf(rule: string, nth: number, { onOutage }: RateLimit): string {
  const counter = stableHash(`${rule} ${nth}`, COUNTERS)
  if (onOutage === 'local') return `counter-${counter}`
  return `counter-${counter}-${typeof onOutage === 'string' ? onOutage : JSON.stringify(onOutage.local)}`
}

export function overrideCounter(entries: readonly DescriptorEntry[]): CounterRef {
  const keys = entries.map(({ key }) => key).join('.')
  return { counter: OVERRIDE_COUNTERS[stableHash(keys, OVERRIDE_COUNTERS.length)]!, nth: 0 }
}

/** The limiter's limits: the counters in use. */
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
      // A quota refuses only together with the others, so the limiter must not refuse for it alone.
      return hit.effect === 'refuses' ? 'enforce' : 'shadow'
    },
    policy: batch => hitIn(batch, counter)!.policy,
    key: batch => hitIn(batch, counter)?.key,
    cost: batch => hitIn(batch, counter)?.cost ?? 0,
    onOutage,
  }
}
