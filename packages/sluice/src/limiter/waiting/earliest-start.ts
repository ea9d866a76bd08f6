import { type Charge, ENFORCED } from '../../stores/charge.ts'

/**
 * The earliest tick at which a request can start that waits behind others, the first of which starts at `turnAt`. It and
 * all before it cost `costs` together, limit by limit. A limit admits itself once in a window, or at once and then at its
 * rate; how much of it was taken before `turnAt` does not matter here. `first` are the charges that refused the first one.
 */
export function earliestStart(first: readonly Charge[], turnAt: number, costs: readonly number[]): number {
  return first.reduce((start, charge, i) => Math.max(start, startUnder(charge, turnAt, costs[i] ?? 0)), turnAt)
}

function startUnder({ role, rule, outage, allowed, blocked, retryAt }: Charge, turnAt: number, cost: number): number {
  if (role !== ENFORCED || outage !== undefined || cost <= rule.limit) return turnAt
  const windows = Math.ceil(cost / rule.limit) - 1
  switch (rule.kind) {
    case 'bucket':
      return turnAt + Math.ceil(((cost - rule.limit) * rule.perRequest) / rule.perTick)
    case 'log':
      return turnAt + windows * rule.windowTicks
    case 'sliding':
      return boundaryAfter(turnAt, windows * rule.buckets, rule.subTicks)
    case 'fixed':
      // Only a window that refused the first one is known to be over at its turn. `retryAt` is where it ends.
      return allowed || blocked ? turnAt : rule.endAfter(turnAt, retryAt) + (windows - 1) * rule.windowTicks
    case 'slots':
      return turnAt
  }
}

/**
 * The same for costs that fit the limits, once the store was asked for all of them as one cost. `look` is its answer. A
 * log or a bucket that lets them in one by one lets the last one in no sooner.
 */
export function startSeen(look: readonly Charge[], turnAt: number): number {
  return look.reduce((start, charge) => Math.max(start, seenUnder(charge, turnAt)), turnAt)
}

function seenUnder({ role, rule, outage, allowed, tentative, retryAt }: Charge, turnAt: number): number {
  if (role !== ENFORCED || outage !== undefined || allowed || tentative || rule.kind === 'slots') return turnAt
  if (rule.kind !== 'sliding') return retryAt
  // Those before it weigh less in the next sub-window than the store was asked for.
  return Math.min(retryAt, boundaryAfter(turnAt, 1, rule.subTicks))
}

/** The n-th boundary between sub-windows after a tick. */
function boundaryAfter(tick: number, n: number, subTicks: number): number {
  return (Math.floor(tick / subTicks) + n) * subTicks
}
