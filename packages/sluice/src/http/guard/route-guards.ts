import type { LimitMode } from '../../limiter/limits.ts'
import type { Route } from './route-options.ts'

/** What the guard of a route can be told. */
interface SwitchableGuard {
  has(limit: string | undefined): boolean
  setMode(mode: LimitMode | undefined, limit?: string): void
  close(): unknown
}

/** The guards of single routes, made when first asked for, and switched together with the guard they belong to. */
export class RouteGuards<G extends SwitchableGuard> {
  private readonly make: (route: string, own: Route) => G
  /** By what a route says, then by its name: several routes may say the same, and several may have one name. */
  private readonly guards = new Map<Route, Map<string, G>>()
  /** The switches since all limits were switched together. Routes that come later are switched, too. */
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

  /** The routes that have the limit, by their names. */
  having(limit: string, route?: string): [route: string, guard: G][] {
    const named = [...this.guards.values()].flatMap(guards => [...guards])
    return named.filter(([name, guard]) => (route === undefined || name === route) && guard.has(limit))
  }

  /** A route may have put another limit in place of one of that name, or have one that no other has. */
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
