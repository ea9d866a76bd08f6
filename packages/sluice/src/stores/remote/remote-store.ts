import type { StoreUnavailable } from '../../errors.ts'
import type { Charge } from '../charge.ts'
import type { Store } from '../store.ts'

/** What `resilient` must know of the network between this process and a remote store. */
export interface Network {
  /** Resolves when the first connection stands, and never rejects. `undefined` once it stands. */
  readonly connecting: Promise<void> | undefined
  /** The shard that holds the state of a charge, since shards fail one by one. A single server is shard 0. */
  shardOf(charge: Charge): number
  /** Resolves when a shard has carried out a write that concerns no limit; rejects with StoreUnavailable. */
  probe(shard: number): Promise<void>
  /** Calls back when the calls made now are sent. */
  atDeparture(callback: () => void): void
}

/** A store across a network. */
export type RemoteStore = Store<'async'> & Network

/** What a remote store tells: an outage is never silent. */
export type StoreEvent =
  | { readonly type: 'outage'; readonly shard: number; readonly error: StoreUnavailable }
  | { readonly type: 'recovered'; readonly shard: number; readonly outageMs: number }
  /** The server deletes keys when its memory is full, and their counts with them. */
  | { readonly type: 'eviction'; readonly policy: string }
  /** The server's clock was set back. Limits keep their own time, which is now ahead of that clock by `byMs`. */
  | { readonly type: 'clock-set-back'; readonly byMs: number }
