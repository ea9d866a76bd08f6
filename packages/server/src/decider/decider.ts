import type { DecisionJson, Duration, LimitMode, Settlement, ShadowState } from 'sluice'
import type { Attributes, Explanation } from 'sluice/rules'
import type { Awaitable } from '../awaitable.ts'
import type { Throttle } from '../resp/throttle/throttle.ts'
import type { RateLimitService } from '../rls/service.ts'

/**
 * What answers the protocols of the service, one part for each kind of caller. Requests and answers are plain data, so that
 * a process which only speaks protocols can send them to the one that decides.
 */
export interface Decider {
  readonly checks: Checks
  readonly operations: OperatorCommands
  /** Envoy's rate limit service. */
  readonly descriptors: RateLimitService
  /** CL.THROTTLE. */
  readonly throttle: Throttle
}

/** The same decider, but for some of what operators do. */
export function withOperations(decider: Decider, instead: Partial<OperatorCommands>): Decider {
  const { checks, operations, descriptors, throttle } = decider
  return {
    checks,
    descriptors,
    throttle,
    operations: Object.assign(Object.create(operations) as OperatorCommands, instead),
  }
}

/** What programs ask before they serve a request, by the service's own rules. */
export interface Checks {
  check(request: CheckRequest): Awaitable<DecisionJson>
  peek(request: CheckRequest): Awaitable<DecisionJson>
  reserve(request: CheckRequest, ttlMs: number): Awaitable<Reserved>
  /** Ends a reservation with what was used, or with nothing; undefined where there is none of that id. */
  settle(id: string, actual: Actual | undefined): Awaitable<Settlement | undefined>
  explain(request: CheckRequest): Awaitable<readonly Explanation[]>
  limits(): Awaitable<readonly LimitDescription[]>
}

/** What operators do to limits and to subjects. */
export interface OperatorCommands {
  /** A credit, clamped at full. */
  refund(request: CheckRequest): Awaitable<void>
  reset(subject: Attributes, limits: readonly string[] | undefined): Awaitable<void>
  /** Refuses a subject by a limit for a while. */
  block(subject: Attributes, options: Block): Awaitable<void>
  setMode(limit: string, mode: LimitMode): Awaitable<void>
  modes(): Awaitable<readonly ModeOfLimit[]>
  shadows(): Awaitable<readonly ShadowState[]>
}

/** A subject with what it costs. */
export interface CheckRequest {
  readonly subject: Attributes
  readonly cost: number
  /** Attributes that no rule names are left aside instead of refused: a proxy tells all that it knows. */
  readonly isLenient?: boolean
}

/** A limit as its rules say it. */
export interface LimitDescription {
  readonly limit: string
  /** Who is counted together; none: everybody. */
  readonly key: readonly string[]
  /** Values of which an attribute must have one. */
  readonly when: Readonly<Record<string, readonly string[]>>
  /** In words; of each plan where the limit has plans. */
  readonly policy: string | Readonly<Record<string, string>>
  readonly mode: LimitMode
}

export interface ModeOfLimit {
  readonly limit: string
  readonly mode: LimitMode
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
