import type { LimitOptions } from '../../limiter/limits.ts'
import type { RequestFacts } from '../request/request-facts.ts'
import { fallbackPolicy } from './fallback-policy.ts'
import type { GuardLimit } from './guard-limit.ts'
import type { Reporter } from './reporter.ts'
import { SafeLimit } from './safe-limit.ts'

/** The limits of a guard as its limiter takes them. */
export function safeLimits(
  limits: Readonly<Record<string, GuardLimit>>,
  reporter: Reporter,
): Record<string, LimitOptions<RequestFacts>> {
  const all = Object.values(limits)
  return Object.fromEntries(
    Object.entries(limits).map(([name, limit], index) => {
      const safe = new SafeLimit(name, index, limit, () => fallbackPolicy(limit, all), reporter)
      return [name, safe.options()]
    }),
  )
}
