import { StoreUnavailable } from '../errors.ts'
import type { Charge } from '../stores/charge.ts'
import type { Change, Store } from '../stores/store.ts'
import { limitOf } from './charged-decision.ts'
import { andThen, type Maybe } from './maybe.ts'

/** Carries changes out, each in the store that its charge was taken in. */
export class Changes {
  private readonly store: Store
  private readonly changed: (charges: readonly Charge[]) => void
  private readonly failed: (error: unknown) => void

  /** `changed` hears what something was given back to, `failed` what could not be done where nobody else is told. */
  constructor(store: Store, changed: (charges: readonly Charge[]) => void, failed: (error: unknown) => void) {
    this.store = store
    this.changed = changed
    this.failed = failed
  }

  /** Rejects if the store cannot be asked: whoever asked for it must know that it was not done. */
  make(changes: readonly Change[]): Maybe<number[]> {
    const made = this.store.mode === 'sync' ? this.store.amend(changes) : this.makeEach(changes)
    return andThen(made, amounts => {
      this.changed(changes.map(({ charge }) => charge))
      return amounts
    })
  }

  /** For the end of a request, which must not fail because the store is down: then what was taken stays taken. */
  makeIfPossible(changes: readonly Change[]): Maybe<number[]> {
    const made = this.make(changes)
    if (!(made instanceof Promise)) return made
    return made.catch(error => {
      if (!(error instanceof StoreUnavailable)) throw error
      this.failed(error)
      return changes.map(({ charge }) => charge.cost)
    })
  }

  /** What nobody waits for must not fail in silence, nor as an unhandled rejection. */
  makeLater(changes: readonly Change[]): void {
    const made = this.make(changes)
    if (made instanceof Promise) made.catch(error => this.failed(error))
  }

  /** What was decided in this process while the store was down is changed in this process. */
  private async makeEach(changes: readonly Change[]): Promise<number[]> {
    const far = changes.filter(({ charge }) => limitOf(charge).store === this.store)
    if (far.length === changes.length) return far.length === 0 ? [] : this.store.amend(changes)
    const near = new Map<Change, number>()
    for (const change of changes) {
      const { store } = limitOf(change.charge)
      if (store.mode === 'sync') near.set(change, (store as Store<'sync'>).amend([change])[0]!)
    }
    const amounts = far.length === 0 ? [] : await this.store.amend(far)
    let next = 0
    return changes.map(change => near.get(change) ?? amounts[next++]!)
  }
}
