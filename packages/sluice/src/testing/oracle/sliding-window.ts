import type { SlidingWindowPolicy } from '../../policy.ts'
import { least, type Model, most, ticksOf } from './model.ts'

/**
 * The design page's formula, word for word: with sub = window/k and i = ⌊now/sub⌋,
 * c[i−k] × (1 − (now − i·sub)/sub) + Σ c[i−k+1 … i] + cost ≤ limit, both sides times `sub` so that it stays whole.
 *
 * Left alone, the used part never grows: within a sub-window only the weight of c[i−k] moves, and it falls; from
 * one to the next that weight is 0 where it leaves and 1 where c[i−k+1] takes its place, and c[i+1] starts at 0.
 */
export function slidingWindowModel(policy: SlidingWindowPolicy): Model {
  const limit = BigInt(policy.limit)
  const k = BigInt(policy.buckets)
  const sub = ticksOf(policy.windowMs) / k
  // Every counter there ever was, by its sub-window's number: none is forgotten, old ones are just not looked at.
  const counters = new Map<bigint, bigint>()
  const counter = (index: bigint): bigint => counters.get(index) ?? 0n

  /** What is used, in units of 1/sub. */
  const used = (at: bigint): bigint => {
    const i = at / sub
    let sum = counter(i - k) * (sub - (at - i * sub))
    for (let index = i - k + 1n; index <= i; index++) sum += counter(index) * sub
    return sum
  }

  return {
    passes: (at, cost) => used(at) + cost * sub <= limit * sub,
    charge: (at, cost) => void counters.set(at / sub, counter(at / sub) + cost),
    wholeAt() {
      // Counter i is the partly weighted one during sub-window i + k, and weighs nothing from the next one on.
      let end = 0n
      for (const [i, count] of counters) if (count > 0n) end = most(end, (i + k + 1n) * sub)
      return end
    },
    refund(at, cost, chargedAt) {
      const charged = chargedAt / sub
      const stillThere = charged >= at / sub - k
      if (stillThere) counters.set(charged, most(0n, counter(charged) - cost))
    },
    credit(at, cost) {
      // Newest first, and in whole units even from the partly weighted one, which comes last.
      const i = at / sub
      let left = cost
      for (let index = i; index >= i - k; index--) {
        const taken = least(left, counter(index))
        counters.set(index, counter(index) - taken)
        left -= taken
      }
    },
    reset: () => counters.clear(),
  }
}
