import { allOf, andThen, type Maybe } from '../maybe.ts'
import { Charge, ENFORCED, isDecided, isTaken, refusedOf } from './charge.ts'
import type { Intent } from './store.ts'

/** Those who decide one part each of a request: stores, slots of a cluster, or this process while a store is away. */
export interface Parties {
  /** Charges of one party are asked together. */
  partyOf(charge: Charge): unknown
  /** Asking it costs nothing, so it is asked before the others. */
  isFirst(charge: Charge): boolean
  /** Once another party has `refused`, nothing is to be taken: the charges are looked at, or left undecided. */
  ask(charges: readonly Charge[], intent: Intent, refused: boolean): Maybe<void>
  /** Takes back what was taken, by law 12. */
  giveBack(charges: readonly Charge[]): Maybe<void>
}

/**
 * One decision over several parties, between which nothing is atomic. Enforced charges are asked party by party, in the
 * order given, but those that cost nothing to ask first and those without a key last, so that a caller who is refused by a limit of its own drains no shared one.
 * Once one refuses nothing more is taken, and what was taken is given back. No limit ever admits too much, since an
 * admitted request has been taken in each. Shadows follow, when it is known who passed. Charges that are decided already,
 * or at fault, are left as they are.
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

/** A shadow is asked alone, since those it depends on are not in its call. */
function askShadow(shadow: Charge, charges: readonly Charge[], intent: Intent, parties: Parties): Maybe<void> {
  const { limit, rule, key, cost } = shadow
  const alone = new Charge(limit, rule, key, cost, ENFORCED)
  const others = refusedOf(charges)
  const replaced = charges[shadow.role]
  const mayTake = others === (replaced !== undefined && isDecided(replaced) && !replaced.allowed ? 1 : 0)
  return andThen(parties.ask([alone], intent, !mayTake), () => {
    // Whoever asked may have stopped waiting meanwhile.
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
