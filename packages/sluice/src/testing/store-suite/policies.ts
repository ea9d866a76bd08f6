import type { Rate } from '../../duration.ts'
import type { Policy } from '../../policy.ts'
import { limitOf } from '../oracle/oracle.ts'
import { type Rng, randomPolicy } from '../trace.ts'

/** The same limit as a policy of each kind, with its variants. */
export function ofEveryKind(limit: number, windowMs: number): Policy[] {
  return [...ofEveryRateKind(limit, windowMs), { kind: 'concurrency', limit, ttlMs: windowMs }]
}

/** All kinds except concurrency, which counts requests under way instead of requests that have passed. */
export function ofEveryRateKind(limit: number, windowMs: number): Policy[] {
  return [...bucketsOf(limit, { count: Math.max(1, limit), periodMs: windowMs }), ...windowsOf(limit, windowMs)]
}

export function bucketsOf(limit: number, rate: Rate): Policy[] {
  return [
    { kind: 'tokenBucket', capacity: limit, refill: rate },
    { kind: 'leakyBucket', capacity: limit, leak: rate },
    { kind: 'gcra', burst: limit, rate },
  ]
}

export function windowsOf(limit: number, windowMs: number): Policy[] {
  const ticks = Math.round(windowMs * 1000)
  return [
    { kind: 'fixedWindow', limit, windowMs, align: 'epoch' },
    { kind: 'fixedWindow', limit, windowMs, align: 'key' },
    { kind: 'fixedWindow', limit, windowMs, align: 'first' },
    { kind: 'slidingWindow', limit, windowMs, buckets: 1 },
    { kind: 'slidingWindow', limit, windowMs, buckets: ticks % 4 === 0 ? 4 : ticks % 7 === 0 ? 7 : 1 },
    { kind: 'slidingLog', limit, windowMs },
  ]
}

/** The rate of a bucket; undefined for the other kinds. */
export function rateOf(policy: Policy): Rate | undefined {
  if (policy.kind === 'tokenBucket') return policy.refill
  if (policy.kind === 'leakyBucket') return policy.leak
  return policy.kind === 'gcra' ? policy.rate : undefined
}

/**
 * Whether a store must give the oracle's verdicts exactly. If a full bucket has more than 2^50 units, a store may use
 * the nearest slower rate; it then must never admit more than the oracle.
 */
export function isExact(policy: Policy): boolean {
  const rate = rateOf(policy)
  if (rate === undefined) return true
  const period = BigInt(Math.round(rate.periodMs * 1000))
  return (BigInt(limitOf(policy)) * period) / gcd(BigInt(rate.count), period) <= 2n ** 50n
}

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b)
}

/** A random policy that both admits and refuses when asked a few dozen times. */
export function modestPolicy(rng: Rng, kind?: Policy['kind']): Policy {
  for (;;) {
    const policy = randomPolicy(rng, kind)
    const limit = limitOf(policy)
    const isCoarse = policy.kind !== 'slidingWindow' || policy.buckets <= 10
    if (limit >= 1 && limit <= 100 && isCoarse && isExact(policy)) return policy
  }
}
