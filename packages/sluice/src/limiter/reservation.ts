import type { Decision } from '../decision.ts'
import { type Answer, type Change, type Charge, ENFORCED, type Mode } from '../stores/store.ts'
import { ChargedDecision } from './charged-decision.ts'
import { type BoundLimit, checkCost } from './limits.ts'
import { andThen, type Maybe } from './maybe.ts'

/** A cost set aside before it is known exactly: an LLM call is estimated, made, and settled for what it used. */
export interface Reservation<M extends Mode = 'sync'> {
  readonly decision: Decision
  readonly allowed: boolean
  /** Ends it: what was really used is charged, the rest is given back. Once; later calls answer the same. */
  settle(actual: number): Answer<M, Settlement>
  /** Ends it as if nothing had been used. */
  cancel(): Answer<M, Settlement>
}

export interface Settlement {
  readonly reserved: number
  /** What was charged: less than what was used only if that would overdraw the limit by more than a whole one. */
  readonly charged: number
  /** More was used than reserved. */
  readonly overdrawn: boolean
}

type Amend = (changes: readonly Change[]) => Maybe<number[]>

export function reservationOf<M extends Mode>(decision: Decision, cost: number, amend: Amend): Reservation<M> {
  const charges = decision instanceof ChargedDecision ? decision.charges : []
  let settled: Answer<M, Settlement> | undefined
  const end = (actual: number, cancelled: boolean) => {
    settled ??= settle(charges, cost, actual, cancelled, amend) as Answer<M, Settlement>
    return settled
  }
  return {
    decision,
    allowed: decision.allowed,
    settle: actual => end(checkCost(actual), false),
    cancel: () => end(0, true),
  }
}

/** A limit with a cost of its own (one request is one request) keeps it; the others are charged what was used. */
function settle(
  charges: readonly Charge[],
  reserved: number,
  actual: number,
  cancelled: boolean,
  amend: Amend,
): Maybe<Settlement> {
  const held = charges.filter(charge => charge.hold !== undefined)
  const changes = held.map((charge): Change => {
    if (charge.rule.kind === 'slots') return { type: 'release', charge }
    const own = (charge.limit as BoundLimit<never>).cost !== undefined && !cancelled
    return { type: 'settle', charge, actual: own ? charge.cost : actual }
  })
  const conclude = (amounts: readonly number[]): Settlement => {
    const charged = amounts.filter((_, i) => {
      const charge = held[i]!
      return (
        charge.role === ENFORCED &&
        charge.rule.kind !== 'slots' &&
        (charge.limit as BoundLimit<never>).cost === undefined
      )
    })
    return { reserved, charged: charged.length === 0 ? 0 : Math.min(...charged), overdrawn: actual > reserved }
  }
  return andThen(amend(changes), conclude)
}
