import type { Policy } from '../../policy.ts'
import { bucketModel } from './bucket.ts'
import { concurrencyModel } from './concurrency.ts'
import { fixedWindowModel } from './fixed-window.ts'
import { least, type Model, most } from './model.ts'
import { slidingLogModel } from './sliding-log.ts'
import { slidingWindowModel } from './sliding-window.ts'

/** All times are ticks (whole microseconds). A time above 2^53 is rounded to the nearest double. */
export interface OracleVerdict {
  allowed: boolean
  /** The largest cost that passes now, after the charge if it was taken. */
  remaining: number
  /** The tick at which nothing is counted any more; the tick of the call if nothing is counted now. */
  resetAt: number
  /** The first tick at which the same cost passes if no other call consumes; 0 if allowed, Infinity if never. */
  retryAt: number
}

/**
 * Computes the correct verdicts for one key of one policy. Tests compare kernels, scripts and stores with it. It is
 * slow and exact, and shares no code with them.
 *
 * If time runs backwards, the largest `at` seen so far counts instead, over all calls and resets.
 */
export interface Oracle {
  /** Cost 0 takes nothing. */
  consume(at: number, cost: number): OracleVerdict
  peek(at: number, cost: number): OracleVerdict
  /**
   * Takes an admitted charge of this cost back. `chargedAt` is the tick it was counted at, which never runs backwards.
   */
  refund(at: number, cost: number, chargedAt: number): void
  /** An operator's credit: gives the cost back, up to a full limit. For concurrency it does nothing. */
  credit(at: number, cost: number): void
  reset(): void
  /** Concurrency only: releases the n-th allowed `consume`, from 0. Calls of cost 0 and calls before a reset count. */
  release?(at: number, acquisition: number): boolean
}

export interface OracleOptions {
  /** Where the windows of `align: 'key'` start, in ticks from 0 up to one window. */
  phase?: number
}

export function oracleFor(policy: Policy, options: OracleOptions = {}): Oracle {
  const model = modelOf(policy, options)
  const limit = BigInt(limitOf(policy))
  let latest = 0n
  const clamp = (at: number): bigint => {
    latest = most(latest, BigInt(at))
    return latest
  }

  const verdict = (at: bigint, cost: bigint, allowed: boolean): OracleVerdict => ({
    allowed,
    // Searches with `passes` itself, because a formula could have the same error as the code under test.
    remaining: Number(firstTrue(0n, limit, more => !model.passes(at, more + 1n))),
    resetAt: Number(most(at, model.wholeAt())),
    retryAt: allowed ? 0 : cost > limit ? Infinity : Number(firstTrue(at, model.wholeAt(), t => model.passes(t, cost))),
  })

  const oracle: Oracle = {
    consume(at, cost) {
      const now = clamp(at)
      const units = BigInt(cost)
      const allowed = model.passes(now, units)
      if (allowed) model.charge(now, units)
      return verdict(now, units, allowed)
    },
    peek(at, cost) {
      const now = clamp(at)
      return verdict(now, BigInt(cost), model.passes(now, BigInt(cost)))
    },
    refund(at, cost, chargedAt) {
      const now = clamp(at)
      model.refund(now, BigInt(cost), least(now, BigInt(chargedAt)))
    },
    credit: (at, cost) => model.credit(clamp(at), BigInt(cost)),
    reset: () => model.reset(),
  }
  if (model.release) oracle.release = (at, acquisition) => model.release?.(clamp(at), acquisition) ?? false
  return oracle
}

/**
 * The smallest n in [from, to] for which `test` is true. It must change from false to true once, and be true at `to`.
 */
function firstTrue(from: bigint, to: bigint, test: (n: bigint) => boolean): bigint {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) / 2n
    if (test(middle)) high = middle
    else low = middle + 1n
  }
  return low
}

function modelOf(policy: Policy, { phase = 0 }: OracleOptions): Model {
  switch (policy.kind) {
    case 'tokenBucket':
      return bucketModel(policy.capacity, policy.refill)
    case 'leakyBucket':
      return bucketModel(policy.capacity, policy.leak)
    case 'gcra':
      return bucketModel(policy.burst, policy.rate)
    case 'fixedWindow':
      return fixedWindowModel(policy, BigInt(phase))
    case 'slidingWindow':
      return slidingWindowModel(policy)
    case 'slidingLog':
      return slidingLogModel(policy)
    case 'concurrency':
      return concurrencyModel(policy)
  }
}

/** The largest cost that can ever pass. */
export function limitOf(policy: Policy): number {
  if (policy.kind === 'tokenBucket' || policy.kind === 'leakyBucket') return policy.capacity
  return policy.kind === 'gcra' ? policy.burst : policy.limit
}
