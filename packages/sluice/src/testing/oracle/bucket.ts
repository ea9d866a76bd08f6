import type { Rate } from '../../duration.ts'
import { ceilDiv, type Model, most, ticksOf } from './model.ts'

/**
 * Token bucket, leaky bucket and GCRA are the same rule: charges raise a level, which drains `count` units a period and
 * may never exceed the capacity. Tokens are capacity − level.
 *
 * The level is in parts of a unit: a unit has as many parts as the period has ticks, so a tick drains `count` parts
 * exactly.
 */
export function bucketModel(capacity: number, rate: Rate): Model {
  const partsPerUnit = ticksOf(rate.periodMs)
  const drainPerTick = BigInt(rate.count)
  const full = BigInt(capacity) * partsPerUnit
  let level = 0n
  let levelAt = 0n

  const levelNow = (at: bigint): bigint => most(0n, level - drainPerTick * (at - levelAt))
  const setLevel = (at: bigint, parts: bigint): void => {
    level = most(0n, parts)
    levelAt = at
  }

  return {
    passes: (at, cost) => levelNow(at) + cost * partsPerUnit <= full,
    charge: (at, cost) => setLevel(at, levelNow(at) + cost * partsPerUnit),
    wholeAt: () => levelAt + ceilDiv(level, drainPerTick),
    refund(at, cost, chargedAt) {
      // The drain has already given back a part of the charge.
      const left = cost * partsPerUnit - drainPerTick * (at - chargedAt)
      setLevel(at, levelNow(at) - most(0n, left))
    },
    credit: (at, cost) => setLevel(at, levelNow(at) - cost * partsPerUnit),
    reset() {
      level = 0n
    },
  }
}
