import { allOf, andThen, type Maybe } from '../maybe.ts'
import { Charge, ENFORCED, isDecided, isTaken, refusedOf } from './charge.ts'
import type { Intent } from './store.ts'

/**
 * The parties to one request. Each decides a part of its charges: a store, a cluster slot, or this process during an
 * outage.
 */
export interface Parties {
  /** The party that decides the charge. Charges of one party are asked together. */
  partyOf(charge: Charge): unknown
  /** Parties that cost nothing to ask are asked first, such as in-process stores. */
  isFirst(charge: Charge): boolean
  /**
   * Asks one party. If another party has `refused`, nothing may be taken: the party only looks, or leaves the charges
   * undecided.
   */
  ask(charges: readonly Charge[], intent: Intent, refused: boolean): Maybe<void>
  /** Refunds charges that were taken. */
  giveBack(charges: readonly Charge[]): Maybe<void>
}

/**
 * Makes one decision across several parties that share no atomic operation. Enforced charges are asked party by party:
 * first the parties that cost nothing to ask, last the limits without a key, otherwise in the given order. So a caller
 * that its own limit refuses takes nothing from a limit that all callers share. Once a party refuses, nothing more is
 * taken, and what was taken is refunded. No limit ever admits too much, because an admitted request was taken from
 * every limit. Shadows are asked last, when the outcome is known. Charges that are already decided or have a fault stay
 * as they are.
 */
export function decideAcross(charges: readonly Charge[], intent: Intent, parties: Parties): Maybe<void> {
  const open = charges.filter(charge => !isDecided(charge) && charge.fault === undefined)
  const groups = groupsOf(
    open.filter(charge => charge.role === ENFORCED),
    parties,
  )
  const shadows = open.filter(charge => charge.role !== ENFORCED)
  const asked = askInTurn(groups, charges, intent, parties)
  const followed = andThen(asked, () => allOf(shadows.map(shadow => askShadow(shadow, charges, intent, parties))))
  return andThen(followed, () => {
    const refused = refusedOf(charges)
    const unearned = charges.filter(charge => charge.taken && !isTaken(charge, charges, refused))
    for (const charge of unearned) charge.used = Math.max(0, charge.used - charge.cost * charge.rule.perRequest)
    if (unearned.length > 0) return parties.giveBack(unearned)
  })
}

function askInTurn(
  groups: readonly Charge[][],
  charges: readonly Charge[],
  intent: Intent,
  parties: Parties,
): Maybe<void> {
  const [group, ...rest] = groups
  if (group === undefined) return
  const asked = parties.ask(group, intent, refusedOf(charges) > 0)
  return andThen(asked, () => askInTurn(rest, charges, intent, parties))
}

/** Asks for a shadow in a call of its own, because the charges it depends on may belong to other parties. */
function askShadow(shadow: Charge, charges: readonly Charge[], intent: Intent, parties: Parties): Maybe<void> {
  const { limit, rule, key, cost } = shadow
  const alone = new Charge(limit, rule, key, cost, ENFORCED)
  const others = refusedOf(charges)
  const replaced = charges[shadow.role]
  const mayTake = others === (replaced !== undefined && isDecided(replaced) && !replaced.allowed ? 1 : 0)
  return andThen(parties.ask([alone], intent, !mayTake), () => {
    // The caller may have stopped waiting meanwhile.
    if (shadow.fault === undefined) shadow.decideAs(alone)
  })
}

function groupsOf(charges: readonly Charge[], parties: Parties): Charge[][] {
  const groups = new Map<unknown, Charge[]>()
  const rank = (charge: Charge) => (parties.isFirst(charge) ? 0 : charge.key !== '' ? 1 : 2)
  for (const charge of [...charges].sort((a, b) => rank(a) - rank(b))) {
    const party = parties.partyOf(charge)
    const group = groups.get(party)
    if (group === undefined) groups.set(party, [charge])
    else group.push(charge)
  }
  return [...groups.values()]
}
