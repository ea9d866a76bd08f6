import type { SlidingLogPolicy } from '../../policy.ts'
import { least, type Model, most, ticksOf } from './model.ts'

/** Every admission with its time, oldest first. A row is one admission: with cost 3 it stands for three entries. */
export function slidingLogModel(policy: SlidingLogPolicy): Model {
  const limit = BigInt(policy.limit)
  const window = ticksOf(policy.windowMs)
  let log: { at: bigint; cost: bigint }[] = []

  const isLive = (at: bigint, entryAt: bigint): boolean => at - entryAt < window

  const dropOldestLive = (at: bigint, cost: bigint): void => {
    log = log.filter(entry => isLive(at, entry.at))
    let left = cost
    for (const entry of log) {
      const dropped = least(left, entry.cost)
      entry.cost -= dropped
      left -= dropped
    }
  }

  return {
    passes(at, cost) {
      let count = 0n
      for (const entry of log) if (isLive(at, entry.at)) count += entry.cost
      return count + cost <= limit
    },
    charge: (at, cost) => void log.push({ at, cost }),
    wholeAt() {
      let end = 0n
      for (const entry of log) if (entry.cost > 0n) end = most(end, entry.at + window)
      return end
    },
    // Removes the oldest entries, because a log does not record which charge made an entry. The oldest expire first, so
    // the remaining entries count at least as long as those of the other charges would.
    refund(at, cost, chargedAt) {
      if (isLive(at, chargedAt)) dropOldestLive(at, cost)
    },
    credit: dropOldestLive,
    reset() {
      log = []
    },
  }
}
