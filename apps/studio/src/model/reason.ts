import type { Decision, LimitInspection } from 'sluice'
import { limitOf } from './policies.ts'

/** Why a request was refused, in one line with the numbers of the state at that time. */
export function reasonOf(before: LimitInspection, decision: Decision, cost: number): string {
  const { state, policy } = before
  const limit = limitOf(policy)
  if (decision.reason === 'cost-exceeds-limit') return `it costs ${cost}, and no more than ${limit} ever fit`
  // A slot is free again when its work is done. Beforehand only its expiry is known.
  const sooner = policy.kind === 'concurrency' ? ' or sooner' : ''
  const retry = Number.isFinite(decision.retryAfterMs)
    ? `; try again in ${seconds(decision.retryAfterMs)}${sooner}`
    : ''
  return `${why()}${retry}`

  function why(): string {
    switch (state.kind) {
      case 'bucket':
        if (policy.kind === 'tokenBucket') return `${decimal(state.tokens)} tokens left, ${cost} needed`
        if (policy.kind === 'gcra') {
          return `its arrival time is ${seconds(state.tat - before.at)} ahead of now, and the burst allows less`
        }
        return `the bucket holds ${decimal(state.level)} of ${limit}, and ${cost} more would spill`
      case 'fixedWindow':
        return `${state.count} of ${limit} used in this window, which ends in ${seconds(state.endsAt - before.at)}`
      case 'slidingWindow': {
        const terms = state.counters
          .filter(({ count }) => count > 0)
          .map(({ count, weight }) => (weight === 1 ? `${count}` : `${count} × ${decimal(weight)}`))
        return `${terms.join(' + ') || 0} counted, and ${cost} more is over ${limit}`
      }
      case 'slidingLog':
        return `${state.times.length} of ${limit} in the last ${seconds('windowMs' in policy ? policy.windowMs : 0)}`
      case 'concurrency':
        return `${before.used} of ${limit} slots are taken`
    }
  }
}

export function seconds(ms: number): string {
  if (ms > 0 && ms < 1000) return `${Math.ceil(ms)} ms`
  if (ms < 120_000) return `${decimal(ms / 1000)} s`
  if (ms < 7_200_000) return `${decimal(ms / 60_000)} min`
  return ms < 172_800_000 ? `${decimal(ms / 3_600_000)} h` : `${decimal(ms / 86_400_000)} d`
}

export function decimal(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 1).replace(/\.?0+$/, '')
}
