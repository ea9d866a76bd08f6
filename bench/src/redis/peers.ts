import type { ClientRateLimitInfo, Options } from 'express-rate-limit'
import type { Cluster, Redis } from 'ioredis'
import { RedisStore } from 'rate-limit-redis'
import { type IRateLimiterRedisOptions, RateLimiterRedis, RateLimiterUnion } from 'rate-limiter-flexible'
import type { Contestant } from '../entrant.ts'
import { asking, type Load } from './load.ts'
import type { NodeRedis } from './site.ts'

const HOUR_SECONDS = 3600

/** Its defaults but for the prefix, so that nobody shares keys. node-redis it must be told of. */
export function flexibleOptions(client: Redis | Cluster | NodeRedis, points: number): IRateLimiterRedisOptions {
  const useRedisPackage = 'sendCommand' in client && !('defineCommand' in client)
  return { storeClient: client, useRedisPackage, points, duration: HOUR_SECONDS }
}

let made = 0

const flexible = (client: Redis | Cluster | NodeRedis, points: number) =>
  new RateLimiterRedis({ ...flexibleOptions(client, points), keyPrefix: `r${made++}` })

export interface PeerEntry {
  readonly name: string
  readonly client: Redis | Cluster | NodeRedis
  readonly load: Load
  /** The limit. */
  readonly points: number
}

export function rateLimiterFlexible({ name, client, load, points }: PeerEntry): Contestant {
  const limiter = flexible(client, points)
  return contestant(name, load, key => limiter.consume(key))
}

/** It has no slots; what its users do is to give the point back. That is not waited for, as with Sluice. */
export function rateLimiterFlexibleWithReward({ name, client, load, points }: PeerEntry): Contestant {
  const limiter = flexible(client, points)
  return contestant(name, load, key => limiter.consume(key).then(() => void limiter.reward(key)))
}

export function rateLimiterFlexibleUnion({ name, client, load, points }: PeerEntry): Contestant {
  const union = new RateLimiterUnion(flexible(client, points), flexible(client, points), flexible(client, points))
  return contestant(name, load, key => union.consume(key))
}

/** Its store counts; the comparison with the limit is the middleware's, and is made here. */
export async function rateLimitRedis(client: Redis | NodeRedis, load: Load, limit: number): Promise<Contestant> {
  const send = 'call' in client ? client.call.bind(client) : (...args: string[]) => client.sendCommand(args)
  const store = new RedisStore({
    sendCommand: (...args) => (send as (...args: string[]) => Promise<number>)(...args),
  })
  await store.init({ windowMs: HOUR_SECONDS * 1000 } as Options)
  const isAdmitted = ({ totalHits }: ClientRateLimitInfo) => totalHits <= limit
  return {
    name: 'rate-limit-redis',
    ways: { 'an await each': asking(load, key => store.increment(key), isAdmitted) },
  }
}

/** The floor of one command a decision: no limit, no window, no expiry. */
export function bareIncr(client: Redis | NodeRedis, load: Load): Contestant {
  return contestant('bare INCR', load, key => client.incr(key))
}

/** What rejects when it refuses. */
function contestant(name: string, load: Load, ask: (key: string) => Promise<unknown>): Contestant {
  return { name, ways: { 'an await each': asking(load, ask, () => true) } }
}
