import { expected } from '../errors.ts'
import { GUARD_LIMIT_OPTIONS, type GuardLimit } from './guard-limit.ts'
import { checkedLimits, type GuardOptions, oneLimit } from './guard-options.ts'
import { ip } from './identity.ts'

/**
 * What one route has of its own, all in the same decision as the limits of the guard: further limits, or others in place
 * of those of the same name (`policy` is short for a limit named `default`), or only another cost.
 */
export type Route =
  | { limits: Readonly<Record<string, GuardLimit>> }
  | GuardLimit
  | { cost: NonNullable<GuardLimit['cost']> }

/** The options of a guard for one route. What the route adds counts for itself unless it names a `bucket`. */
export function withRoute(
  options: GuardOptions,
  limits: Readonly<Record<string, GuardLimit>>,
  route: string,
  own: Route,
): GuardOptions {
  const { policy: _, ...settings } = options as GuardOptions & { policy?: unknown }
  for (const option of GUARD_LIMIT_OPTIONS) delete (settings as Record<string, unknown>)[option]
  return { ...settings, limits: { ...atCost(limits, own), ...ownLimits(route, own) } } as GuardOptions
}

function ownLimits(route: string, own: Route): Readonly<Record<string, GuardLimit>> {
  if (typeof own !== 'object' || own === null) {
    throw expected('SLUICE_BAD_OPTION', `rateLimit of ${route} as { policy }, { limits } or { cost }`, own)
  }
  if (!('limits' in own) && !('policy' in own)) {
    if (Object.keys(own).some(option => option !== 'cost')) {
      throw expected('SLUICE_BAD_OPTION', `rateLimit of ${route} with a policy, limits or a cost`, own)
    }
    return {}
  }
  const limits = 'limits' in own ? own.limits : { default: { key: ip(), ...oneLimit(own) } }
  return Object.fromEntries(
    Object.entries(checkedLimits(limits)).map(([name, limit]) => [name, { bucket: `${route} ${name}`, ...limit }]),
  )
}

/** Limits that have no cost of their own take the route's. */
function atCost(limits: Readonly<Record<string, GuardLimit>>, own: Route): Readonly<Record<string, GuardLimit>> {
  if (!('cost' in own) || 'policy' in own || own.cost === undefined) return limits
  const { cost } = own
  return Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, { cost, ...limit }]))
}
