import type { ConcurrencyPolicy } from '../../policy.ts'
import { type Model, most, ticksOf } from './model.ts'

/** Slots held until released, or until `ttl` has passed: one that expires at this very tick is free. */
export function concurrencyModel(policy: ConcurrencyPolicy): Model {
  const limit = BigInt(policy.limit)
  const ttl = ticksOf(policy.ttlMs)
  // One row for every admission, ever, so that an acquisition's number is its index. A freed slot has expiresAt 0.
  const slots: { cost: bigint; expiresAt: bigint }[] = []

  return {
    passes(at, cost) {
      let held = 0n
      for (const slot of slots) if (slot.expiresAt > at) held += slot.cost
      return held + cost <= limit
    },
    charge: (at, cost) => void slots.push({ cost, expiresAt: cost > 0n ? at + ttl : 0n }),
    wholeAt: () => slots.reduce((end, slot) => most(end, slot.expiresAt), 0n),
    release(at, acquisition) {
      const slot = slots[acquisition]
      if (slot === undefined || slot.expiresAt <= at) return false
      slot.expiresAt = 0n
      return true
    },
    // Only `release` and time free a slot.
    refund() {},
    credit() {},
    reset() {
      for (const slot of slots) slot.expiresAt = 0n
    },
  }
}
