import { limitOfPolicy, type Policy } from '../../policy.ts'

/** Of several policies, the one that lets the least through in the long run, then the one with the smaller burst. */
export function strictest(policies: readonly Policy[]): Policy | undefined {
  let least: Policy | undefined
  for (const policy of policies) if (least === undefined || isStricter(policy, least)) least = policy
  return least
}

export function isStricter(a: Policy, b: Policy): boolean {
  const [rateA, rateB] = [perMs(a), perMs(b)]
  return rateA === rateB ? limitOfPolicy(a) < limitOfPolicy(b) : rateA < rateB
}

const DAY_MS = 86_400_000
const CALENDAR_MS: Readonly<Record<string, number>> = { day: DAY_MS, week: 7 * DAY_MS, month: 30 * DAY_MS }

/** Requests a millisecond, for ever. How soon a slot comes back nobody knows: any rate is stricter, unless there is none. */
function perMs(policy: Policy): number {
  switch (policy.kind) {
    case 'tokenBucket':
      return rateOrNothing(policy.capacity, policy.refill)
    case 'leakyBucket':
      return rateOrNothing(policy.capacity, policy.leak)
    case 'gcra':
      return rateOrNothing(policy.burst, policy.rate)
    case 'concurrency':
      return policy.limit === 0 ? 0 : Infinity
    case 'fixedWindow':
      return policy.limit / (CALENDAR_MS[policy.align] ?? policy.windowMs)
    default:
      return policy.limit / policy.windowMs
  }
}

/** A bucket that holds nothing lets nothing through, however fast it refills. */
function rateOrNothing(size: number, { count, periodMs }: { count: number; periodMs: number }): number {
  return size === 0 ? 0 : count / periodMs
}
