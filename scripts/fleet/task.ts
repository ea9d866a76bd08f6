import type { Policy } from 'sluice'

/** Where the servers are: one, or the nodes of a cluster. */
export interface Place {
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
  readonly isCluster: boolean
}

/** What every process of a fleet does at the same time. */
export interface Task {
  readonly policy: Policy
  /** The key that all of them ask for. */
  readonly key: string
  readonly callers: number
  /** Epoch milliseconds. */
  readonly startAt: number
  readonly endAt: number
  readonly denyCache: boolean
}

/** What one process was told. Times are ticks of the server's clock. */
export interface Told {
  readonly admitted: readonly number[]
  /** Refused by the server itself, not from what was known here. */
  readonly refused: readonly number[]
  /** Refused from what was known here. */
  readonly cached: number
  /** Decided without the server. */
  readonly degraded: number
}
