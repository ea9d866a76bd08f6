import type { FixedWindowPolicy, OutageMode, TokenBucketPolicy } from 'sluice'
import { tokenBucket } from 'sluice'
import type { ClientName, Target } from './clients.ts'

/** One fault, and what is expected of it. */
export interface Scenario {
  readonly name: string
  readonly client: ClientName
  readonly onOutage: OutageMode
  readonly scarce: Scarce
  /** How much of the outage decisions noticed: hardly any of it, some, or until the breaker opened. */
  readonly outage: 'none' | 'brief' | 'lasting'
  /** From the store's return to its first decision, however long the client takes to connect. */
  readonly recoversWithinMs: number
  /** The store may lose some of its counts, but not all: a replica knows less than its primary. */
  readonly forgetful: boolean
  /** The server evicts keys, so admissions have no bound; the store must have reported that. */
  readonly evicts: boolean
  open(): Promise<Stage>
}

/** The limit that is asked for more than it gives, for each of this many subjects. */
export interface Scarce {
  readonly policy: TokenBucketPolicy | FixedWindowPolicy
  readonly subjects: number
}

/** Starts servers for one fault, and makes it happen. */
export interface Stage {
  readonly target: Target
  /** Resolves when the fault is over. */
  fault(incident: Incident): Promise<void>
  stop(): Promise<unknown>
}

export interface Incident {
  /** Asks a thousand more decisions at once before a breaker opens, so that some charges land late. */
  rush(): void
  /** Call this when the store can answer again. */
  back(): void
  /** Call this when the store has lost its counts, with the time by its own clock: epoch milliseconds, or now. */
  forgot(at?: number): void
}

const BUCKET = tokenBucket({ capacity: 100, refill: '300/s' })

export function scenario(name: string, open: () => Promise<Stage>, special: Partial<Scenario> = {}): Scenario {
  return {
    name,
    open,
    client: 'ioredis',
    onOutage: 'local',
    scarce: { policy: BUCKET, subjects: 1 },
    outage: 'lasting',
    recoversWithinMs: 1000,
    forgetful: false,
    evicts: false,
    ...special,
  }
}
