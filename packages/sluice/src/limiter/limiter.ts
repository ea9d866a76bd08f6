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

/** What a limiter tells besides its decisions. */
export type LimiterEvent =
  /** No limit applied to a subject: it passed unlimited. */
  | { readonly type: 'nothing-applied'; readonly limiter: string }
  /** The default store has no room for new keys: they share pooled buckets until there is. */
  | { readonly type: 'overflow'; readonly limiter: string; readonly keys: number }
  /** The clock was set back. Limits go on by the time they had, which is so much ahead of it from now on. */
  | { readonly type: 'clock-set-back'; readonly limiter: string; readonly byMs: number }
  /**
   * Giving something back, or settling it, failed: it stays taken, and a slot comes back when it expires. Or a block or
   * refund that was kept during an outage was never carried out.
   */
  | { readonly type: 'store-error'; readonly limiter: string; readonly error: unknown }
  /** The store cannot decide a limit, or some of its keys: its `onOutage` does. */
  | {
      readonly type: 'degraded'
      readonly limiter: string
      readonly limit: string
      readonly mode: OutageMode
      readonly error: StoreUnavailable
    }
  /** Something is probably wrong, and said once: `code` is explained in docs/reference/errors.md. */
  | (Warning & { readonly limiter: string })
  /** The store decides a limit again, and has for a second. */
  | { readonly type: 'restored'; readonly limiter: string; readonly limit: string }

/** Called with every decision, also of one who waited. What it throws, the caller gets. */
export type Observer<S> = (decision: ObservedDecision, subject: S) => void

export interface LimiterOptions<S = string, M extends Mode = Mode> {
  /** Tells this limiter's state from that of others in the same store. `'default'` by default. */
  name?: string
  /** Tells this application's state from that of others in the same store. `'sluice'` by default. */
  prefix?: string
  /** `memoryStore()` by default. */
  store?: Store<M>
  /** For the default store; a store passed in keeps its own. */
  clock?: Clock
  /** Called with every decision, refused or not; `peek` decides nothing. */
  onDecision?: (decision: Decision, subject: S) => void
  /** More of the same, such as telemetry: they also see keys, and which limits were off. */
  observers?: readonly Observer<S>[]
  onEvent?: (event: LimiterEvent) => void
  /** How long a `policy`, `key` or `cost` that answers with a promise may take; later the call rejects. `'1s'` by default. */
  lookupDeadline?: Duration
}

/** Beside one policy, what its limit needs of its own. */
export interface LoneLimitOptions<M extends Mode = Mode> extends LimiterOptions<string, M> {
  /** What decides while the store cannot: `'local'` by default. */
  onOutage?: OnOutage
}

export interface NamedLimits<S, M extends Mode = Mode> extends LimiterOptions<S, M> {
  /** All of them or none of them. */
  limits: LimitsByName<S, M extends 'sync' ? 'sync' : Mode>
  /** Where there are many limits and few apply: the names of those to look at for a subject. Without it, all are. */
  select?: (subject: S) => Iterable<string>
}

export interface CostOption {
  /** 1 by default; 0 only looks. A limit's own `cost` wins. */
  cost?: number
}

export interface WaitOptions extends CostOption {
  /** A longer wait than this is refused at once. Without it, as long as it takes. */
  maxWait?: Duration
  signal?: AbortSignal
}

/** Decides, request by request, over one or several limits. With an in-process store every answer is the value itself. */
export interface Limiter<S = string, M extends Mode = 'sync'> {
  readonly name: string
  /** Takes the cost from all limits that apply, or from none of them. */
  consume(subject: S, options?: CostOption): Answer<M, Decision>
  /** Takes nothing; says whether the cost would pass. */
  peek(subject: S, options?: CostOption): Answer<M, Decision>
  /** Takes back what a decision took, once, as far as it can be without letting more through. */
  refund(decision: Decision): Answer<M, void>
  /** An operator's credit: gives so much back to the limits that apply, never beyond full. */
  refund(subject: S, options: { cost: number }): Answer<M, void>
  /** Forgets what is counted for a subject; limits without a key are left alone unless named. */
  reset(subject: S, options?: { limits?: readonly string[] }): Answer<M, void>
  /** Takes so much from all limits that apply, even if they would refuse: each is overdrawn by one whole limit at most. */
  penalize(subject: S, options: { cost: number }): Answer<M, void>
  /** Sets how much of a limit is left for the subject. */
  set(subject: S, options: { limit?: string; remaining: number }): Answer<M, void>
  /** Refuses the subject by one limit for so long. */
  block(subject: S, options: { limit?: string; for: Duration | 'forever' }): Answer<M, void>
  /** Ends a block of the subject, and forgets how many there have been. */
  unblock(subject: S, options?: { limit?: string }): Answer<M, void>
  /** Sets an estimate aside, to be settled for what was really used. */
  reserve(subject: S, options: { cost: number; ttl: Duration }): Answer<M, Reservation<M>>
  /** A reservation that was saved, here or in another process over the same store, to be settled here. */
  resume(saved: SavedReservation): Reservation<M>
  /** Resolves when the request may start: at once, or later, or refused if that would take longer than `maxWait`. */
  wait(subject: S, options?: WaitOptions): Promise<Decision>
  /** The exact times, epoch milliseconds, that a `slidingLog` limit still counts for a subject. */
  history(subject: S, options?: { limit?: string }): Answer<M, number[]>
  /** What is kept of a subject, as data: of each limit that applies, in declared order, or of those named. */
  inspect(subject: S, options?: { limits?: readonly string[] }): Answer<M, LimitInspection[]>
  /** Turns a limit on, off or into a shadow, for everybody or as a function chooses. */
  setMode(limit: string, mode: LimitMode | ((subject: S) => LimitMode)): void
  /** What would change if the shadow limits were enforced, counted so far. */
  shadows(): ShadowState[]
  close(): Answer<M, void>
}
