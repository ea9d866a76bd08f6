import type { Rate } from '../duration.ts'
import { type GcraPolicy, type LeakyBucketPolicy, limitOfPolicy, type TokenBucketPolicy } from '../policy.ts'
import { fractionBelow, gcd } from './exact.ts'
import type { Verdict } from './verdict.ts'

/**
 * The bucket kernel, shared by token bucket, leaky bucket and GCRA: they are one algorithm in three vocabularies.
 *
 * Think of a bucket with a hole. Each request pours in its cost; the hole drains at the rate; what would spill is
 * refused. The literature counts the free room (tokens), the water (leaky bucket) or the time until the bucket is dry
 * (GCRA's theoretical arrival time). Here it is `level`, the water.
 *
 * The level is kept in whole units, so that no rate is ever rounded: at C requests per P ticks (in lowest terms) one
 * request weighs P units and each tick drains C.
 */
export interface BucketRule {
  readonly kind: 'bucket'
  readonly policy: TokenBucketPolicy | LeakyBucketPolicy | GcraPolicy
  readonly limit: number
  /** P: the units of one request of cost 1. */
  readonly perRequest: number
  /** C: the units one tick drains. */
  readonly perTick: number
  /** limit × perRequest. */
  readonly full: number
  /** A leaky bucket is a queue: `wait` starts its requests one by one instead of as soon as they fit. */
  readonly queue: boolean
  readonly shape: string
}

/** Levels are exact up to here, with space above for bookings and overdrafts. */
const MAX_LEVEL = 2 ** 50

export function bucketRule(policy: BucketRule['policy']): BucketRule {
  const limit = limitOfPolicy(policy)
  const { perRequest, perTick } = unitsOf(rateOf(policy), limit)
  return {
    kind: 'bucket',
    policy,
    limit,
    perRequest,
    perTick,
    full: limit * perRequest,
    queue: policy.kind === 'leakyBucket',
    shape: `bucket ${perTick}/${perRequest}`,
  }
}

function rateOf(policy: BucketRule['policy']): Rate {
  if (policy.kind === 'tokenBucket') return policy.refill
  return policy.kind === 'leakyBucket' ? policy.leak : policy.rate
}

function unitsOf(rate: Rate, limit: number): { perRequest: number; perTick: number } {
  const period = Math.round(rate.periodMs * 1000)
  const common = gcd(rate.count, period)
  const perRequest = period / common
  const perTick = rate.count / common
  if (limit * perRequest <= MAX_LEVEL) return { perRequest, perTick }
  // The exact form of this rate would leave the doubles: take the nearest slower rate that stays exact.
  const near = fractionBelow(perTick, perRequest, MAX_LEVEL / limit)
  return { perRequest: near.period, perTick: near.count }
}

/** What is left now of `level`, which was counted at tick `at`. A clock gone backwards drains nothing. */
export function drained(level: number, at: number, rule: BucketRule, now: number): number {
  return now <= at ? level : Math.max(0, level - (now - at) * rule.perTick)
}

/** Division, rounded up. Most rates drain one unit a tick, and a division is the slowest operation in this file. */
function ticksToDrain(units: number, rule: BucketRule): number {
  return rule.perTick === 1 ? units : Math.ceil(units / rule.perTick)
}

/** Whether `cost` fits on top of `level`, the level now; if not, when it will. */
export function decide(level: number, rule: BucketRule, now: number, cost: number, out: Verdict): void {
  if (cost > rule.limit) {
    out.allowed = false
    out.retryAt = Infinity
    return
  }
  const excess = over(level, rule, cost)
  out.allowed = excess <= 0
  out.retryAt = excess <= 0 ? 0 : now + ticksToDrain(excess, rule)
}

/** By how many units `cost` on top of `level` would spill; 0 or less if it fits. */
function over(level: number, rule: BucketRule, cost: number): number {
  return level + cost * rule.perRequest - rule.full
}

/** Writes what a caller sees of `level`: how full the bucket is, and when it is dry. */
export function describe(level: number, rule: BucketRule, now: number, out: Verdict): void {
  out.used = level
  out.resetAt = dryAt(level, rule, now)
}

/** The tick at which `level`, the level now, has drained. */
export function dryAt(level: number, rule: BucketRule, now: number): number {
  return now + ticksToDrain(level, rule)
}

export function add(level: number, rule: BucketRule, cost: number): number {
  return level + cost * rule.perRequest
}

/**
 * The level after taking back a charge made at `chargedAt`. Only what has not drained since is given back: the drain
 * has already returned the rest.
 */
export function refunded(level: number, rule: BucketRule, now: number, cost: number, chargedAt: number): number {
  const back = cost * rule.perRequest - Math.max(0, now - chargedAt) * rule.perTick
  return back <= 0 ? level : Math.max(0, level - back)
}

/** The level after an operator's credit: never better than empty. */
export function credited(level: number, rule: BucketRule, cost: number): number {
  return Math.max(0, level - cost * rule.perRequest)
}

/** The same number of requests under another rate, rounded up, for a key whose policy changes. */
export function converted(level: number, from: BucketRule, to: BucketRule): number {
  return Math.ceil((level / from.perRequest) * to.perRequest)
}

/**
 * The tick at which a queued request starts, given the level before it. A leaky bucket starts it when the requests
 * before it have drained, the other kinds as soon as it fits.
 */
export function startAt(level: number, rule: BucketRule, now: number, cost: number): number {
  const ahead = rule.queue ? level : level + cost * rule.perRequest - rule.full
  return ahead <= 0 ? now : now + ticksToDrain(ahead, rule)
}
