import { TICKS_PER_MS, toTicks } from '../clock.ts'
import { type Charge, ENFORCED } from '../stores/charge.ts'
import { askInline, type Intent, type Store } from '../stores/store.ts'
import type { Changes } from './changes.ts'
import { limitOf } from './charged-decision.ts'
import type { LimiterEvent } from './limiter.ts'
import { LocalLimits } from './local-limits.ts'

/** Where nothing better is known, a refusal is for a second: by then the store may be back. */
const RETRY_TICKS = 1000 * TICKS_PER_MS
/** The shards of a store fail one by one: a limit is whole again when none of its keys has met a fault for so long. */
const QUIET_MS = 1000

/**
 * Decides what a store could not: by each limit's own `onOutage`, and still all or nothing. A charge decided here keeps
 * the fault it came back with, which is how a decision knows that it is degraded.
 */
export class Outage {
  private readonly store: Store
  private readonly limiter: string
  private readonly changes: Changes
  private readonly onEvent: ((event: LimiterEvent) => void) | undefined
  /** Made when first needed, and kept: whoever has had its share does not get another when the store comes and goes. */
  private local: LocalLimits | undefined
  /** The limits that are degraded, by name, and when they last met a fault. */
  private readonly faults = new Map<string, number>()

  constructor(store: Store, limiter: string, changes: Changes, onEvent: ((event: LimiterEvent) => void) | undefined) {
    this.store = store
    this.limiter = limiter
    this.changes = changes
    this.onEvent = onEvent
  }

  /** The charges as the store decided them; those it could not, as they are decided here. */
  settled(charges: readonly Charge[], intent: Intent): readonly Charge[] {
    const faulty = charges.some(hasFault)
    if (faulty || this.faults.size > 0) this.note(charges)
    return faulty ? this.settle(charges, intent) : charges
  }

  close(): void {
    this.local?.store.close()
  }

  private settle(charges: readonly Charge[], intent: Intent): readonly Charge[] {
    const settled = charges.map(charge => (hasFault(charge) ? this.standIn(charge) : charge))
    const local = settled.filter((charge, i) => charge !== charges[i])
    if (local.length > 0) this.decideLocally(local, settled, intent)
    for (const [i, charge] of settled.entries()) if (local.includes(charge)) explain(charge, charges[i]!)
    const unearned = settled.filter(charge => !hasFault(charge) && charge.taken && !isToBeTaken(charge, settled))
    for (const charge of unearned) charge.used = Math.max(0, charge.used - charge.cost * charge.rule.perRequest)
    if (unearned.length > 0) this.changes.makeLater(unearned.map(charge => ({ type: 'refund', charge })))
    return settled
  }

  /** The charge itself, decided as if nothing or everything had been used; or, undecided yet, one against the local limit. */
  private standIn(charge: Charge): Charge {
    const { onOutage } = limitOf(charge)
    if (onOutage === 'local') {
      this.local ??= new LocalLimits(this.store.clock)
      return this.local.chargeFor(charge, charge.limit.space.localShare)
    }
    const { cost, rule } = charge
    const tooMuch = cost > rule.limit
    charge.at = toTicks(this.store.clock.now())
    charge.allowed = onOutage === 'open' && !tooMuch
    charge.used = onOutage === 'open' ? 0 : rule.limit * rule.perRequest
    charge.retryAt = charge.allowed ? 0 : tooMuch ? Infinity : charge.at + RETRY_TICKS
    charge.resetAt = onOutage === 'open' ? charge.at : charge.at + RETRY_TICKS
    return charge
  }

  /** All local charges together, and only looked at where another limit has refused already. */
  private decideLocally(local: readonly Charge[], all: readonly Charge[], intent: Intent): void {
    const { store } = this.local!
    const refused = all.some(charge => charge.role === ENFORCED && !charge.allowed && !local.includes(charge))
    const roles = local.map(({ role }) => role)
    // A shadow's place among the local charges is another; one in place of a limit that passed stands beside the rest.
    for (const charge of local) if (charge.role >= 0) charge.role = local.indexOf(all[charge.role]!)
    askInline(store, local, refused ? { ...intent, take: false, bookTicks: -1 } : intent)
    for (const [i, charge] of local.entries()) charge.role = roles[i]!
    if (!refused) return
    for (const charge of local) if (isToBeTaken(charge, all)) askInline(store, [charge], intent)
  }

  private note(charges: readonly Charge[]): void {
    const { limiter } = this
    const now = this.store.clock.now()
    for (const charge of charges) {
      const { name, onOutage } = limitOf(charge)
      const lastFault = this.faults.get(name)
      if (charge.fault !== undefined) {
        this.faults.set(name, now)
        const { fault: error } = charge
        if (lastFault === undefined) this.onEvent?.({ type: 'degraded', limiter, limit: name, mode: onOutage, error })
      } else if (lastFault !== undefined && now - lastFault >= QUIET_MS) {
        this.faults.delete(name)
        this.onEvent?.({ type: 'restored', limiter, limit: name })
      }
    }
  }
}

function hasFault(charge: Charge): boolean {
  return charge.fault !== undefined
}

/** What is too much for the local limit alone will pass when the store is back. */
function explain(local: Charge, { cost, rule, fault }: Charge): void {
  local.fault = fault
  if (local.retryAt === Infinity && cost <= rule.limit) local.retryAt = local.at + RETRY_TICKS
}

/** Enforced charges are taken if none was refused; a shadow if it passes and none but the one it replaces was. */
function isToBeTaken(charge: Charge, charges: readonly Charge[]): boolean {
  const refused = charges.filter(({ role, allowed }) => role === ENFORCED && !allowed)
  if (charge.role === ENFORCED) return refused.length === 0
  return charge.allowed && refused.every(other => other === charges[charge.role])
}
