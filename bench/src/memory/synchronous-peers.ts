import { createRequire } from 'node:module'
import { TokenBucket } from 'limiter'
import type { Contestant } from '../entrant.ts'
import { after, type Keys } from '../keys.ts'
import { HOUR_SECONDS } from './asynchronous-peers.ts'

interface FastifyLocalStore {
  incr(
    key: string,
    callback: (error: unknown, result: { current: number }) => void,
    windowMs: number,
    max: number,
  ): void
}

/** The peer does not export its in-process store, so its file is imported. */
const LocalStore = createRequire(import.meta.url)('@fastify/rate-limit/store/LocalStore.js') as new (
  continueExceeding: boolean,
  exponentialBackoff: boolean,
  cache: number,
) => FastifyLocalStore

/** Its cache holds all keys. With its default of 5,000 it would forget half of them and do other work. */
export function fastifyRateLimit(limit: number, keys: Keys): Contestant {
  const store = new LocalStore(false, false, keys.size)
  let at = 0
  let admitted = 0
  const count1 = (_error: unknown, result: { current: number }) => {
    if (result.current <= limit) admitted++
  }
  return {
    name: '@fastify/rate-limit',
    ways: {
      'its callback': count => {
        const before = admitted
        for (let i = 0; i < count; i++) {
          store.incr(`user:${keys.order[at]}`, count1, HOUR_SECONDS * 1000, limit)
          at = after(keys, at)
        }
        return admitted - before
      },
    },
  }
}

/**
 * The peer limits one key, so its users keep a Map of limiters. Its token bucket is its fastest part and synchronous.
 */
export function limiter(limit: number, refillPerHour: number, keys: Keys): Contestant {
  const buckets = new Map<string, TokenBucket>()
  let at = 0
  const bucketOf = (key: string) => {
    let bucket = buckets.get(key)
    if (bucket === undefined) {
      bucket = new TokenBucket({ bucketSize: limit, tokensPerInterval: refillPerHour, interval: 'hour' })
      bucket.content = limit
      buckets.set(key, bucket)
    }
    return bucket
  }
  return {
    name: 'limiter',
    ways: {
      tryRemoveTokens: count => {
        let admitted = 0
        for (let i = 0; i < count; i++) {
          if (bucketOf(`user:${keys.order[at]}`).tryRemoveTokens(1)) admitted++
          at = after(keys, at)
        }
        return admitted
      },
    },
  }
}
