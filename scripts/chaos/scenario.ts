import type { FixedWindowPolicy, OutageMode, TokenBucketPolicy } from 'sluice'
import { tokenBucket } from 'sluice'
import type { ClientName, Target } from './clients.ts'

/** One fault, as it is asked for. */
export interface Scenario {
  readonly name: string
  readonly client: ClientName
  readonly onOutage: OutageMode
  readonly scarce: Scarce
  /** How long the store was out of reach: hardly for any decision, for some, or until the breaker opened. */
  readonly outage: 'none' | 'brief' | 'lasting'
  /** From the store's return to the first decision it makes, however long its client takes to connect. */
  readonly recoversWithinMs: number
  /** The store may lose some of what it had counted, but not all: a replica knows less than its primary. */
  readonly forgetful: boolean
  /** The server throws keys away, so there is no bound but what is asked for; it must have said so. */
  readonly evicts: boolean
  open(): Promise<Stage>
}

/** The limit that is asked for more than it gives, for each of so many subjects. */
export interface Scarce {
  readonly policy: TokenBucketPolicy | FixedWindowPolicy
  readonly subjects: number
}

/** Servers of its own, and what happens to them. */
export interface Stage {
  readonly target: Target
  /** Comes back when all is well again. */
  fault(incident: Incident): Promise<void>
  stop(): Promise<unknown>
}

export interface Incident {
  /** A thousand more decisions at once, before a breaker opens: what lands of them, lands late. */
  rush(): void
  /** The store could answer again from now on. */
  back(): void
  /** The store has forgotten what it had counted, at this time by its own clock: epoch milliseconds, or now. */
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
