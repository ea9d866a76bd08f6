import { expected } from '../../errors.ts'
import type { Guard } from '../guard/guard.ts'
import { checkRoute, type Route } from '../guard/route-guards.ts'
import type { RouteConfig } from './fastify-route.ts'

/** The hook that runs the guard. `'preHandler'` sees the body and the user; `'onRequest'`, the default, is the cheapest. */
export type Hook = 'onRequest' | 'preParsing' | 'preValidation' | 'preHandler'

const HOOKS: readonly unknown[] = ['onRequest', 'preParsing', 'preValidation', 'preHandler']

export function checkHook(where: string, hook: unknown): void {
  if (!HOOKS.includes(hook)) throw expected('SLUICE_BAD_OPTION', `${where} ${HOOKS.join(', ')}`, hook)
}

/** The settings of a limiter for all routes of its scope. */
export interface ScopeLimiter {
  readonly guard: Guard
  /** If false, only routes that ask for a limit are limited. */
  readonly global: boolean
  /** Of several limiters, only the first counts a route's own limits. All of them charge the route's cost. */
  readonly isFirst: boolean
}

/** The options of one route: its hook, and the options that a guard takes. */
interface RouteParts {
  readonly hook: Hook | undefined
  readonly whole: Route | undefined
  readonly onlyCost: Route | undefined
}

/** Several routes may share one config object, but a guard recognizes a route by its options object. */
const known = new WeakMap<object, RouteParts>()

/** The guard for a route; undefined if the route is exempt. */
export function guardOfRoute(route: RouteConfig, { guard, global, isFirst }: ScopeLimiter): Guard | undefined {
  const own = route.rateLimit
  if (own === undefined) return global ? guard : undefined
  if (own === false) return undefined
  if (own === true) return guard
  const { whole, onlyCost } = partsOf(own, route)
  const chosen = isFirst ? whole : onlyCost
  return chosen === undefined ? guard : guard.for(nameOf(route), chosen)
}

/** The hook that the route itself chooses. */
export function hookOfRoute(route: RouteConfig): Hook | undefined {
  const own = route.rateLimit
  return typeof own === 'object' && own !== null ? partsOf(own, route).hook : undefined
}

function partsOf(own: unknown, route: RouteConfig): RouteParts {
  const where = `rateLimit of ${nameOf(route)}`
  if (typeof own !== 'object' || own === null) checkRoute(where, own as never)
  let parts = known.get(own as object)
  if (parts === undefined) {
    const { hook, ...rest } = own as { hook?: Hook }
    if (hook !== undefined) checkHook(`${where} hook`, hook)
    const isOnlyHook = hook !== undefined && Object.values(rest).every(value => value === undefined)
    const whole = isOnlyHook ? undefined : checkRoute(where, rest as Route)
    const cost = whole === undefined || 'policy' in whole ? undefined : whole.cost
    parts = { hook, whole, onlyCost: cost === undefined ? undefined : { cost } }
    known.set(own as object, parts)
  }
  return parts
}

/** Fastify adds a HEAD route for each GET route; both get the same name. */
export function nameOf({ method = '', url = '' }: RouteConfig): string {
  const methods = Array.isArray(method) ? method : [method]
  return `${methods.some(name => name === 'GET' || name === 'HEAD') ? 'GET' : methods.join()} ${url}`
}
