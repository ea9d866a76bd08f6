import { createLimiter, type Policy } from 'sluice'
import type { Tally } from './fleet.ts'

/**
 * When one limiter in one process admits, given the same requests at the same ticks. Requests of one tick are alike, so
 * their order does not matter; those answered from a cache never reached a limiter.
 */
export function idealAdmissions(policy: Policy, { admitted, refused }: Pick<Tally, 'admitted' | 'refused'>): number[] {
  let tick = 0
  const limiter = createLimiter(policy, { clock: { now: () => tick / 1000 } })
  return [...admitted, ...refused]
    .sort((a, b) => a - b)
    .filter(at => {
      tick = at
      return limiter.consume('all').allowed
    })
}

/** The largest number in any span of this many ticks. */
export function mostInSpan(times: readonly number[], ticks: number): number {
  let [first, most] = [0, 0]
  for (const [last, at] of times.entries()) {
    while (at - times[first]! >= ticks) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

/** The number in each window of this many ticks since the epoch, by the window's start. */
export function countByWindow(times: readonly number[], ticks: number): Map<number, number> {
  const counts = new Map<number, number>()
  for (const at of times) {
    const start = at - (at % ticks)
    counts.set(start, (counts.get(start) ?? 0) + 1)
  }
  return counts
}
