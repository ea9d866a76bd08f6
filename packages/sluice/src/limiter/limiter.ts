import type { Clock } from '../clock.ts'
import type { Decision, ObservedDecision } from '../decision.ts'
import type { Duration } from '../duration.ts'
import type { StoreUnavailable } from '../errors.ts'
import type { Answer, Mode, Store } from '../stores/store.ts'
import type { Warning } from '../warning.ts'
import type { LimitInspection } from './inspection.ts'
import type { LimitMode, LimitsByName } from './limits.ts'
import type { OnOutage, OutageMode } from './outage/on-outage.ts'
import type { Reservation, SavedReservation } from './reservation.ts'
import type { ShadowState } from './shadow-report.ts'

/** What a limiter reports besides its decisions. */
export type LimiterEvent =
  /** No limit applied to a subject, so it passed unlimited. */
  | { readonly type: 'nothing-applied'; readonly limiter: string }
  /** The default store has no room for new keys. They share pooled buckets until it has. */
  | { readonly type: 'overflow'; readonly limiter: string; readonly keys: number }
  /** The clock was set back. Limits keep their own time, which stays ahead of the clock by this much. */
  | { readonly type: 'clock-set-back'; readonly limiter: string; readonly byMs: number }
  /**
   * A refund, release or settlement failed: its cost stays taken, and a slot comes back when it expires. Or a block or
   * refund that was kept during an outage was never carried out.
   */
  | { readonly type: 'store-error'; readonly limiter: string; readonly error: unknown }
  /** The store cannot decide a limit, or some of its keys, so the limit's `onOutage` decides. */
  | {
      readonly type: 'degraded'
      readonly limiter: string
      readonly limit: string
      readonly mode: OutageMode
      readonly error: StoreUnavailable
    }
  /** Something is probably wrong. Each warning is reported once; docs/reference/errors.md explains its `code`. */
  | (Warning & { readonly limiter: string })
  /** The store has decided the limit again for a second. */
  | { readonly type: 'restored'; readonly limiter: string; readonly limit: string }

/** Called with every decision, also those that waited. An error it throws reaches the caller. */
export type Observer<S> = (decision: ObservedDecision, subject: S) => void

export interface LimiterOptions<S = string, M extends Mode = Mode> {
  /** Separates this limiter's state from that of others in the same store. `'default'` by default. */
  name?: string
  /** Separates this application's state from that of others in the same store. `'sluice'` by default. */
  prefix?: string
  /** `memoryStore()` by default. */
  store?: Store<M>
  /** The clock of the default store. A store passed in keeps its own. */
  clock?: Clock
  /** Called with every decision, refused or not; `peek` decides nothing. */
  onDecision?: (decision: Decision, subject: S) => void
  /** Further observers, such as telemetry. They also see the subject's keys and which limits were off. */
  observers?: readonly Observer<S>[]
  onEvent?: (event: LimiterEvent) => void
  /**
   * How long a `policy`, `key` or `cost` that answers with a promise may take; later the call rejects. `'1s'` by
   * default.
   */
  lookupDeadline?: Duration
}

/** Settings of a limiter with one policy: what the limit needs besides the policy. */
export interface LoneLimitOptions<M extends Mode = Mode> extends LimiterOptions<string, M> {
  /** What decides while the store is down: `'local'` by default. */
  onOutage?: OnOutage
}

export interface NamedLimits<S, M extends Mode = Mode> extends LimiterOptions<S, M> {
  /** All the limits of a request are taken, or none is. */
  limits: LimitsByName<S, M extends 'sync' ? 'sync' : Mode>
  /**
   * For many limits of which few apply: returns the names of those to check for a subject. Without it, all are checked.
   */
  select?: (subject: S) => Iterable<string>
}

export interface CostOption {
  /** 1 by default. 0 takes nothing. A limit's own `cost` overrides it. */
  cost?: number
}

export interface WaitOptions extends CostOption {
  /** A request that would wait longer is refused at once. Without it, a request waits as long as it takes. */
  maxWait?: Duration
  /**
   * How many requests may wait for the same keys in this process. If as many wait when a request comes, it is refused
   * at once unless it passes at once. With 0 it never waits.
   */
  maxQueue?: number
  signal?: AbortSignal
}

/**
 * Decides requests by one or several limits. With an in-process store every answer is the value itself, not a promise.
 */
export interface Limiter<S = string, M extends Mode = 'sync'> {
  readonly name: string
  /** Takes the cost from every limit that applies, or from none. */
  consume(subject: S, options?: CostOption): Answer<M, Decision>
  /** Takes nothing; says whether the cost would pass. */
  peek(subject: S, options?: CostOption): Answer<M, Decision>
  /** Refunds what a decision took, once, but lets no more through than if the request had not happened. */
  refund(decision: Decision): Answer<M, void>
  /** An operator's credit: gives this much back to the limits that apply, up to full. */
  refund(subject: S, options: { cost: number }): Answer<M, void>
  /** Forgets what is counted for a subject. Limits without a key are reset only if they are named. */
  reset(subject: S, options?: { limits?: readonly string[] }): Answer<M, void>
  /**
   * Takes this much from every limit that applies, even if it would refuse. Each is overdrawn by one whole limit at
   * most.
   */
  penalize(subject: S, options: { cost: number }): Answer<M, void>
  /** Sets how much of a limit is left for the subject. */
  set(subject: S, options: { limit?: string; remaining: number }): Answer<M, void>
  /** Makes one limit refuse the subject for this long. */
  block(subject: S, options: { limit?: string; for: Duration | 'forever' }): Answer<M, void>
  /** Ends a block of the subject, and forgets how many blocks it has had. */
  unblock(subject: S, options?: { limit?: string }): Answer<M, void>
  /** Takes an estimate, which is later settled for the real cost. */
  reserve(subject: S, options: { cost: number; ttl: Duration }): Answer<M, Reservation<M>>
  /** Resumes a reservation that this or another process saved over the same store, so that it can be settled here. */
  resume(saved: SavedReservation): Reservation<M>
  /** Resolves when the request may start, or refuses at once if that would take longer than `maxWait`. */
  wait(subject: S, options?: WaitOptions): Promise<Decision>
  /** The exact times, epoch milliseconds, that a `slidingLog` limit still counts for a subject. */
  history(subject: S, options?: { limit?: string }): Answer<M, number[]>
  /**
   * What the store keeps for a subject, as data: for each limit that applies, in declared order, or for the limits
   * named.
   */
  inspect(subject: S, options?: { limits?: readonly string[] }): Answer<M, LimitInspection[]>
  /** Sets a limit's mode: on, off or shadow, for all subjects or by a function of the subject. */
  setMode(limit: string, mode: LimitMode | ((subject: S) => LimitMode)): void
  /** What would change if the shadow limits were enforced, counted since the limiter was made. */
  shadows(): ShadowState[]
  close(): Answer<M, void>
}
