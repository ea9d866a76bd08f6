import type { Clock } from '../clock.ts'
import { StoreUnavailable } from '../errors.ts'
import { allOf, andThen, type Maybe } from '../maybe.ts'
import type { Charge } from '../stores/charge.ts'
import type { Change, Store } from '../stores/store.ts'
import { limitOf } from './charged-decision.ts'
import { KeptChanges } from './outage/kept-changes.ts'

/** Makes changes, each in the store that took the charge. */
export class Changes {
  /** Keeps changes that a store could not make because it was away. */
  readonly kept: KeptChanges
  private readonly changed: (charges: readonly Charge[]) => void
  private readonly failed: (error: unknown) => void

  /** `changed` is called with charges that were refunded; `failed` with a failure that no caller waits for. */
  constructor(clock: Clock, changed: (charges: readonly Charge[]) => void, failed: (error: unknown) => void) {
    this.changed = changed
    this.failed = failed
    this.kept = new KeptChanges(clock, changes => this.carryOut(changes), failed)
  }

  /**
   * Rejects if a store cannot be asked, so that the caller knows the change was not made. Only a block is kept until
   * the store is back, because this process enforces it meanwhile.
   */
  make(changes: readonly Change[]): Maybe<number[]> {
    const { kept } = this
    kept.supersede(changes)
    const made = this.carryOut(changes)
    if (!(made instanceof Promise)) return made
    return made.catch(error => {
      const isKept = ofStore(error) && changes.every(change => change.type === 'block' && kept.keep(change, error))
      if (!isKept) throw error
      return changes.map(() => 1)
    })
  }

  /** Tries once, and rejects if a store cannot be asked. */
  carryOut(changes: readonly Change[]): Maybe<number[]> {
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

  /**
   * For the end of a request, which must not fail because the store is down. A refund is kept for later if that is
   * safe; anything else stays taken.
   */
  makeIfPossible(changes: readonly Change[]): Maybe<number[]> {
    const made = this.carryOut(changes)
    if (!(made instanceof Promise)) return made
    return made.catch(error => {
      if (!ofStore(error)) throw error
      const lost = changes.filter(change => change.type !== 'refund' || !this.kept.keep(change, error))
      if (lost.length > 0) this.failed(error)
      return changes.map(({ charge }) => charge.cost)
    })
  }

  /** Reports the failure of a change that no caller waits for: it must not be silent, nor an unhandled rejection. */
  makeLater(changes: readonly Change[]): void {
    const made = this.makeIfPossible(changes)
    if (made instanceof Promise) made.catch(error => this.failed(error))
  }
}

function ofStore(error: unknown): error is StoreUnavailable {
  return error instanceof StoreUnavailable
}
