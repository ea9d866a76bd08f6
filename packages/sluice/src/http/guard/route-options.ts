import { expected } from '../../errors.ts'
import { ip } from '../request/identity.ts'
import type { RequestView } from '../request/request-facts.ts'
import { GUARD_LIMIT_OPTIONS, type GuardLimit } from './guard-limit.ts'
import { checkedLimits, type GuardOptions, oneLimit } from './guard-options.ts'

/**
 * What one route has of its own, all in the same decision as the limits of the guard: further limits, or others in place
 * of those of the same name (`policy` is short for a limit named `default`), or only another cost.
 */
export type Route<R = RequestView> =
  | { limits: Readonly<Record<string, GuardLimit<R>>>; cost?: NonNullable<GuardLimit<R>['cost']> }
  | GuardLimit<R>
  | { cost: NonNullable<GuardLimit<R>['cost']> }

/** The options of a guard for one route. What the route adds counts for itself unless it names a `bucket`. */
export function withRoute(
  options: GuardOptions,
  limits: Readonly<Record<string, GuardLimit>>,
  route: string,
  own: Route,
): GuardOptions {
  checkRoute(`rateLimit of ${route}`, own)
  const { policy: _, ...settings } = options as GuardOptions & { policy?: unknown }
  for (const option of GUARD_LIMIT_OPTIONS) delete (settings as Record<string, unknown>)[option]
  return { ...settings, limits: atCost({ ...limits, ...ownLimits(route, own) }, own) } as GuardOptions
}

/** Refuses what says nothing about a route, and what nobody would read. */
export function checkRoute(where: string, own: Route): void {
  if (typeof own !== 'object' || own === null || !('limits' in own || 'policy' in own || 'cost' in own)) {
    throw expected('SLUICE_BAD_OPTION', `${where} as { policy }, { limits } or { cost }`, own)
  }
  const known = 'limits' in own ? ['limits', 'cost'] : 'policy' in own ? GUARD_LIMIT_OPTIONS : ['cost']
  const odd = Object.keys(own).find(option => !known.includes(option))
  if (odd !== undefined) throw expected('SLUICE_BAD_OPTION', `${where} with ${known.join(', ')}`, odd)
}

function ownLimits(route: string, own: Route): Readonly<Record<string, GuardLimit>> {
  if (!('limits' in own) && !('policy' in own)) return {}
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
