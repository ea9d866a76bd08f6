import type { Clock } from '../clock.ts'
import type { RateLimitInfo } from './fields/rate-limit-info.ts'
import { type Permit, RequestQueue } from './request-queue.ts'

/** Where a request goes. */
export interface Target {
  readonly url: URL
  readonly origin: string
  readonly method: string
}

/** A request and the queues it waits in: that of its origin and, if the server named a bucket, that of the bucket. */
export interface QueuedRequest {
  readonly target: Target
  readonly origin: RequestQueue
  originPermit: Permit | undefined
  bucket: RequestQueue | undefined
  bucketPermit: Permit | undefined
}

const MAX_QUEUES = 1000
const MAX_ROUTES = 10_000

/**
 * One queue for each origin, and one for each bucket that a server names in its answers (Discord's buckets, GitHub's
 * resources). The first answer to a route says which bucket counts it.
 */
export class RequestQueues {
  private readonly clock: Clock
  private readonly queues = new Map<string, RequestQueue>()
  private readonly bucketOfRoute = new Map<string, string>()
  /** Requests under way whose bucket is not known yet. */
  private readonly unnamed = new Set<QueuedRequest>()

  constructor(clock: Clock) {
    this.clock = clock
  }

  queuesFor(target: Target): QueuedRequest {
    const origin = this.queue(target.origin)
    const key = this.bucketOfRoute.size === 0 ? undefined : this.bucketOfRoute.get(routeOf(target))
    const bucket = key === undefined ? undefined : this.queue(key)
    return { target, origin, originPermit: undefined, bucket, bucketPermit: undefined }
  }

  /** The request is sent. */
  sent(queued: QueuedRequest): void {
    if (queued.bucket === undefined) this.unnamed.add(queued)
  }

  /** The request has ended. Returns the queue that `info` is about. */
  ended(queued: QueuedRequest, info: RateLimitInfo | undefined): RequestQueue {
    const affected = info === undefined ? queued.origin : this.affected(queued, info)
    this.unnamed.delete(queued)
    if (queued.bucketPermit !== undefined)
      queued.bucket!.release(queued.bucketPermit, affected === queued.bucket ? info : undefined)
    if (queued.originPermit !== undefined)
      queued.origin.release(queued.originPermit, affected === queued.origin ? info : undefined)
    return affected
  }

  private affected(queued: QueuedRequest, { bucket, scope }: RateLimitInfo): RequestQueue {
    if (bucket === undefined || scope === 'global') return queued.origin
    const { url, origin } = queued.target
    const key = JSON.stringify([origin, bucket, majorOf(url.pathname)])
    const route = routeOf(queued.target)
    const queue = this.queue(key)
    if (this.bucketOfRoute.get(route) !== key) this.learn(route, key, queue)
    return queue
  }

  private learn(route: string, key: string, queue: RequestQueue): void {
    this.bucketOfRoute.delete(route)
    this.bucketOfRoute.set(route, key)
    if (this.bucketOfRoute.size > MAX_ROUTES) this.bucketOfRoute.delete(this.bucketOfRoute.keys().next().value!)
    for (const queued of this.unnamed) {
      if (routeOf(queued.target) !== route) continue
      queued.bucket = queue
      queued.bucketPermit = queue.admit()
      this.unnamed.delete(queued)
    }
  }

  private queue(key: string): RequestQueue {
    const known = this.queues.get(key)
    if (known !== undefined) return known
    if (this.queues.size >= MAX_QUEUES) this.forgetIdle()
    const queue = new RequestQueue(this.clock)
    this.queues.set(key, queue)
    return queue
  }

  /** An idle queue holds no request back, so forgetting it changes nothing. */
  private forgetIdle(): void {
    for (const [key, queue] of this.queues) if (queue.isIdle) this.queues.delete(key)
  }
}

/** Discord counts each bucket separately for every channel, guild and webhook. */
const MAJOR = /^\/api\/(?:v\d+\/)?(?:channels|guilds|webhooks)\/\d+(?:\/[\w-]{60,})?/
/** A path segment that is an identifier: a number, a UUID, a hash. */
const ID = /^(?:\d+|[0-9a-f-]{16,})$/i

function majorOf(path: string): string {
  return MAJOR.exec(path)?.[0] ?? ''
}

function routeOf({ url: { pathname }, origin, method }: Target): string {
  const major = majorOf(pathname)
  const rest = pathname.slice(major.length).split('/')
  return `${method} ${origin}${major}${rest.map(part => (ID.test(part) ? ':id' : part)).join('/')}`
}
