import { Charge } from '../charge.ts'
import { ExpiryQueue } from './expiry-queue.ts'
import type { StateTable } from './state-table.ts'

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
  private readonly tableOf: (charge: Charge) => StateTable
  private readonly queue = new ExpiryQueue<Hold>(hold => hold.charged !== undefined)

  constructor(tableOf: (charge: Charge) => StateTable) {
    this.tableOf = tableOf
  }

  /** What is held for a key now, after settling what has expired. */
  held(key: string, now: number): number {
    this.expireDue(now)
    return this.byKey.get(key)?.reduce((sum, hold) => sum + hold.charge.cost, 0) ?? 0
  }

  /** The reservations of a key, soonest expiry first. */
  of(key: string): readonly { readonly cost: number; readonly expiry: number }[] {
    return (this.byKey.get(key) ?? []).map(({ charge, expiry }) => ({ cost: charge.cost, expiry }))
  }

  add(charge: Charge, expiry: number): Hold {
    const hold: Hold = { charge, expiry, charged: undefined }
    this.queue.add(hold)
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
    this.expireDue(now)
    if (hold.charged !== undefined) return hold.charged
    this.drop(hold)
    const table = this.tableOf(charge)
    table.locate(charge, now)
    const room = 2 * charge.rule.limit - table.countedFor(charge, now) - this.held(charge.key, now)
    hold.charged = Math.min(actual, Math.max(charge.cost, room))
    this.queue.ended()
    if (hold.charged > 0) table.take(charge, hold.charged, now)
    return hold.charged
  }

  forget(key: string): void {
    for (const hold of this.byKey.get(key) ?? []) {
      hold.charged = 0
      this.queue.ended()
    }
    this.byKey.delete(key)
  }

  /** The first tick at which a refused charge passes beside what is held, if nobody settles: as each expires, it drains. */
  retryAt(charge: Charge, now: number): number {
    const future = this.future(charge, now)
    let held = this.held(charge.key, now)
    let at = now
    for (const hold of this.byKey.get(charge.key) ?? []) {
      const passAt = passes(future, charge, held, at)
      if (passAt <= hold.expiry) return passAt
      spend(future, charge, hold)
      held -= hold.charge.cost
      at = hold.expiry
    }
    return passes(future, charge, held, at)
  }

  /** The tick at which all is gone, if nobody settles. */
  resetAt(charge: Charge, now: number): number {
    const future = this.future(charge, now)
    let at = now
    for (const hold of this.byKey.get(charge.key) ?? []) {
      spend(future, charge, hold)
      at = hold.expiry
    }
    const trial = trialOf(charge, 0)
    future.locate(trial, at)
    future.describe(trial, at)
    return trial.resetAt
  }

  /** A copy of the key's state, to play the expiries through on. */
  private future(charge: Charge, now: number): StateTable {
    return this.tableOf(charge).replica(charge.key, now)
  }

  /** Charges what has expired, whosever it is: a key that nobody asks about must not look idle. */
  expireDue(now: number): void {
    for (let hold = this.queue.next(now); hold !== undefined; hold = this.queue.next(now)) {
      this.drop(hold)
      hold.charged = hold.charge.cost
      const table = this.tableOf(hold.charge)
      table.locate(hold.charge, hold.expiry)
      if (hold.charge.cost > 0) table.take(hold.charge, hold.charge.cost, hold.expiry)
    }
  }

  private drop(hold: Hold): void {
    const holds = this.byKey.get(hold.charge.key)!
    holds.splice(holds.indexOf(hold), 1)
    if (holds.length === 0) this.byKey.delete(hold.charge.key)
  }
}

function trialOf(charge: Charge, cost: number): Charge {
  return new Charge(charge.limit, charge.rule, charge.key, cost, charge.role)
}

/** The first tick from `at` on at which the charge passes, if what is held stays held. */
function passes(table: StateTable, charge: Charge, held: number, at: number): number {
  const trial = trialOf(charge, charge.cost + held)
  table.locate(trial, at)
  table.judge(trial, trial.cost, at)
  return trial.allowed ? at : trial.retryAt
}

/** An expired reservation is charged for what was reserved. */
function spend(table: StateTable, charge: Charge, hold: Hold): void {
  const trial = trialOf(charge, hold.charge.cost)
  table.locate(trial, hold.expiry)
  table.take(trial, trial.cost, hold.expiry)
}
