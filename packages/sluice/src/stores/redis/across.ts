import { Charge, ENFORCED, refusedOf } from '../charge.ts'
import { type Change, type Intent, LOOK } from '../store.ts'

/** What can decide the charges of one shard in one call, and amend any. */
export interface Together {
  shardOf(charge: Charge): number
  decideTogether(charges: readonly Charge[], intent: Intent): Promise<void>
  amend(changes: readonly Change[]): Promise<number[]>
}

/**
 * One decision over several slots of a cluster, where nothing is atomic: the enforced charges are taken slot by slot,
 * in declared order but those without a key last, so that a caller who is refused by his own limit drains no shared
 * one. Once a slot refuses, the others are only looked at, and what was taken goes back by the rule of refunds. No limit
 * ever admits too much, since an admitted request has been taken in each. Shadows follow when it is known who passed.
 */
export async function decideAcross(store: Together, charges: readonly Charge[], intent: Intent): Promise<void> {
  const taken: Charge[] = []
  for (const group of groupsOf(
    store,
    charges.filter(charge => charge.role === ENFORCED),
  )) {
    const refused = charges.some(charge => charge.role === ENFORCED && isDecided(charge) && !charge.allowed)
    await store.decideTogether(group, refused ? LOOK : intent)
    for (const charge of group) {
      if (!charge.allowed && charge.fault === undefined) charge.tentative = true
      if (charge.taken) taken.push(charge)
    }
  }
  const refused = refusedOf(charges.filter(charge => charge.role === ENFORCED))
  await Promise.all(shadowsOf(charges).map(shadow => decideShadow(store, shadow, charges, refused, intent)))
  if (refused > 0 && taken.length > 0) await giveBack(store, taken)
  // One decision has one time: that of the last word in it.
  const at = Math.max(...charges.map(charge => (isDecided(charge) ? charge.at : 0)))
  for (const charge of charges) if (isDecided(charge)) charge.at = at
}

function isDecided(charge: Charge): boolean {
  return charge.fault === undefined && charge.at !== undefined
}

function groupsOf(store: Together, charges: readonly Charge[]): Charge[][] {
  const groups = new Map<number, Charge[]>()
  const keyed = charges.filter(charge => charge.key !== '')
  const keyless = charges.filter(charge => charge.key === '')
  for (const charge of [...keyed, ...keyless]) {
    const shard = store.shardOf(charge)
    const group = groups.get(shard)
    if (group === undefined) groups.set(shard, [charge])
    else group.push(charge)
  }
  return [...groups.values()]
}

function shadowsOf(charges: readonly Charge[]): Charge[] {
  return charges.filter(charge => charge.role !== ENFORCED)
}

/** It is charged if it passes itself and nobody else refused, but for the one it replaces. */
async function decideShadow(
  store: Together,
  shadow: Charge,
  charges: readonly Charge[],
  refused: number,
  intent: Intent,
): Promise<void> {
  const { limit, rule, key, cost, role } = shadow
  // The others are not in the call, so that it stands alone there.
  const replaced = role >= 0 && isDecided(charges[role]!) && !charges[role]!.allowed ? 1 : 0
  const alone = new Charge(limit, rule, key, cost, ENFORCED)
  await store.decideTogether([alone], refused === replaced ? intent : LOOK)
  // Whoever asked may have stopped waiting meanwhile.
  if (shadow.fault === undefined) Object.assign(shadow, alone, { role })
}

/** What a refused decision held goes back; if that fails, it drains by itself. */
async function giveBack(store: Together, taken: readonly Charge[]): Promise<void> {
  try {
    await store.amend(taken.map(charge => ({ type: 'refund', charge })))
  } catch {
    for (const charge of taken) charge.receipt = 0
  }
}
