import { TICKS_PER_MS } from '../../clock.ts'
import type { LimitState } from '../../decision.ts'
import type { ChargedDecision } from '../../limiter/charged-decision.ts'

type ToldCharge = ChargedDecision['charges'][number]

/**
 * A limit's state with the times it would have if all that is set aside on it were charged now. The store's own times say
 * what happens if no response ever ends: then a reservation lasts for minutes, and only after that does it drain. But
 * responses end, so a caller that went by those times would sleep for nothing.
 */
export function asIfSettled(state: LimitState, charge: ToldCharge): LimitState {
  // The end of a block, and what is told in an outage, do not depend on reservations.
  if (charge.blocked || charge.outage !== undefined) return state
  const resetTicks = resetTicksOf(charge)
  const resetAfterMs = resetTicks / TICKS_PER_MS
  const retryAfterMs = Math.min(state.retryAfterMs, retryTicksOf(charge, resetTicks) / TICKS_PER_MS)
  return { ...state, resetAfterMs, resetAt: (charge.at + resetTicks) / TICKS_PER_MS, retryAfterMs }
}

function resetTicksOf({ rule, used, at, resetAt }: ToldCharge): number {
  const ticks = resetAt - at
  switch (rule.kind) {
    case 'bucket':
      return Math.ceil(used / rule.perTick)
    case 'fixed':
      // Windows follow each other, so the end of a later one tells where this one ends.
      return rule.windowTicks === 0 ? Math.min(ticks, rule.endAfter(at, 0) - at) : lastPart(ticks, rule.windowTicks)
    case 'sliding':
      return Math.min(ticks, (Math.floor(at / rule.subTicks) + 1 + rule.buckets) * rule.subTicks - at)
    case 'log':
      return Math.min(ticks, rule.windowTicks)
    default:
      return ticks
  }
}

/** When the refused cost would fit, or later: a window is whole at its reset. */
function retryTicksOf({ rule, used, cost }: ToldCharge, resetTicks: number): number {
  if (cost > rule.limit || rule.kind === 'slots') return Infinity
  if (rule.kind !== 'bucket') return resetTicks
  return Math.ceil(Math.max(0, used + cost * rule.perRequest - rule.full) / rule.perTick)
}

/** What remains of a length once whole parts are taken off: from above 0 to a whole part. */
function lastPart(length: number, part: number): number {
  return length === 0 ? 0 : ((length - 1) % part) + 1
}
