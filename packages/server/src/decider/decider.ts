import type { DecisionJson, Duration, LimitMode, Settlement, ShadowState } from 'sluice'
import type { Attributes, Explanation } from 'sluice/rules'
import type { Awaitable } from '../awaitable.ts'
import type { Throttle } from '../resp/throttle/throttle.ts'
import type { RateLimitService } from '../rls/service.ts'

/**
 * Decides for the protocols of the service, with one part for each kind of caller. Requests and answers are plain data, so
 * that a process which only speaks protocols can send them to the one that decides.
 */
export interface Decider {
  readonly checks: Checks
  readonly operations: OperatorCommands
  /** Envoy's rate limit service. */
  readonly descriptors: RateLimitService
  /** CL.THROTTLE. */
  readonly throttle: Throttle
}

/** The same decider with some operations replaced. */
export function withOperations(decider: Decider, instead: Partial<OperatorCommands>): Decider {
  const { checks, operations, descriptors, throttle } = decider
  return {
    checks,
    descriptors,
    throttle,
    operations: Object.assign(Object.create(operations) as OperatorCommands, instead),
  }
}

/** The checks that programs make before they serve a request, under the service's own rules. */
export interface Checks {
  check(request: CheckRequest): Awaitable<DecisionJson>
  peek(request: CheckRequest): Awaitable<DecisionJson>
  reserve(request: CheckRequest, ttlMs: number): Awaitable<Reserved>
  /** Ends a reservation with what was used, or with nothing. Undefined if no reservation has this id. */
  settle(id: string, actual: Actual | undefined): Awaitable<Settlement | undefined>
  explain(request: CheckRequest): Awaitable<readonly Explanation[]>
  limits(): Awaitable<readonly LimitDescription[]>
}

/** The operations of operators on limits and subjects. */
export interface OperatorCommands {
  /** Gives quota back, up to a full limit. */
  refund(request: CheckRequest): Awaitable<void>
  reset(subject: Attributes, limits: readonly string[] | undefined): Awaitable<void>
  /** Refuses a subject by a limit for a while. */
  block(subject: Attributes, options: Block): Awaitable<void>
  setMode(limit: string, mode: LimitMode): Awaitable<void>
  modes(): Awaitable<readonly ModeOfLimit[]>
  shadows(): Awaitable<readonly ShadowState[]>
}

/** A subject and a cost. */
export interface CheckRequest {
  readonly subject: Attributes
  readonly cost: number
  /** Attributes that no rule names are ignored instead of refused, because a proxy sends all that it knows. */
  readonly isLenient?: boolean
}

/** A limit as its rules describe it. */
export interface LimitDescription {
  readonly limit: string
  /** The attributes that tell callers apart. If empty, all callers are counted together. */
  readonly key: readonly string[]
  /** The limit applies if each of these attributes has one of its values. */
  readonly when: Readonly<Record<string, readonly string[]>>
  /** The attribute that chooses among plans. */
  readonly by?: string
  /** What a request costs, or the attribute that says it. */
  readonly cost?: number | string
  /** The policy in words, or one for each plan if the limit has plans. */
  readonly policy: string | Readonly<Record<string, string>>
  readonly mode: LimitMode
}

export interface ModeOfLimit {
  readonly limit: string
  readonly mode: LimitMode
}

/** The actual cost: one for all limits that the call's cost counts for, or one by the name of each limit. */
export type Actual = number | Readonly<Record<string, number>>

export interface Block {
  /** The limit that refuses. May be missing if the rules have only one limit. */
  readonly limit?: string
  /** For how long, as `15m`. */
  readonly for: Duration
}

export interface Reserved {
  readonly decision: DecisionJson
  /** The id that settles the reservation, which cannot be guessed. Undefined if the reservation was refused. */
  readonly id: string | undefined
}
