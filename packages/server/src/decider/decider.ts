import type { DecisionJson, Duration, LimitMode, Settlement, ShadowState } from 'sluice'
import type { Attributes, Explanation } from 'sluice/rules'
import type { Awaitable } from '../awaitable.ts'
import type { Throttle } from '../resp/throttle/throttle.ts'
import type { RateLimitService } from '../rls/service.ts'

/** A subject with what it costs. */
export interface CheckRequest {
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
  check(ask: CheckRequest): Awaitable<DecisionJson>
  peek(ask: CheckRequest): Awaitable<DecisionJson>
  /** An operator's credit. */
  refund(ask: CheckRequest): Awaitable<void>
  reset(subject: Attributes, limits: readonly string[] | undefined): Awaitable<void>
  /** Refuses a subject by a limit for a while. */
  block(subject: Attributes, options: Block): Awaitable<void>
  reserve(ask: CheckRequest, ttlMs: number): Awaitable<Reserved>
  /** Ends a reservation with what was used, or with nothing; undefined where there is none of that id. */
  settle(id: string, actual: Actual | undefined): Awaitable<Settlement | undefined>
  explain(ask: CheckRequest): Awaitable<readonly Explanation[]>
  setMode(limit: string, mode: LimitMode): Awaitable<void>
  shadows(): Awaitable<readonly ShadowState[]>
  readonly throttle: Throttle
}
