import type { Clock } from '../clock.ts'
import { StoreUnavailable } from '../errors.ts'
import { allOf, andThen, type Maybe } from '../maybe.ts'
import type { Charge } from '../stores/charge.ts'
import type { Change, Store } from '../stores/store.ts'
import { limitOf } from './charged-decision.ts'
import { KeptChanges } from './outage/kept-changes.ts'

/** Carries changes out, each in the store that its charge was taken in. */
export class Changes {
  /** What a store that is away could not carry out. */
  readonly kept: KeptChanges
  private readonly changed: (charges: readonly Charge[]) => void
  private readonly failed: (error: unknown) => void

  /** `changed` hears what something was given back to, `failed` what could not be done where nobody else is told. */
  constructor(clock: Clock, changed: (charges: readonly Charge[]) => void, failed: (error: unknown) => void) {
    this.changed = changed
    this.failed = failed
    this.kept = new KeptChanges(clock, changes => this.carryOut(changes), failed)
  }

  /**
   * Rejects if a store cannot be asked: whoever asked for it must know that it was not done. Only a block is kept until
   * it can, since this process enforces it meanwhile.
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
   * For the end of a request, which must not fail because the store is down: then a refund is kept for later where that is
   * safe, and what else was taken stays taken.
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

  /** What nobody waits for must not fail in silence, nor as an unhandled rejection. */
  makeLater(changes: readonly Change[]): void {
    const made = this.makeIfPossible(changes)
    if (made instanceof Promise) made.catch(error => this.failed(error))
  }
}

function ofStore(error: unknown): error is StoreUnavailable {
  return error instanceof StoreUnavailable
}
