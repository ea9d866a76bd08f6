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

/** What a limiter says about all routes of its scope. */
export interface ScopeLimiter {
  readonly guard: Guard
  /** False: only routes that ask for it are limited. */
  readonly global: boolean
  /** Of several limiters, the first one alone counts a route's own limits. Its cost is charged by every limiter. */
  readonly isFirst: boolean
}

/** What a route says about itself: its hook, and the rest as a guard takes it. */
interface RouteParts {
  readonly hook: Hook | undefined
  readonly whole: Route | undefined
  readonly onlyCost: Route | undefined
}

/** Several routes may share one config, and a guard knows a route by the identity of its options. */
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

/** The hook that a route names itself. */
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
    const whole = isOnlyHook ? undefined : (rest as Route)
    if (whole !== undefined) checkRoute(where, whole)
    const cost = whole === undefined || 'policy' in whole ? undefined : whole.cost
    parts = { hook, whole, onlyCost: cost === undefined ? undefined : { cost } }
    known.set(own as object, parts)
  }
  return parts
}

/** Fastify makes a second route for HEAD from each route for GET; both have one name. */
export function nameOf({ method = '', url = '' }: RouteConfig): string {
  const methods = Array.isArray(method) ? method : [method]
  return `${methods.some(name => name === 'GET' || name === 'HEAD') ? 'GET' : methods.join()} ${url}`
}
