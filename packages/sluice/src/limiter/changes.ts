import { StoreUnavailable } from '../errors.ts'
import { allOf, andThen, type Maybe } from '../maybe.ts'
import type { Charge } from '../stores/charge.ts'
import type { Change, Store } from '../stores/store.ts'
import { limitOf } from './charged-decision.ts'

/** Carries changes out, each in the store that its charge was taken in. */
export class Changes {
  private readonly changed: (charges: readonly Charge[]) => void
  private readonly failed: (error: unknown) => void

  /** `changed` hears what something was given back to, `failed` what could not be done where nobody else is told. */
  constructor(changed: (charges: readonly Charge[]) => void, failed: (error: unknown) => void) {
    this.changed = changed
    this.failed = failed
  }

  /** Rejects if a store cannot be asked: whoever asked for it must know that it was not done. */
  make(changes: readonly Change[]): Maybe<number[]> {
    const byStore = new Map<Store, Change[]>()
    for (const change of changes) {
      const { store } = limitOf(change.charge)
      const part = byStore.get(store)
      if (part === undefined) byStore.set(store, [change])
      else part.push(change)
    }
    const made = allOf([...byStore].map(([store, part]): Maybe<number[]> => store.amend(part)))
    return andThen(made, amounts => {
      this.changed(changes.map(({ charge }) => charge))
      if (amounts.length <= 1) return amounts[0] ?? []
      const parts = [...byStore.values()].flat()
      const amountOf = new Map(amounts.flat().map((amount, i) => [parts[i]!, amount]))
      return changes.map(change => amountOf.get(change)!)
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
}
