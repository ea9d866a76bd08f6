import type { ClientRateLimitInfo, Options } from 'express-rate-limit'
import type { Cluster, Redis } from 'ioredis'
import { RedisStore } from 'rate-limit-redis'
import { type IRateLimiterRedisOptions, RateLimiterRedis, RateLimiterUnion } from 'rate-limiter-flexible'
import type { Contestant } from '../entrant.ts'
import type { Enter } from './contest.ts'
import { asking, type Load } from './load.ts'
import { type Client, ioredis, type NodeRedis, type Site } from './site.ts'

const HOUR_SECONDS = 3600

/** The library's defaults. It must be told if the client is node-redis. Contestants add a prefix, to share no keys. */
export function flexibleOptions(client: Redis | Cluster | NodeRedis, points: number): IRateLimiterRedisOptions {
  const useRedisPackage = 'sendCommand' in client && !('defineCommand' in client)
  return { storeClient: client, useRedisPackage, points, duration: HOUR_SECONDS }
}

function flexible({ number }: Site, client: Redis | Cluster | NodeRedis, points: number, letter = 'r') {
  return new RateLimiterRedis({ ...flexibleOptions(client, points), keyPrefix: `${letter}${number}` })
}

export interface Setting {
  /** Added to its name in the table. */
  readonly how?: string
  readonly client?: Client<Redis | Cluster | NodeRedis>
  /** The limit. */
  readonly points: number
}

const FLEXIBLE = 'rate-limiter-flexible'

export function rateLimiterFlexible({ how = '', client = ioredis, points }: Setting): Enter {
  return async (site, load) => {
    const limiter = flexible(site, await client(site), points)
    return contestant(`${FLEXIBLE}${how}`, load, key => limiter.consume(key))
  }
}

/** The library has no slots, so its users give the point back. As with Sluice, this does not wait for the answer. */
export function rateLimiterFlexibleWithReward({ points }: Setting): Enter {
  return async (site, load) => {
    const limiter = flexible(site, ioredis(site), points)
    return contestant(FLEXIBLE, load, key => limiter.consume(key).then(() => void limiter.reward(key)))
  }
}

export function rateLimiterFlexibleUnion({ points }: Setting): Enter {
  return async (site, load) => {
    const client = ioredis(site)
    const union = new RateLimiterUnion(
      flexible(site, client, points, 'a'),
      flexible(site, client, points, 'b'),
      flexible(site, client, points, 'c'),
    )
    return contestant(`${FLEXIBLE} union`, load, key => union.consume(key))
  }
}

/** The library's store only counts. Its middleware compares the count with the limit, so this does the same. */
export function rateLimitRedis(limit: number, client: Client<Redis | NodeRedis> = ioredis): Enter {
  return async (site, load) => {
    const made = await client(site)
    const send = 'call' in made ? made.call.bind(made) : (...args: string[]) => made.sendCommand(args)
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
}

/** The floor of one command a decision: no limit, no window, no expiry. */
export function bareIncr(client: Client<Redis | NodeRedis> = ioredis): Enter {
  return async (site, load) => {
    const made = await client(site)
    return contestant('bare INCR', load, key => made.incr(key))
  }
}

/** A contestant whose promise rejects if the limit refuses. */
function contestant(name: string, load: Load, ask: (key: string) => Promise<unknown>): Contestant {
  return { name, ways: { 'an await each': asking(load, ask, () => true) } }
}
