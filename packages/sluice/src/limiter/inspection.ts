import type { Policy } from '../policy.ts'
import type { Charge } from '../stores/charge.ts'
import type { HeldCost, KeyInspection, LimitData } from '../stores/inspection.ts'
import { limitOf } from './charged-decision.ts'

/** What a store keeps for a subject under one limit. Times are epoch milliseconds of the store's clock. */
export interface LimitInspection {
  readonly name: string
  readonly policy: Policy
  readonly at: number
  /** In requests: above the limit after an overdraft, a fraction in a bucket that drains. */
  readonly used: number
  /** The largest cost that passes now. */
  readonly remaining: number
  readonly blockedUntil: number | undefined
  /** Reservations that are neither settled nor expired, in order of expiry. */
  readonly holds: readonly HeldCost[]
  /** Bytes of state for this key. */
  readonly bytes: number
  readonly state: LimitData
}

export function limitInspection(charge: Charge, { used, ...kept }: KeyInspection): LimitInspection {
  const { rule } = charge
  charge.used = used
  return {
    name: limitOf(charge).name,
    policy: rule.policy,
    used: used / rule.perRequest,
    remaining: charge.remaining,
    ...kept,
  }
}
