import { checkOptions } from '../../check-options.ts'
import { expected } from '../../errors.ts'
import type { LimitMode } from '../../limiter/limits.ts'
import { ip } from '../request/identity.ts'
import type { RequestView } from '../request/request-facts.ts'
import { GUARD_LIMIT_OPTIONS, type GuardLimit, type GuardLimits, type LayeredGuardLimit } from './guard-limit.ts'
import { checkedLimits, type GuardOptions, type GuardSettings, oneLimit } from './guard-options.ts'

/**
 * The options of one route. `limits` adds limits to those of the guard and replaces limits of the same name; all are
 * decided together. `policy` is short for a limit named `default`. `cost` alone changes only the cost. `allow` adds
 * addresses to the guard's `allow`.
 */
export type Route<R = RequestView> = { allow?: readonly string[] | undefined } & (
  | { limits: GuardLimits<R>; cost?: NonNullable<GuardLimit<R>['cost']> }
  | GuardLimit<R>
  | LayeredGuardLimit<R>
  | { cost: NonNullable<GuardLimit<R>['cost']> }
)

/** The options of a guard for one route. A limit of the route has its own state unless it names a `bucket`. */
export function withRoute(settings: GuardSettings, limits: GuardLimits, route: string, given: Route): GuardOptions {
  const own = checkRoute(`rateLimit of ${route}`, given)
  const kept = Object.entries(settings).filter(
    ([option]) => option !== 'limits' && !GUARD_LIMIT_OPTIONS.includes(option),
  )
  const lists = own.allow === undefined ? {} : { allow: [...(settings.allow ?? []), ...own.allow] }
  return { ...Object.fromEntries(kept), ...lists, limits: atCost({ ...limits, ...ownLimits(route, own) }, own) }
}

/** Refuses unknown options, and options without a limit or cost. An option that is `undefined` counts as left out. */
export function checkRoute(where: string, given: Route): Route {
  if (typeof given !== 'object' || given === null) {
    throw expected('SLUICE_BAD_OPTION', `${where} as { policy }, { limits } or { cost }`, given)
  }
  const written = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Route
  const known = 'limits' in written ? ['limits', 'cost'] : 'policy' in written ? GUARD_LIMIT_OPTIONS : ['cost']
  const own = checkOptions(where, written, ['allow', ...known])
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

/** Gives the route's cost to all limits that have no cost of their own. */
function atCost(limits: GuardLimits, own: Route): GuardLimits {
  if (!('cost' in own) || 'policy' in own || own.cost === undefined) return limits
  const { cost } = own
  return Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, { cost, ...limit }]))
}

/** The methods of a route's guard that `RouteGuards` calls. */
interface SwitchableGuard {
  has(limit: string | undefined): boolean
  setMode(mode: LimitMode | undefined, limit?: string): void
  close(): unknown
}

/** The guards of single routes. Each is made when it is first needed and is switched together with the main guard. */
export class RouteGuards<G extends SwitchableGuard> {
  private readonly make: (route: string, own: Route) => G
  /** By the route's options, then by its name: several routes may share an options object or a name. */
  private readonly guards = new Map<Route, Map<string, G>>()
  /** The modes set since the last switch of all limits, for guards of routes that are made later. */
  private readonly modes = new Map<string | undefined, LimitMode | undefined>()

  constructor(make: (route: string, own: Route) => G) {
    this.make = make
  }

  get(route: string, own: Route): G {
    let named = this.guards.get(own)
    let guard = named?.get(route)
    if (guard !== undefined) return guard
    guard = this.make(route, own)
    for (const [limit, mode] of this.modes) if (guard.has(limit)) guard.setMode(mode, limit)
    named ??= new Map()
    this.guards.set(own, named.set(route, guard))
    return guard
  }

  /** The names and guards of the routes that have the limit. */
  having(limit: string, route?: string): [route: string, guard: G][] {
    const named = [...this.guards.values()].flatMap(guards => [...guards])
    return named.filter(([name, guard]) => (route === undefined || name === route) && guard.has(limit))
  }

  /** Whether a route has a limit of this name: its own, or one of the main guard. */
  have(limit: string): boolean {
    return this.all().some(guard => guard.has(limit))
  }

  setMode(mode: LimitMode | undefined, limit: string | undefined): void {
    for (const guard of this.all()) if (guard.has(limit)) guard.setMode(mode, limit)
    if (limit === undefined) this.modes.clear()
    this.modes.set(limit, mode)
  }

  close(): void {
    for (const guard of this.all()) guard.close()
  }

  private all(): G[] {
    return [...this.guards.values()].flatMap(named => [...named.values()])
  }
}
