import type { SlidingWindowPolicy } from '../../policy.ts'
import { least, type Model, most, ticksOf } from './model.ts'

/**
 * The definition of the sliding window. With sub = window/k and i = ⌊now/sub⌋ a cost passes if c[i−k] × (1 − (now −
 * i·sub)/sub) + Σ c[i−k+1 … i] + cost ≤ limit. Both sides are multiplied by `sub`, so that all numbers are whole.
 *
 * Without charges the used part never grows. Within a sub-window only the weight of c[i−k] changes, and it falls. At
 * the next boundary c[i−k] leaves at weight 0, c[i−k+1] takes its place at weight 1, and c[i+1] starts at 0.
 */
export function slidingWindowModel(policy: SlidingWindowPolicy): Model {
  const limit = BigInt(policy.limit)
  const k = BigInt(policy.buckets)
  const sub = ticksOf(policy.windowMs) / k
  // All counters ever used, by the number of their sub-window. Old ones stay, but no verdict reads them.
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
      // Counter i has a partial weight during sub-window i + k, and none from the next sub-window on.
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
      // Takes whole units from the newest counters first. The counter with a partial weight comes last.
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
