import type { Keys } from '../limiter/open-lanes.ts'
import type { Facts } from './facts.ts'
import type { GuardLimit } from './guard-limit.ts'
import { Identity } from './identity.ts'

/** Whoever comes again is known for so many; then all are forgotten at once, which costs least. */
const MOST_KEPT = 1024

/**
 * The keys of a guard whose limits ask for nothing but the address and the route. Most requests are of a caller who has
 * just asked for the same route: to find what its keys were costs a third of reading them, limit by limit.
 */
export class PlaceKeys {
  private readonly byRoute = new Map<string | undefined, Map<string, Keys>>()
  private size = 0
  /** The route asked for last, and the keys of those who have asked for it, by their address. */
  private route: string | undefined = undefined
  private here = this.keysOf(undefined)

  /** `read` reads them limit by limit, and knows what to do where that fails. */
  of(facts: Facts, read: (facts: Facts) => Keys | undefined): Keys | undefined {
    let route: string | undefined
    try {
      route = facts.route
    } catch {
      return read(facts)
    }
    if (route !== this.route) {
      this.route = route
      this.here = this.keysOf(route)
    }
    return this.here.get(facts.ip) ?? this.keep(facts, read(facts))
  }

  private keep({ ip }: Facts, keys: Keys | undefined): Keys | undefined {
    if (keys === undefined) return undefined
    if (++this.size > MOST_KEPT) {
      this.byRoute.clear()
      this.size = 1
      this.here = this.keysOf(this.route)
    }
    this.here.set(ip, keys)
    return keys
  }

  private keysOf(route: string | undefined): Map<string, Keys> {
    let keys = this.byRoute.get(route)
    if (keys === undefined) {
      keys = new Map()
      this.byRoute.set(route, keys)
    }
    return keys
  }
}

/** Undefined where a key may say more than who asks and where, or where all of them say no more than who. */
export function placeKeysOf(limits: readonly GuardLimit[]): PlaceKeys | undefined {
  const keys = limits.map(({ key }) => key).filter(key => key !== undefined)
  const ofPlace = keys.every(key => key instanceof Identity && key.from !== 'the request')
  const some = keys.some(key => (key as Identity).from === 'address and route')
  const always = limits.every(({ when, rollout, resetWhen }) => (when ?? rollout ?? resetWhen) === undefined)
  return ofPlace && some && always ? new PlaceKeys() : undefined
}
