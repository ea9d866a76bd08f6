import { brand } from '../../brand.ts'
import type { Duration } from '../../duration.ts'
import { expected } from '../../errors.ts'
import { createLimiter } from '../../limiter/create.ts'
import type { Limiter } from '../../limiter/limiter.ts'
import type { LimitOptions } from '../../limiter/limits.ts'
import { fixedWindow } from '../../policy.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import { type RedisClient, redisStore } from '../../stores/redis/index.ts'
import type { Mode, Store } from '../../stores/store.ts'
import { checkPeerOptions, sluiceStore } from '../window-limiter.ts'
import { type RateLimiterRes, resultOf } from './result.ts'

/** The options of rate-limiter-flexible 11 that have a meaning here. */
export interface RateLimiterOptions {
  points: number
  /** Seconds. */
  duration: number
  /** Seconds. */
  blockDuration?: number
  keyPrefix?: string
}

const KNOWN = ['points', 'duration', 'blockDuration', 'keyPrefix']
const DENY_CACHE = 'leave it out: redisStore() remembers refusals in the process'
const OUTAGE = 'use deadline and connectWait of redisStore(), passed as store'
const INSTEAD = {
  insuranceLimiter: 'leave it out: while its store is down, Sluice limits in the process itself',
  execEvenly: 'use wait() of a leakyBucket limiter',
  execEvenlyMinDelayMs: 'use wait() of a leakyBucket limiter',
  inMemoryBlockOnConsumed: DENY_CACHE,
  inMemoryBlockDuration: DENY_CACHE,
  blockOnConsumed: 'use blockDuration: the first refusal blocks',
  customIncrTtlLuaScript: 'use a policy of Sluice',
  customDuration: 'use a limiter for each duration, or a policy as a function',
  rejectIfRedisNotReady: OUTAGE,
  rejectIfValkeyNotReady: OUTAGE,
  timeoutMs: OUTAGE,
}

/** Limiters of one name and prefix count together, as they do in rate-limiter-flexible. */
export const NAME = 'rate-limiter-flexible'

export abstract class WindowRateLimiter {
  readonly points: number
  readonly duration: number
  readonly keyPrefix: string
  readonly store: Store
  /** As a limit of Sluice, for a decision with others. */
  readonly limit: LimitOptions<string, Mode>
  /** The Sluice limiter that decides. */
  readonly limiter: Limiter<string, Mode>

  constructor(given: RateLimiterOptions, store: Store) {
    const { points, duration, blockDuration = 0, keyPrefix = 'rlflx' } = checked('the rate limiter', given, KNOWN)
    if (typeof keyPrefix !== 'string') throw expected('SLUICE_BAD_OPTION', 'keyPrefix as a string', keyPrefix)
    const policy = fixedWindow({ limit: points, window: seconds(duration), align: 'first' })
    const block = blockDuration > 0 ? { blockFor: seconds(blockDuration) } : {}
    this.points = points
    this.duration = duration
    this.keyPrefix = keyPrefix
    this.store = store
    this.limit = { policy, key: key => key, store, ...block }
    this.limiter = createLimiter<string, Mode>({ name: NAME, store, limits: { [keyPrefix]: this.limit } })
    // Frozen, because points that change later would be ignored.
    Object.freeze(this)
  }

  async consume(key: string | number, points = 1, options: object = {}): Promise<RateLimiterRes> {
    checked('consume()', options)
    const decision = await this.limiter.consume(String(key), { cost: points })
    const result = resultOf(decision, points)
    if (decision.allowed) return result
    throw result
  }

  /** Null for a key without a count. */
  async get(key: string | number): Promise<RateLimiterRes | null> {
    const decision = await this.limiter.peek(String(key), { cost: 0 })
    const result = resultOf(decision, 0)
    return result.consumedPoints === 0 && decision.allowed ? null : result
  }

  /** Charged without refusal, at most one limit over. */
  async penalty(key: string | number, points = 1, options: object = {}): Promise<RateLimiterRes> {
    checked('penalty()', options)
    await this.limiter.penalize(String(key), { cost: points })
    return this.now(key)
  }

  async reward(key: string | number, points = 1, options: object = {}): Promise<RateLimiterRes> {
    checked('reward()', options)
    await this.limiter.refund(String(key), { cost: points })
    return this.now(key)
  }

  /** `duration` is in seconds; 0 means for ever. */
  async block(key: string | number, duration: number): Promise<RateLimiterRes> {
    await this.limiter.block(String(key), { for: duration === 0 ? 'forever' : seconds(duration) })
    return this.now(key)
  }

  /**
   * Sets the consumed points in a window that begins now. With another `duration` than the limiter's, the points must
   * use up the limit, and the key is blocked for that duration.
   */
  async set(key: string | number, points: number, duration = this.duration): Promise<RateLimiterRes> {
    if (!Number.isSafeInteger(points) || points < 0) throw expected('SLUICE_BAD_COST', 'points of 0 or more', points)
    const isOwn = duration === this.duration || duration < 0
    if (!isOwn && points < this.points) {
      const what = `set() of fewer than all points for the duration of the limiter, ${this.duration} s`
      throw expected('SLUICE_NOT_SUPPORTED', what, duration)
    }
    await this.delete(key)
    if (!isOwn) return this.block(key, duration)
    await this.limiter.set(String(key), { remaining: Math.max(this.points - points, 0) })
    return this.now(key)
  }

  async delete(key: string | number): Promise<boolean> {
    const known = (await this.get(key)) !== null
    await this.limiter.reset(String(key))
    return known
  }

  private async now(key: string | number): Promise<RateLimiterRes> {
    return resultOf(await this.limiter.peek(String(key), { cost: 0 }), 0)
  }
}
brand('WindowRateLimiter', WindowRateLimiter)

function checked<T extends object>(call: string, options: T, known: readonly string[] = []): T {
  return checkPeerOptions(call, options, known, INSTEAD)
}

function seconds(count: number): Duration {
  return `${Math.ceil(count * 1000)}ms`
}

/** `import { RateLimiterMemory } from 'sluice/compat/rate-limiter-flexible'`. */
export class RateLimiterMemory extends WindowRateLimiter {
  constructor(options: RateLimiterOptions) {
    super(options, memoryStore())
  }
}

export interface RateLimiterRedisOptions extends RateLimiterOptions {
  storeClient?: RedisClient
  /** Replaces `storeClient`, for a `redisStore(client)` with options of its own. */
  store?: Store
  /** Accepted and ignored: Sluice detects the kind of client. */
  useRedisPackage?: boolean
}

export class RateLimiterRedis extends WindowRateLimiter {
  constructor({ storeClient, store, useRedisPackage: _, ...options }: RateLimiterRedisOptions) {
    super(options, sluiceStore('RateLimiterRedis', store) ?? redisStore(storeClient!))
  }
}

export class RateLimiterValkey extends RateLimiterRedis {}
