import type { DecisionJson, Duration, LimitMode, Settlement, ShadowState } from 'sluice'
import type { Attributes, Explanation } from 'sluice/rules'
import type { Throttle } from '../resp/throttle/throttle.ts'
import type { RateLimitService } from '../rls/service.ts'

/** An answer that may have to be waited for: at once from a store in this process, later from another. */
export type Maybe<T> = T | Promise<T>

/** A subject with what it costs. */
export interface Ask {
  readonly subject: Attributes
  readonly cost: number
}

/** What was really used: of all limits that a call's cost counts for, or by the names of limits. */
export type Actual = number | Readonly<Record<string, number>>

export interface Block {
  /** Which limit refuses; the only one where none is named. */
  readonly limit?: string
  /** For how long, as `15m`. */
  readonly for: Duration
}

export interface Reserved {
  readonly decision: DecisionJson
  /** By which the reservation is settled; undefined where it was refused. Nobody can guess it. */
  readonly id: string | undefined
}

/**
 * All that the doors of the service ask for, whatever language they speak. Questions and answers are plain data, so that
 * a process which only speaks protocols can hand them on to the one that decides.
 */
export interface Decider extends RateLimitService {
  check(ask: Ask): Maybe<DecisionJson>
  peek(ask: Ask): Maybe<DecisionJson>
  /** An operator's credit. */
  refund(ask: Ask): Maybe<void>
  reset(subject: Attributes, limits: readonly string[] | undefined): Maybe<void>
  /** Refuses a subject by a limit for a while. */
  block(subject: Attributes, options: Block): Maybe<void>
  reserve(ask: Ask, ttlMs: number): Maybe<Reserved>
  /** Ends a reservation with what was used, or with nothing; undefined where there is none of that id. */
  settle(id: string, actual: Actual | undefined): Maybe<Settlement | undefined>
  explain(ask: Ask): Maybe<readonly Explanation[]>
  setMode(limit: string, mode: LimitMode): Maybe<void>
  shadows(): Maybe<readonly ShadowState[]>
  readonly throttle: Throttle
}
