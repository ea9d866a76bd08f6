import { RateLimiterMemory, type RateLimiterRes, RateLimiterUnion } from 'rate-limiter-flexible'
import type { Contestant } from '../entrant.ts'
import { after, type Keys } from '../keys.ts'
import { HOUR_SECONDS } from './asynchronous-peers.ts'

/** The use of a decision: its cost, and whether its numbers are read. */
interface Use {
  readonly cost?: number
  readonly read?: boolean
}

/** The peer as its manual calls it: `await` each decision, as a request's handler does. */
export function awaited(points: number, keys: Keys, { cost = 1, read = false }: Use = {}): Contestant {
  // An empty prefix saves it a string per call.
  const limiter = new RateLimiterMemory({ points, duration: HOUR_SECONDS, keyPrefix: '' })
  if (read) return eachAwaited(keys, async key => isRead(await limiter.consume(`user:${key}`)))
  return eachAwaited(keys, key => limiter.consume(`user:${key}`, cost))
}

/** The peer's shortest window, so that keys expire during the run. */
export function awaitedNewKeys(): Contestant {
  const limiter = new RateLimiterMemory({ points: 100, duration: 1, keyPrefix: '' })
  let visits = 0
  return named(async count => {
    for (let i = 0; i < count; i++) await limiter.consume(`user:${visits++}`)
    return count
  })
}

/** The peer's union takes one key for its three limits and tells them apart by prefix. */
export function awaitedUnion(points: number, keys: Keys, { read = false }: Use = {}): Contestant {
  const limiters = ['a', 'b', 'c'].map(
    keyPrefix => new RateLimiterMemory({ points, duration: HOUR_SECONDS, keyPrefix }),
  )
  const union = new RateLimiterUnion(...limiters)
  if (!read) return eachAwaited(keys, key => union.consume(`user:${key}`))
  return eachAwaited(keys, async key => {
    const { a, b, c } = (await union.consume(`user:${key}`)) as unknown as Record<'a' | 'b' | 'c', RateLimiterRes>
    return isRead(a) && isRead(b) && isRead(c)
  })
}

/** The peer rejects the promise of a refusal. Nothing is refused here, so a rejection ends the run. */
function eachAwaited(keys: Keys, consume: (key: number) => Promise<unknown>): Contestant {
  let at = 0
  return named(async count => {
    for (let i = 0; i < count; i++) {
      await consume(keys.order[at]!)
      at = after(keys, at)
    }
    return count
  })
}

function named(run: (count: number) => Promise<number>): Contestant {
  return { name: 'rate-limiter-flexible, each awaited', ways: { 'sequential awaits': run } }
}

function isRead({ remainingPoints, msBeforeNext }: RateLimiterRes): boolean {
  return remainingPoints + msBeforeNext >= 0
}
