import { andThen, type Maybe } from '../maybe.ts'
import { BESIDE, Charge, ENFORCED, isDecided } from '../stores/charge.ts'
import { decideAcross, type Parties } from '../stores/coordinator.ts'
import { InlineQuestion, type Intent, LOOK, type Store } from '../stores/store.ts'
import type { Changes } from './changes.ts'
import { limitOf } from './charged-decision.ts'

/** Asks the stores of a limiter, each for the limits whose state is in it. */
export class LimiterStores {
  /** The limiter's only store; undefined if it has several. */
  private readonly only: Store | undefined
  private readonly parties: Parties

  constructor(stores: readonly Store[], changes: Changes) {
    this.only = stores.length === 1 ? stores[0] : undefined
    this.parties = {
      partyOf: charge => limitOf(charge).store,
      isFirst: charge => limitOf(charge).store.mode === 'sync',
      // In-process stores go first, so that a flood they refuse makes no call to a remote store.
      ask: (charges, intent, refused) => {
        const { store } = limitOf(charges[0]!)
        return refused && store.mode === 'async' ? undefined : askOne(store, charges, refused ? LOOK : intent)
      },
      giveBack: charges => {
        changes.makeLater(charges.map(charge => ({ type: 'refund', charge })))
        for (const charge of charges) lookAgain(charge)
      },
    }
  }

  /** The charges that are decided or have a fault. With `someDecided`, charges decided before stay as they are. */
  ask(charges: readonly Charge[], intent: Intent, someDecided: boolean): Maybe<readonly Charge[]> {
    const { only } = this
    if (only !== undefined && !someDecided) return andThen(askOne(only, charges, intent), () => charges)
    return andThen(decideAcross(charges, intent, this.parties), () => asked(charges))
  }
}

function askOne(store: Store, charges: readonly Charge[], intent: Intent): Maybe<void> {
  if (store.mode !== 'sync') return new Promise(done => store.ask({ charges, intent, done }))
  store.ask(new InlineQuestion(charges, intent))
}

/**
 * Updates the verdicts of charges that were refunded in process, so that the decision shows the state after the refund.
 */
function lookAgain(charge: Charge): void {
  const { store } = limitOf(charge)
  if (store.mode !== 'sync') return
  const now = new Charge(charge.limit, charge.rule, charge.key, charge.cost, ENFORCED)
  askOne(store, [now], LOOK)
  charge.used = now.used
  charge.resetAt = now.resetAt
}

/** Drops the charges that no store was asked about, and corrects the indexes of shadows. */
function asked(charges: readonly Charge[]): readonly Charge[] {
  const known = charges.filter(charge => isDecided(charge) || charge.fault !== undefined)
  if (known.length === charges.length) return charges
  for (const charge of known) {
    if (charge.role < 0) continue
    const place = known.indexOf(charges[charge.role]!)
    charge.role = place < 0 ? BESIDE : place
  }
  return known
}
