import { checkOptions } from '../../check-options.ts'
import { expected } from '../../errors.ts'
import { ip } from '../request/identity.ts'
import type { RequestView } from '../request/request-facts.ts'
import { GUARD_LIMIT_OPTIONS, type GuardLimit, type GuardLimits, type LayeredGuardLimit } from './guard-limit.ts'
import { checkedLimits, type GuardOptions, type GuardSettings, oneLimit } from './guard-options.ts'

/**
 * What one route has of its own, all in the same decision as the limits of the guard: further limits, or others in place
 * of those of the same name (`policy` is short for a limit named `default`), or only another cost. `allow` adds to the
 * addresses that no limit concerns.
 */
export type Route<R = RequestView> = { allow?: readonly string[] | undefined } & (
  | { limits: GuardLimits<R>; cost?: NonNullable<GuardLimit<R>['cost']> }
  | GuardLimit<R>
  | LayeredGuardLimit<R>
  | { cost: NonNullable<GuardLimit<R>['cost']> }
)

/** The options of a guard for one route. What the route adds counts for itself unless it names a `bucket`. */
export function withRoute(settings: GuardSettings, limits: GuardLimits, route: string, given: Route): GuardOptions {
  const own = checkRoute(`rateLimit of ${route}`, given)
  const kept = Object.entries(settings).filter(
    ([option]) => option !== 'limits' && !GUARD_LIMIT_OPTIONS.includes(option),
  )
  const lists = own.allow === undefined ? {} : { allow: [...(settings.allow ?? []), ...own.allow] }
  return { ...Object.fromEntries(kept), ...lists, limits: atCost({ ...limits, ...ownLimits(route, own) }, own) }
}

/** Refuses what says nothing about a route, and unknown options. Options that are `undefined` are as left out. */
export function checkRoute(where: string, given: Route): Route {
  if (typeof given !== 'object' || given === null) {
    throw expected('SLUICE_BAD_OPTION', `${where} as { policy }, { limits } or { cost }`, given)
  }
  const known = 'limits' in given ? ['limits', 'cost'] : 'policy' in given ? GUARD_LIMIT_OPTIONS : ['cost']
  const own = checkOptions(where, given, ['allow', ...known])
  if ('limits' in own || 'policy' in own || 'cost' in own) return own
  throw expected('SLUICE_BAD_OPTION', `${where} as { policy }, { limits } or { cost }`, given)
}

function ownLimits(route: string, own: Route): GuardLimits {
  if (!('limits' in own) && !('policy' in own)) return {}
  const limits = 'limits' in own ? own.limits : { default: { key: ip(), ...oneLimit(own) } }
  return Object.fromEntries(
    Object.entries(checkedLimits(limits)).map(([name, limit]) => [name, { bucket: `${route} ${name}`, ...limit }]),
  )
}

/** Limits that have no cost of their own take the route's. */
function atCost(limits: GuardLimits, own: Route): GuardLimits {
  if (!('cost' in own) || 'policy' in own || own.cost === undefined) return limits
  const { cost } = own
  return Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, { cost, ...limit }]))
}
