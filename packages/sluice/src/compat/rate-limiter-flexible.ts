import type { Decision } from '../decision.ts'
import type { Limiter } from '../limiter/limiter.ts'
import { type RedisClient, redisStore } from '../stores/redis/index.ts'
import type { Mode, Store } from '../stores/store.ts'
import { checkPeerOptions, sluiceStore, type WindowSubject, windowLimiter } from './window-limiter.ts'

/** The options of rate-limiter-flexible 11 that mean something here. */
export interface RateLimiterOptions {
  points?: number
  /** Seconds. */
  duration?: number
  /** Seconds. */
  blockDuration?: number
  keyPrefix?: string
}

const KNOWN = ['points', 'duration', 'blockDuration', 'keyPrefix']
const INSTEAD = {
  insuranceLimiter: 'leave it out: while its store is down, Sluice limits in the process itself',
  execEvenly: 'use wait() of a leakyBucket limiter',
  execEvenlyMinDelayMs: 'use wait() of a leakyBucket limiter',
  inMemoryBlockOnConsumed: 'leave it out: redisStore() remembers refusals in the process',
  inMemoryBlockDuration: 'leave it out: redisStore() remembers refusals in the process',
  customIncrTtlLuaScript: 'use a policy of Sluice',
  customDuration: 'use duration, or a policy as a function',
  rejectIfRedisNotReady: 'use onOutage of createLimiter()',
}

/** What `consume` resolves to, and what it rejects with when there are too few points. */
export class RateLimiterRes {
  readonly remainingPoints: number
  readonly msBeforeNext: number
  /** Points of refused calls are not consumed. */
  readonly consumedPoints: number
  readonly isFirstInDuration: boolean

  constructor(remainingPoints = 0, msBeforeNext = 0, consumedPoints = 0, isFirstInDuration = false) {
    this.remainingPoints = remainingPoints
    this.msBeforeNext = msBeforeNext
    this.consumedPoints = consumedPoints
    this.isFirstInDuration = isFirstInDuration
  }
}

class WindowRateLimiter {
  readonly points: number
  readonly duration: number
  readonly keyPrefix: string
  private readonly limiter: Limiter<WindowSubject, Mode>

  constructor(given: RateLimiterOptions, store: Store | undefined) {
    const options = checkPeerOptions('the rate limiter', given, KNOWN, INSTEAD)
    const { points = 4, duration = 1, blockDuration = 0, keyPrefix = 'rlflx' } = options
    this.points = points
    this.duration = duration
    this.keyPrefix = keyPrefix
    const block = blockDuration > 0 ? { blockFor: seconds(blockDuration) } : {}
    this.limiter = windowLimiter(keyPrefix, { store, ...block })
  }

  async consume(key: string | number, points = 1): Promise<RateLimiterRes> {
    const decision = await this.limiter.consume(this.subject(key), { cost: points })
    const result = this.resultOf(decision, points)
    if (decision.allowed) return result
    throw result
  }

  /** Null for a key of which nothing is counted. */
  async get(key: string | number): Promise<RateLimiterRes | null> {
    const decision = await this.limiter.peek(this.subject(key), { cost: 0 })
    const result = this.resultOf(decision, 0)
    return result.consumedPoints === 0 && decision.allowed ? null : result
  }

  /** Charged without refusal, at most one limit over. */
  async penalty(key: string | number, points = 1): Promise<RateLimiterRes> {
    const subject = this.subject(key)
    const reservation = await this.limiter.reserve(subject, { cost: 0, ttl: '1m' })
    await reservation.settle(points)
    return this.now(key)
  }

  async reward(key: string | number, points = 1): Promise<RateLimiterRes> {
    await this.limiter.refund(this.subject(key), { cost: points })
    return this.now(key)
  }

  async block(key: string | number, duration: number): Promise<RateLimiterRes> {
    await this.limiter.block(this.subject(key), { for: seconds(duration) })
    return this.now(key)
  }

  async delete(key: string | number): Promise<boolean> {
    const known = (await this.get(key)) !== null
    await this.limiter.reset(this.subject(key))
    return known
  }

  private async now(key: string | number): Promise<RateLimiterRes> {
    return this.resultOf(await this.limiter.peek(this.subject(key), { cost: 0 }), 0)
  }

  private subject(key: string | number): WindowSubject {
    return { key: String(key), limit: this.points, windowMs: this.duration * 1000 }
  }

  private resultOf(
    { allowed, limit, remaining, resetAfterMs, retryAfterMs }: Decision,
    points: number,
  ): RateLimiterRes {
    const consumed = limit - remaining
    const ms = Math.ceil(allowed ? resetAfterMs : retryAfterMs)
    return new RateLimiterRes(remaining, ms, consumed, allowed && points > 0 && consumed === points)
  }
}

function seconds(count: number): `${number}ms` {
  return `${Math.ceil(count * 1000)}ms`
}

/** `import { RateLimiterMemory } from 'sluice/compat/rate-limiter-flexible'`. */
export class RateLimiterMemory extends WindowRateLimiter {
  constructor(options: RateLimiterOptions) {
    super(options, undefined)
  }
}

export interface RateLimiterRedisOptions extends RateLimiterOptions {
  storeClient?: RedisClient
  /** In place of `storeClient`, where `redisStore(client)` is to have options of its own. */
  store?: Store
  /** Taken and not used: Sluice sees which client it is. */
  useRedisPackage?: boolean
}

export class RateLimiterRedis extends WindowRateLimiter {
  constructor({ storeClient, store, useRedisPackage: _, ...options }: RateLimiterRedisOptions) {
    super(options, sluiceStore('RateLimiterRedis', store) ?? redisStore(storeClient!))
  }
}
