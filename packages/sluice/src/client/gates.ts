import type { Clock } from '../clock.ts'
import { Gate, type Pass } from './gate.ts'
import type { RateLimitInfo } from './read-rate-limit.ts'

/** Where a request goes. */
export interface Target {
  readonly url: URL
  readonly origin: string
  readonly method: string
}

/** A request's way through the gates: that of its bucket, where the server has named one, and that of the origin. */
export interface Way {
  readonly target: Target
  readonly origin: Gate
  originPass: Pass | undefined
  bucket: Gate | undefined
  bucketPass: Pass | undefined
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
  /** Under way, without a bucket so far. */
  private readonly unnamed = new Set<Way>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  wayOf(target: Target): Way {
    const origin = this.gate(target.origin)
    const key = this.bucketOfRoute.size === 0 ? undefined : this.bucketOfRoute.get(routeOf(target))
    const bucket = key === undefined ? undefined : this.gate(key)
    return { target, origin, originPass: undefined, bucket, bucketPass: undefined }
  }

  /** The request is sent. */
  depart(way: Way): void {
    if (way.bucket === undefined) this.unnamed.add(way)
  }

  /** The request came to its end. Answers the gate that what was told concerns. */
  arrive(way: Way, info: RateLimitInfo | undefined): Gate {
    const concerned = info === undefined ? way.origin : this.concerned(way, info)
    this.unnamed.delete(way)
    if (way.bucketPass !== undefined) way.bucket!.leave(way.bucketPass, concerned === way.bucket ? info : undefined)
    if (way.originPass !== undefined) way.origin.leave(way.originPass, concerned === way.origin ? info : undefined)
    return concerned
  }

  private concerned(way: Way, { bucket, scope }: RateLimitInfo): Gate {
    if (bucket === undefined || scope === 'global') return way.origin
    const { url, origin } = way.target
    const key = JSON.stringify([origin, bucket, majorOf(url.pathname)])
    const route = routeOf(way.target)
    const gate = this.gate(key)
    if (this.bucketOfRoute.get(route) !== key) this.learn(route, key, gate)
    return gate
  }

  private learn(route: string, key: string, gate: Gate): void {
    this.bucketOfRoute.delete(route)
    this.bucketOfRoute.set(route, key)
    if (this.bucketOfRoute.size > MAX_ROUTES) this.bucketOfRoute.delete(this.bucketOfRoute.keys().next().value!)
    for (const way of this.unnamed) {
      if (routeOf(way.target) !== route) continue
      way.bucket = gate
      way.bucketPass = gate.join()
      this.unnamed.delete(way)
    }
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

function routeOf({ url: { pathname }, origin, method }: Target): string {
  const major = majorOf(pathname)
  const rest = pathname.slice(major.length).split('/')
  return `${method} ${origin}${major}${rest.map(part => (ID.test(part) ? ':id' : part)).join('/')}`
}
