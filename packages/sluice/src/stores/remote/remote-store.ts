import type { StoreUnavailable } from '../../errors.ts'
import type { Charge } from '../charge.ts'
import type { Intent, Store } from '../store.ts'

/** What lies between here and a remote store, as far as `resilient` must know it. */
export interface Network {
  /** Resolves when the first connection stands, never rejects; `undefined` from then on. */
  readonly connecting: Promise<void> | undefined
  /** Shards fail one by one: which of them holds the state of a charge? A single server is shard 0. */
  shardOf(charge: Charge): number
  /** Resolves when a shard has carried out a write that concerns no limit; rejects with StoreUnavailable. */
  probe(shard: number): Promise<void>
  /** Calls back when what is asked now goes out. */
  atDeparture(callback: () => void): void
}

/** A store across a network. */
export type RemoteStore = Store<'async'> & Network

/** One decision of any store, as a promise. */
export function askStore(store: Store, charges: readonly Charge[], intent: Intent): Promise<void> {
  return new Promise(done => store.ask({ charges, intent, done }))
}

/** What a remote store tells: an outage is never silent. */
export type StoreEvent =
  | { readonly type: 'outage'; readonly shard: number; readonly error: StoreUnavailable }
  | { readonly type: 'recovered'; readonly shard: number; readonly outageMs: number }
  /** The server throws keys away when its memory is full, and with them what was counted. */
  | { readonly type: 'eviction'; readonly policy: string }
  /** The server's clock was set back. Its limits go on by the time they had, which is so much ahead of it from now on. */
  | { readonly type: 'clock-set-back'; readonly byMs: number }
