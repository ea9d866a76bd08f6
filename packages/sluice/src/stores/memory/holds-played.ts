import { Charge } from '../charge.ts'
import { HOLDS_PLAYED } from '../store.ts'
import type { Holds } from './holds.ts'
import { newTable } from './kinds/new-table.ts'
import type { StateTable } from './kinds/state-table.ts'
import { apart } from './table/pooled-key-table.ts'

// Simulates what happens if no reservation is settled: each is charged when it expires, and drains from then on. Only
// the first to expire are simulated, on a copy of the key's state, so that the time this takes is bounded.

/**
 * The first tick at which a refused charge passes beside the reservations. If the simulated ones do not free enough, it
 * is the earliest tick at which the charge may pass.
 */
export function retryBeside(table: StateTable, holds: Holds, charge: Charge, now: number): number {
  const { key, cost, rule } = charge
  let held = holds.held(key, now)
  const soonest = holds.soonest(key, HOLDS_PLAYED)
  if (cost > rule.limit) return Infinity
  if (rule.kind === 'log') {
    // An entry of the log leaves one window after its charge. Reservations are charged later than all present entries.
    if (cost + held <= rule.limit) return charge.retryAt
    let last = now
    for (const hold of soonest) {
      last = hold.expiry
      held -= hold.cost
      if (cost + held <= rule.limit) break
    }
    return last + rule.windowTicks
  }
  const future = replica(table, key, now)
  let at = now
  for (const hold of soonest) {
    const passAt = passes(future, charge, held, at)
    if (passAt <= hold.expiry) return passAt
    spend(future, charge, hold.cost, hold.expiry)
    held -= hold.cost
    at = hold.expiry
  }
  return holds.countOf(key) > soonest.length ? at : passes(future, charge, held, at)
}

/**
 * The tick at which nothing is left. Reservations beyond the simulated ones count as if they expired with the last of
 * those.
 */
export function resetBeside(table: StateTable, holds: Holds, charge: Charge, now: number): number {
  const { key, rule } = charge
  let rest = holds.held(key, now)
  const soonest = holds.soonest(key, HOLDS_PLAYED)
  const isAll = holds.countOf(key) === soonest.length
  const last = isAll ? soonest.at(-1)!.expiry : holds.lastExpiry(key)
  if (rule.kind === 'log') return last + rule.windowTicks
  const future = replica(table, key, now)
  for (const hold of soonest) {
    spend(future, charge, hold.cost, hold.expiry)
    rest -= hold.cost
  }
  if (rest > 0) spend(future, charge, rest, last)
  const trial = trialOf(charge, 0)
  future.locate(trial, last)
  future.describe(trial, last)
  return trial.resetAt
}

/** A table with a copy of this one key. */
function replica(table: StateTable, key: string, now: number): StateTable {
  const copy = newTable(table.rule, apart(table.context), [])
  table.copyTo(copy, key, now)
  return copy
}

function trialOf(charge: Charge, cost: number): Charge {
  return new Charge(charge.limit, charge.rule, charge.key, cost, charge.role)
}

/** The first tick from `at` on at which the charge passes, if what is reserved stays reserved. */
function passes(table: StateTable, charge: Charge, held: number, at: number): number {
  const trial = trialOf(charge, charge.cost + held)
  table.find(trial.key, at)
  table.judge(trial, trial.cost, at)
  return trial.allowed ? at : trial.retryAt
}

function spend(table: StateTable, charge: Charge, cost: number, at: number): void {
  const trial = trialOf(charge, cost)
  table.locate(trial, at)
  table.take(trial, cost, at)
}
