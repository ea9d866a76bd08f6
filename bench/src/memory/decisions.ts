import { concurrency, fixedWindow, slidingLog, slidingWindow, tokenBucket } from 'sluice'
import type { Field } from '../harness.ts'
import type { Keys } from '../keys.ts'
import {
  awaitedRateLimiterFlexible,
  expressRateLimit,
  rateLimiterFlexible,
  rateLimiterFlexibleUnion,
} from './asynchronous-peers.ts'
import { bareMap, clockAndKey } from './references.ts'
import { generousBucket, sluice, sluiceOfThree, sluiceWithRelease } from './sluice.ts'
import { fastifyRateLimit, limiter } from './synchronous-peers.ts'

/** As with `generousBucket`: everything is admitted, whoever is asked. */
const PLENTY = 1_000_000
const FEW_KEYS = 10_000
const MANY_KEYS = 1_000_000

/** Who is measured side by side over so many keys. */
export interface Decisions {
  readonly keys: number
  readonly fieldOf: (keys: Keys) => Omit<Field, 'fill'>
}

/** By the name of their case. */
export const decisions: Readonly<Record<string, Decisions>> = {
  'token bucket, 10k keys': { keys: FEW_KEYS, fieldOf: everyone },
  'token bucket, 1M keys': { keys: MANY_KEYS, fieldOf: everyone },
  'three limits in one decision, 10k keys': {
    keys: FEW_KEYS,
    fieldOf: keys => ({
      sluice: () => sluiceOfThree(generousBucket, keys),
      peers: [rateLimiterFlexibleUnion(PLENTY, keys)],
    }),
  },
  // Fixed windows are what the counting peers do; `limiter` has buckets only.
  'fixed window, 10k keys': {
    keys: FEW_KEYS,
    fieldOf: keys => ({
      sluice: () => sluice(fixedWindow({ limit: PLENTY, window: '1h' }), keys),
      peers: [rateLimiterFlexible(PLENTY, keys), expressRateLimit(PLENTY, keys), fastifyRateLimit(PLENTY, keys)],
      references: [bareMap(PLENTY, keys)],
    }),
  },
  // From here on no peer has the algorithm: only the floor is beside it.
  'sliding window, 10k keys': {
    keys: FEW_KEYS,
    fieldOf: keys => ({
      sluice: () => sluice(slidingWindow({ limit: PLENTY, window: '1h' }), keys),
      references: [bareMap(PLENTY, keys)],
    }),
  },
  // The window is short enough for the entries to leave about as fast as they come: full rings that keep turning.
  'sliding log of 100, 10k keys': {
    keys: FEW_KEYS,
    fieldOf: keys => ({
      sluice: () => sluice(slidingLog({ limit: 100, window: '100ms' }), keys),
      references: [bareMap(PLENTY, keys)],
    }),
  },
  'concurrency, consume and release, 10k keys': {
    keys: FEW_KEYS,
    fieldOf: keys => ({
      sluice: () => sluiceWithRelease(concurrency({ limit: 10, ttl: '1m' }), keys),
      references: [bareMap(PLENTY, keys)],
    }),
  },
  // The fill takes the only token of the hour, so all that is timed is refused.
  'refusals, 10k keys': {
    keys: FEW_KEYS,
    fieldOf: keys => ({
      sluice: () => sluice(tokenBucket({ capacity: 1, refill: '1/h' }), keys),
      peers: [rateLimiterFlexible(1, keys), expressRateLimit(1, keys), fastifyRateLimit(1, keys), limiter(1, 1, keys)],
      references: [bareMap(1, keys)],
    }),
  },
}

function everyone(keys: Keys): Omit<Field, 'fill'> {
  return {
    sluice: () => sluice(generousBucket, keys),
    peers: [
      rateLimiterFlexible(PLENTY, keys),
      awaitedRateLimiterFlexible(PLENTY, keys),
      expressRateLimit(PLENTY, keys),
      fastifyRateLimit(PLENTY, keys),
      limiter(PLENTY, 10, keys),
    ],
    references: [bareMap(PLENTY, keys), clockAndKey(keys)],
  }
}
