import { TICKS_PER_MS } from '../../clock.ts'
import type { LimitState } from '../../decision.ts'
import type { ChargedDecision } from '../../limiter/charged-decision.ts'

type ToldCharge = ChargedDecision['charges'][number]

/**
 * A limit's state with the times it would have if all its reservations were charged now. The store's own times assume that
 * no response ever ends: a reservation then lasts for minutes and drains only after that. Responses do end, so a caller
 * that followed those times would wait too long.
 */
export function asIfSettled(state: LimitState, charge: ToldCharge): LimitState {
  // The end of a block and the times of an outage do not depend on reservations.
  if (charge.blocked || charge.outage !== undefined) return state
  const resetTicks = resetTicksOf(charge)
  const resetAfterMs = resetTicks / TICKS_PER_MS
  const retryAfterMs = Math.min(state.retryAfterMs, retryTicksOf(charge, resetTicks) / TICKS_PER_MS)
  return { ...state, resetAfterMs, resetAt: (charge.at + resetTicks) / TICKS_PER_MS, retryAfterMs }
}

/**
 * The state of a bucket with nothing left, and when it has one more unit. Its reset is rounded up to a tick, so a time
 * derived from that may be a tick late.
 */
export function withNextUnit(state: LimitState, charge: ToldCharge): LimitState {
  if (charge.outage !== undefined) return state
  return { ...state, retryAfterMs: retryTicksOf({ rule: charge.rule, used: charge.used, cost: 1 }, 0) / TICKS_PER_MS }
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

/** When the refused cost fits. For a window this is its reset, which may be later than needed. */
function retryTicksOf({ rule, used, cost }: Pick<ToldCharge, 'rule' | 'used' | 'cost'>, resetTicks: number): number {
  if (cost > rule.limit || rule.kind === 'slots') return Infinity
  if (rule.kind !== 'bucket') return resetTicks
  return Math.ceil(Math.max(0, used + cost * rule.perRequest - rule.full) / rule.perTick)
}

/** The remainder of a length divided by a part, from above 0 up to a whole part (instead of 0). */
function lastPart(length: number, part: number): number {
  return length === 0 ? 0 : ((length - 1) % part) + 1
}
