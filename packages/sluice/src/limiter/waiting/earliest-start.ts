import { type Charge, ENFORCED } from '../../stores/charge.ts'

/**
 * The earliest tick at which the last request of a queue can start, if the first one starts at `turnAt`. `costs` are
 * the costs of all requests in the queue together, limit by limit. Each window admits its limit once. A bucket admits
 * its limit at once, and more at its rate. This ignores what was taken before `turnAt`, so the real start may be later.
 * `first` are the charges that refused the first request.
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
      // Only a window that refused the first request is known to end by `turnAt`. It ends at `retryAt`.
      return allowed || blocked ? turnAt : rule.endAfter(turnAt, retryAt) + (windows - 1) * rule.windowTicks
    case 'slots':
      return turnAt
  }
}

/**
 * The same, from the store's answer `look` to the costs of all requests as one cost, which fits the limits. A log or a
 * bucket that admits the requests one by one admits the last one no sooner.
 */
export function startSeen(look: readonly Charge[], turnAt: number): number {
  return look.reduce((start, charge) => Math.max(start, seenUnder(charge, turnAt)), turnAt)
}

function seenUnder({ role, rule, outage, allowed, tentative, retryAt }: Charge, turnAt: number): number {
  if (role !== ENFORCED || outage !== undefined || allowed || tentative || rule.kind === 'slots') return turnAt
  if (rule.kind !== 'sliding') return retryAt
  // In the next sub-window the requests before it may weigh less than the cost that the store was asked for.
  return Math.min(retryAt, boundaryAfter(turnAt, 1, rule.subTicks))
}

/** The n-th boundary between sub-windows after a tick. */
function boundaryAfter(tick: number, n: number, subTicks: number): number {
  return (Math.floor(tick / subTicks) + n) * subTicks
}
