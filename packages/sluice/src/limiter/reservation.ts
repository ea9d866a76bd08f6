import type { Decision } from '../decision.ts'
import { SluiceError } from '../errors.ts'
import { andThen, type Maybe } from '../maybe.ts'
import type { Policy } from '../policy.ts'
import { BESIDE, Charge, ENFORCED } from '../stores/charge.ts'
import type { Limit } from '../stores/limit.ts'
import type { Answer, Change, Mode } from '../stores/store.ts'
import { ChargedDecision, limitOf } from './charged-decision.ts'
import { type BoundLimit, checkCost, chosenRule } from './limits.ts'

/** Takes an estimate before the real cost is known. For an LLM call: estimate, call, settle for what it used. */
export interface Reservation<M extends Mode = 'sync'> {
  readonly decision: Decision
  readonly allowed: boolean
  /**
   * Ends the reservation: charges what was really used and gives the rest back. Only the first call counts; later ones
   * return its answer. Give amounts by name if limits count different things (`{ tokens: 812, bytes: 4096 }`); limits
   * left out keep what was reserved.
   */
  settle(actual: number | Readonly<Record<string, number>>): Answer<M, Settlement>
  /** Ends the reservation as if nothing had been used. */
  cancel(): Answer<M, Settlement>
  /** The reservation as plain data, so that another process over the same store can `resume` and settle it. */
  save(): SavedReservation
}

/** A reservation on its way between processes. Seal it: it contains keys, and anyone who has it can settle it. */
export interface SavedReservation {
  readonly cost: number
  readonly charges: readonly {
    readonly limit: string
    readonly policy: Policy
    readonly key: string
    readonly cost: number
    readonly shadow: boolean
    readonly hold: unknown
  }[]
}

export interface Settlement {
  readonly reserved: number
  /** What was charged. It is less than what was used only if that would overdraw the limit by more than a whole one. */
  readonly charged: number
  /** More was used than reserved. */
  readonly overdrawn: boolean
}

/** The limit of that name, or its layers. */
type Named = (limit: string) => readonly { readonly name: string }[]
type Amend = (changes: readonly Change[]) => Maybe<number[]>

/** `named` throws if no limit has the name, so that a typing error does not lose what was really used. */
export function reservationOf<M extends Mode>(
  decision: Decision,
  cost: number,
  amend: Amend,
  named: Named,
): Reservation<M> {
  const charges = decision instanceof ChargedDecision ? decision.charges : []
  let settled: Answer<M, Settlement> | undefined
  const end = (actualOf: ActualOf) => {
    settled ??= settle(charges, cost, actualOf, amend) as Answer<M, Settlement>
    return settled
  }
  return {
    decision,
    allowed: decision.allowed,
    settle: actual => end(isByName(actual) ? byName(actual, named) : forAll(checkCost(actual))),
    cancel: () => end(NOTHING),
    save: () => ({ cost, charges: charges.filter(isFar).map(saved) }),
  }
}

/**
 * Whether the charge can be saved. Other processes cannot reach an in-process store, neither the limiter's nor the
 * local one of an outage.
 */
function isFar(charge: Charge): boolean {
  if (limitOf(charge).store.mode === 'async') return charge.hold !== undefined
  if (charge.outage !== undefined) return false
  throw new SluiceError('SLUICE_NOT_SUPPORTED', 'expected a reservation in a store that processes share to be saved')
}

function saved(charge: Charge): SavedReservation['charges'][number] {
  const { rule, key, cost, role, hold } = charge
  return { limit: limitOf(charge).name, policy: rule.policy, key, cost, shadow: role !== ENFORCED, hold }
}

/** The charges of a saved reservation. `named` finds their limits, and throws if one no longer exists. */
export function chargesOf({ charges }: SavedReservation, named: (limit: string) => Limit): Charge[] {
  return charges.map(({ limit, policy, key, cost, shadow, hold }) => {
    const charge = new Charge(named(limit), chosenRule(policy), key, cost, shadow ? BESIDE : ENFORCED)
    charge.allowed = true
    charge.receipt = 1
    charge.hold = { ...(hold as object) }
    return charge
  })
}

/** What was really used of one limit; undefined if the limit keeps what was reserved. */
type ActualOf = (limit: BoundLimit<never>) => number | undefined

/** For a cancelled reservation, which also gives back what limits with `atOnce` took. */
const NOTHING: ActualOf = () => 0

/** The same amount for all limits, except those with a cost of their own: one request stays one request. */
function forAll(actual: number): ActualOf {
  return limit => (limit.cost === undefined ? actual : undefined)
}

function isByName(actual: unknown): actual is Readonly<Record<string, number>> {
  return typeof actual === 'object' && actual !== null && !Array.isArray(actual) && Object.keys(actual).length > 0
}

function byName(amounts: Readonly<Record<string, number>>, named: Named): ActualOf {
  const actual = new Map<string, number>()
  for (const [name, amount] of Object.entries(amounts)) {
    for (const limit of named(name)) actual.set(limit.name, checkCost(amount))
  }
  return limit => actual.get(limit.name)
}

function settle(charges: readonly Charge[], reserved: number, actualOf: ActualOf, amend: Amend): Maybe<Settlement> {
  const held = charges.filter(charge => charge.hold !== undefined)
  const actuals = held.map(charge => (charge.rule.kind === 'slots' ? undefined : actualOf(limitOf(charge))))
  const changes = held.map((charge, i): Change => {
    if (charge.rule.kind === 'slots') return { type: 'release', charge }
    return { type: 'settle', charge, actual: actuals[i] ?? charge.cost }
  })
  const atOnce = actualOf === NOTHING ? charges.filter(charge => charge.taken && charge.hold === undefined) : []
  const conclude = (amounts: readonly number[]): Settlement => {
    // The answer of a cancel counts only the limits that take the call's cost, as a settlement does.
    const counts = (charge: Charge) => actualOf !== NOTHING || limitOf(charge).cost === undefined
    const isSettled = (_: unknown, i: number) =>
      actuals[i] !== undefined && held[i]!.role === ENFORCED && counts(held[i]!)
    const charged = amounts.filter(isSettled)
    const own = held.filter(isSettled).map(charge => (limitOf(charge).cost === undefined ? reserved : charge.cost))
    return {
      // A limit with a cost of its own reserved that cost, not the call's.
      reserved: own.length === 0 || own.includes(reserved) ? reserved : Math.max(...own),
      charged: charged.length === 0 ? 0 : Math.min(...charged),
      overdrawn: held.some((charge, i) => (actuals[i] ?? 0) > charge.cost),
    }
  }
  return andThen(amend([...changes, ...atOnce.map((charge): Change => ({ type: 'refund', charge }))]), conclude)
}
