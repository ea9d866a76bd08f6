import { atEndOfTurn } from '../clock.ts'
import type { StoreUnavailable } from '../errors.ts'
import type { Charge } from './charge.ts'
import type { Intent, Question, Store } from './store.ts'

/** A store across a network, as far as its wrappers must know it. */
export interface RemoteStore extends Store<'async'> {
  ask(question: Question): void
  /** Calls back when what is asked now goes out. Without it, that is at the end of the turn. */
  atDeparture?(callback: () => void): void
  /** Shards fail one by one: which of them holds the state of a charge? A single server is shard 0. */
  shardOf(charge: Charge): number
  /** Resolves when a shard has carried out a write that concerns no limit; rejects with StoreUnavailable. */
  probe(shard: number): Promise<void>
  /** Resolves when the first connection stands, never rejects; `undefined` from then on. */
  readonly connecting: Promise<void> | undefined
}

/** One decision of a remote store, as a promise. */
export function asked(store: RemoteStore, charges: readonly Charge[], intent: Intent): Promise<void> {
  return new Promise(done => store.ask({ charges, intent, done }))
}

/** Calls back when what is asked of a store now goes out. */
export function atDeparture(store: RemoteStore, callback: () => void): void {
  if (store.atDeparture === undefined) atEndOfTurn(callback)
  else store.atDeparture(callback)
}

/** What a remote store tells: an outage is never silent. */
export type StoreEvent =
  | { readonly type: 'outage'; readonly shard: number; readonly error: StoreUnavailable }
  | { readonly type: 'recovered'; readonly shard: number; readonly outageMs: number }
  /** The server throws keys away when its memory is full, and with them what was counted. */
  | { readonly type: 'eviction'; readonly policy: string }
  /** The server's clock was set back. Its limits go on by the time they had, which is so much ahead of it from now on. */
  | { readonly type: 'clock-set-back'; readonly byMs: number }
