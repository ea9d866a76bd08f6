import type { Charge } from '../store.ts'
import type { Ledger } from './ledger.ts'

/** One reservation: so much of a limit, kept until it is settled or expires. */
export interface Hold {
  readonly charge: Charge
  readonly expiry: number
  /** What it ended up costing; undefined while it is held. */
  charged: number | undefined
}

/**
 * The reservations of one limit. What is held stands beside the counted level and does not drain; settling moves what
 * was really used into the level. So a long call gives back all of what it did not use, however much has drained
 * meanwhile. A reservation that expires is settled, at its expiry, for what was reserved.
 */
export class Holds {
  /** By key, soonest expiry first. */
  private readonly byKey = new Map<string, Hold[]>()
  private readonly ledgerOf: (charge: Charge) => Ledger

  constructor(ledgerOf: (charge: Charge) => Ledger) {
    this.ledgerOf = ledgerOf
  }

  /** What is held for a key now, after settling what has expired. */
  held(key: string, now: number): number {
    this.expire(key, now)
    return this.byKey.get(key)?.reduce((sum, hold) => sum + hold.charge.cost, 0) ?? 0
  }

  add(charge: Charge, expiry: number, now: number): Hold {
    this.expireAny(now)
    const hold: Hold = { charge, expiry, charged: undefined }
    const holds = this.byKey.get(charge.key) ?? []
    const after = holds.findIndex(other => other.expiry > expiry)
    holds.splice(after < 0 ? holds.length : after, 0, hold)
    this.byKey.set(charge.key, holds)
    return hold
  }

  /**
   * Ends a reservation for what it really used, and says what was charged. More than was reserved is charged without
   * refusal, until one whole limit has been overdrawn.
   */
  settle(hold: Hold, actual: number, now: number): number {
    const { charge } = hold
    this.expire(charge.key, now)
    if (hold.charged !== undefined) return hold.charged
    this.drop(hold)
    const ledger = this.ledgerOf(charge)
    ledger.locate(charge, now)
    const room = 2 * charge.rule.limit - ledger.counted(charge, now) - this.held(charge.key, now)
    hold.charged = Math.min(actual, Math.max(charge.cost, room))
    if (hold.charged > 0) ledger.take(charge, hold.charged, now)
    return hold.charged
  }

  forget(key: string): void {
    for (const hold of this.byKey.get(key) ?? []) hold.charged = 0
    this.byKey.delete(key)
  }

  /**
   * Corrects a verdict for what is held: as reservations expire they turn into level and drain. Finds the first tick
   * at which `charge` passes, and the tick at which all is gone, by playing the expiries through on a copy.
   */
  foresee(charge: Charge, now: number): void {
    const ledger = this.ledgerOf(charge).replica(charge.key, now)
    let held = this.held(charge.key, now)
    charge.remaining = Math.max(0, charge.remaining - held)
    const trial = { ...charge }
    const blockedUntil = charge.blocked ? charge.retryAt : 0
    let at = now
    let retryAt = charge.allowed ? 0 : -1
    for (const hold of this.byKey.get(charge.key) ?? []) {
      if (retryAt < 0) retryAt = passes(ledger, trial, held, at, hold.expiry)
      ledger.locate(trial, hold.expiry)
      ledger.take(trial, hold.charge.cost, hold.expiry)
      held -= hold.charge.cost
      at = hold.expiry
    }
    if (retryAt < 0) retryAt = passes(ledger, trial, held, at, Infinity)
    charge.retryAt = Math.max(retryAt, blockedUntil)
    ledger.locate(trial, at)
    ledger.describe(trial, at)
    charge.resetAt = trial.resetAt
  }

  private expire(key: string, now: number): void {
    const holds = this.byKey.get(key)
    while (holds !== undefined && holds.length > 0 && holds[0]!.expiry <= now) {
      const hold = holds[0]!
      this.drop(hold)
      hold.charged = hold.charge.cost
      const ledger = this.ledgerOf(hold.charge)
      ledger.locate(hold.charge, hold.expiry)
      ledger.take(hold.charge, hold.charge.cost, hold.expiry)
    }
  }

  /** Looks at the keys longest here, so that reservations nobody settles or asks about do not pile up. */
  private expireAny(now: number): void {
    let looks = 2
    for (const [key, holds] of this.byKey) {
      if (looks-- === 0) return
      this.byKey.delete(key)
      this.byKey.set(key, holds)
      this.expire(key, now)
    }
  }

  private drop(hold: Hold): void {
    const holds = this.byKey.get(hold.charge.key)!
    holds.splice(holds.indexOf(hold), 1)
    if (holds.length === 0) this.byKey.delete(hold.charge.key)
  }
}

/** The first tick from `at` up to `until` at which the charge passes beside what is held, or -1. */
function passes(ledger: Ledger, trial: Charge, held: number, at: number, until: number): number {
  ledger.locate(trial, at)
  ledger.judge(trial, trial.cost + held, at)
  const passAt = trial.allowed ? at : trial.retryAt
  return passAt <= until ? passAt : -1
}
