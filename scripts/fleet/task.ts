import type { Policy } from 'sluice'

/** Where the servers are: one, or the nodes of a cluster. */
export interface Place {
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
  readonly isCluster: boolean
}

/** The task of every process of a fleet. All start it at the same time. */
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

/** The answers to one process. Times are ticks of the server's clock. */
export interface Told {
  readonly admitted: readonly number[]
  /** Refused by the server itself, not by the deny cache. */
  readonly refused: readonly number[]
  /** Refused by the deny cache. */
  readonly cached: number
  /** Decided without the server. */
  readonly degraded: number
}
