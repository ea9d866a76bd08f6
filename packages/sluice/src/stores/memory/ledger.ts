import type { Charge } from '../charge.ts'
import type { Keys, PoolOwner } from './keys.ts'

/**
 * The state of all keys of one limit under rules of one shape. A decision goes `locate`, `judge`, `take` if it passes,
 * then `describe`: the key is looked up once, and what was found is kept until another key is located.
 */
export interface Ledger extends PoolOwner {
  readonly keys: Keys
  locate(charge: Charge, now: number): void
  judge(charge: Charge, cost: number, now: number): void
  take(charge: Charge, cost: number, now: number): void
  describe(charge: Charge, now: number): void
  /** What is counted for the located key, rounded up: more than the limit after an overdraft. */
  counted(charge: Charge, now: number): number
  /** Takes back a charge made at tick `chargedAt`, by law 12. */
  refund(charge: Charge, now: number, chargedAt: number): void
  /** Gives `charge.cost` back, clamped at full. */
  credit(charge: Charge, now: number): void
  forget(key: string, now: number): void
  /** A ledger with a copy of this one key, to try things out on. */
  replica(key: string, now: number): Ledger
}
