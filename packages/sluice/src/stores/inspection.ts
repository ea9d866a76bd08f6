import type { BucketRule } from '../algorithms/bucket.ts'
import { dryAt } from '../algorithms/bucket.ts'
import * as fixed from '../algorithms/fixed-window.ts'
import * as sliding from '../algorithms/sliding-window.ts'
import { TICKS_PER_MS } from '../clock.ts'

/** What a store keeps for one key of one limit, as data. Times are epoch milliseconds of the store's clock. */
export interface KeyInspection {
  readonly at: number
  /** What is counted, in the units of the rule, reservations included. */
  readonly used: number
  readonly blockedUntil: number | undefined
  readonly holds: readonly HeldCost[]
  /** Bytes of state for this key, as far as the store knows. */
  readonly bytes: number
  readonly state: LimitData
}

/** A reservation: its cost, and when it expires. */
export interface HeldCost {
  readonly cost: number
  readonly expiresAt: number
}

export type LimitData =
  /** tokenBucket, leakyBucket, gcra: at `tat` the bucket is empty of water, or full of tokens, again. */
  | { readonly kind: 'bucket'; readonly level: number; readonly tokens: number; readonly tat: number }
  | { readonly kind: 'fixedWindow'; readonly count: number; readonly startsAt: number; readonly endsAt: number }
  | { readonly kind: 'slidingWindow'; readonly counters: readonly WindowCounter[] }
  /** Oldest first. */
  | { readonly kind: 'slidingLog'; readonly times: readonly number[] }
  | { readonly kind: 'concurrency'; readonly slots: readonly HeldCost[] }

export interface WindowCounter {
  readonly startsAt: number
  readonly endsAt: number
  readonly count: number
  /** The share of the sub-window that still counts. */
  readonly weight: number
}

export function bucketData(level: number, rule: BucketRule, now: number): LimitData {
  const requests = level / rule.perRequest
  return {
    kind: 'bucket',
    level: requests,
    tokens: Math.max(0, rule.limit - requests),
    tat: dryAt(level, rule, now) / TICKS_PER_MS,
  }
}

export function fixedData(count: number, endAt: number, rule: fixed.FixedRule): LimitData {
  return {
    kind: 'fixedWindow',
    count,
    startsAt: fixed.startOf(endAt, rule) / TICKS_PER_MS,
    endsAt: endAt / TICKS_PER_MS,
  }
}

/** `cells` are in the order in which the kernel keeps them. */
export function slidingData(
  cells: Float64Array | number[],
  offset: number,
  rule: sliding.SlidingRule,
  now: number,
): LimitData {
  const counters = sliding.counters(cells, offset, rule, now).map(({ n, count, weight }) => ({
    startsAt: (n * rule.subTicks) / TICKS_PER_MS,
    endsAt: ((n + 1) * rule.subTicks) / TICKS_PER_MS,
    count,
    weight,
  }))
  return { kind: 'slidingWindow', counters }
}

export function logData(ticks: readonly number[]): LimitData {
  return { kind: 'slidingLog', times: ticks.map(tick => tick / TICKS_PER_MS) }
}

export function slotsData(slots: readonly { readonly cost: number; readonly expiry: number }[]): LimitData {
  return { kind: 'concurrency', slots: slots.map(heldCost) }
}

/** Sorts reservations by expiry, then by cost, so that every store reports the same order. */
export function heldCosts(holds: readonly { readonly cost: number; readonly expiry: number }[]): HeldCost[] {
  return [...holds].sort((a, b) => a.expiry - b.expiry || a.cost - b.cost).map(heldCost)
}

function heldCost({ cost, expiry }: { readonly cost: number; readonly expiry: number }): HeldCost {
  return { cost, expiresAt: expiry / TICKS_PER_MS }
}
