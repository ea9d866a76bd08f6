import { MemoryStore, type Options } from 'express-rate-limit'
import { RateLimiterMemory, RateLimiterUnion } from 'rate-limiter-flexible'
import type { Contestant, Run } from '../entrant.ts'
import { after, type Keys } from '../keys.ts'

/**
 * Peers that answer with a promise. A server awaits each decision before it goes on, but has many requests in the air.
 * Each peer is called in three ways (one await after the other; Promise.all over batches of 100; a callback for each,
 * with an await every 100) and is measured by whichever the warm-up found fastest; the table says which. Each peer has
 * its loops to itself: shared ones would see two kinds of promise and two kinds of result, and slow both down.
 */
const BATCH = 100

export const HOUR_SECONDS = 3600

/** The window is longer than any run, so that no key expires and no timer fires during a run. */
export function rateLimiterFlexible(limit: number, keys: Keys): Contestant {
  // An empty prefix saves it a string per call.
  const limiter = new RateLimiterMemory({ points: limit, duration: HOUR_SECONDS, keyPrefix: '' })
  return { name: 'rate-limiter-flexible', ways: rejecting(key => limiter.consume(key), limit, keys) }
}

/** The peer's union tells its limits apart by prefix, so each has one. */
export function rateLimiterFlexibleUnion(limit: number, keys: Keys): Contestant {
  const limiters = ['a', 'b', 'c'].map(
    keyPrefix => new RateLimiterMemory({ points: limit, duration: HOUR_SECONDS, keyPrefix }),
  )
  const union = new RateLimiterUnion(...limiters)
  return { name: 'rate-limiter-flexible', ways: rejecting(key => union.consume(key), limit, keys) }
}

/** The peer's store only counts. Its middleware compares the count with the limit, so this does the same. */
export function expressRateLimit(limit: number, keys: Keys): Contestant {
  const store = new MemoryStore()
  store.init({ windowMs: HOUR_SECONDS * 1000 } as Options)
  let at = 0
  const next = () => {
    const key = `user:${keys.order[at]}`
    at = after(keys, at)
    return store.increment(key)
  }
  return {
    name: 'express-rate-limit',
    ways: {
      'sequential awaits': async count => {
        let admitted = 0
        for (let i = 0; i < count; i++) if ((await next()).totalHits <= limit) admitted++
        return admitted
      },
      'batches of 100': async count => {
        let admitted = 0
        for (let left = count; left > 0; left -= BATCH) {
          const clients = await Promise.all(batchOf(next, left))
          for (const client of clients) if (client.totalHits <= limit) admitted++
        }
        return admitted
      },
      'a callback each': async count => {
        let admitted = 0
        const read = (client: { totalHits: number }) => {
          if (client.totalHits <= limit) admitted++
        }
        for (let i = 1; i < count; i++) {
          const pending = next().then(read)
          if (i % BATCH === 0) await pending
        }
        await next().then(read)
        return admitted
      },
    },
  }
}

/** The ways to call a peer whose promises reject: with an Error for a fault, with any other value for a refusal. */
function rejecting(consume: (key: string) => Promise<unknown>, limit: number, keys: Keys): Record<string, Run> {
  let at = 0
  const next = () => {
    const key = `user:${keys.order[at]}`
    at = after(keys, at)
    return consume(key)
  }
  const refuse = (reason: unknown) => {
    if (reason instanceof Error) throw reason
  }
  const callbackEach: Run = async count => {
    let admitted = 0
    const admit = () => {
      admitted++
    }
    for (let i = 1; i < count; i++) {
      const pending = next().then(admit, refuse)
      if (i % BATCH === 0) await pending
    }
    await next().then(admit, refuse)
    return admitted
  }
  const sequential: Run = async count => {
    let admitted = 0
    for (let i = 0; i < count; i++) {
      try {
        await next()
        admitted++
      } catch (reason) {
        refuse(reason)
      }
    }
    return admitted
  }
  const batches: Run = async count => {
    let admitted = 0
    for (let left = count; left > 0; left -= BATCH) admitted += (await Promise.all(batchOf(next, left))).length
    return admitted
  }
  const ways = { 'sequential awaits': sequential, 'a callback each': callbackEach }
  // Promise.all rejects at the first refusal, so with refusals it cannot count the admitted ones.
  return limit > 1 ? { ...ways, 'batches of 100': batches } : ways
}

function batchOf<T>(next: () => Promise<T>, left: number): Promise<T>[] {
  const batch: Promise<T>[] = []
  for (let i = Math.min(BATCH, left); i > 0; i--) batch.push(next())
  return batch
}
