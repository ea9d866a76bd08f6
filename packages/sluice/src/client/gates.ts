import type { Clock } from '../clock.ts'
import { Gate } from './gate.ts'
import type { RateLimitInfo } from './read-rate-limit.ts'

/** Where a request goes. */
export interface Target {
  readonly url: URL
  readonly method: string
}

/** The gates a request passes: that of its bucket, where the server has named one, and that of the origin. */
export interface Way {
  readonly route: string
  readonly bucket: Gate | undefined
  readonly origin: Gate
}

const MAX_GATES = 1000
const MAX_ROUTES = 10_000

/**
 * A gate for each origin, and one for each bucket that a server names in its answers (Discord's buckets, GitHub's
 * resources). Which bucket counts a route is learnt from the first answer to it.
 */
export class Gates {
  private readonly clock: Clock
  private readonly gates = new Map<string, Gate>()
  private readonly bucketOfRoute = new Map<string, string>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  wayOf({ url, method }: Target): Way {
    const origin = this.gate(url.origin)
    if (this.bucketOfRoute.size === 0) return { route: '', bucket: undefined, origin }
    const route = routeOf(url, method)
    const bucket = this.bucketOfRoute.get(route)
    return { route, bucket: bucket === undefined ? undefined : this.gate(bucket), origin }
  }

  /** The gate that what was told concerns. */
  concerned({ url, method }: Target, way: Way, info: RateLimitInfo): Gate {
    if (info.bucket === undefined || info.scope === 'global') return way.origin
    const key = JSON.stringify([url.origin, info.bucket, majorOf(url.pathname)])
    const route = way.route || routeOf(url, method)
    this.bucketOfRoute.delete(route)
    this.bucketOfRoute.set(route, key)
    if (this.bucketOfRoute.size > MAX_ROUTES) this.bucketOfRoute.delete(this.bucketOfRoute.keys().next().value!)
    return this.gate(key)
  }

  private gate(key: string): Gate {
    const known = this.gates.get(key)
    if (known !== undefined) return known
    if (this.gates.size >= MAX_GATES) this.forgetIdle()
    const gate = new Gate(this.clock)
    this.gates.set(key, gate)
    return gate
  }

  /** An idle gate holds nobody back, so forgetting it changes nothing. */
  private forgetIdle(): void {
    for (const [key, gate] of this.gates) if (gate.isIdle) this.gates.delete(key)
  }
}

/** Discord counts a bucket apart for each channel, guild and webhook. */
const MAJOR = /^\/api\/(?:v\d+\/)?(?:channels|guilds|webhooks)\/\d+(?:\/[\w-]{60,})?/
/** A part of a path that names one thing of many: a number, a UUID, a hash. */
const ID = /^(?:\d+|[0-9a-f-]{16,})$/i

function majorOf(path: string): string {
  return MAJOR.exec(path)?.[0] ?? ''
}

function routeOf({ origin, pathname }: URL, method: string): string {
  const major = majorOf(pathname)
  const rest = pathname.slice(major.length).split('/')
  return `${method} ${origin}${major}${rest.map(part => (ID.test(part) ? ':id' : part)).join('/')}`
}
