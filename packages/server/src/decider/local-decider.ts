import {
  type Decision,
  type DecisionJson,
  type LimitMode,
  type Settlement,
  type ShadowState,
  SluiceError,
  type Store,
} from 'sluice'
import {
  type Attributes,
  type Explanation,
  type Rls,
  type RlsOptions,
  type RlsResponse,
  type RulesLimiter,
  rls,
  rulesLimiter,
} from 'sluice/rules'
import type { Awaitable } from '../awaitable.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Throttle } from '../resp/throttle/throttle.ts'
import { GrpcError } from '../rls/grpc/grpc-status.ts'
import type { RateLimitRequest, RateLimitResponse } from '../rls/service.ts'
import type { Actual, Block, CheckRequest, Decider, Reserved } from './decider.ts'
import { answerOf, questionOf, told } from './descriptors.ts'
import { HeldReservations, type Reservations, SealedReservations } from './reservations.ts'

/** What was read from files: our own rules, and those for envoyproxy/ratelimit. */
export interface ParsedRules {
  readonly own: unknown
  readonly envoy: readonly unknown[]
}

export interface LocalOptions extends Pick<RlsOptions, 'counting' | 'shadow'> {
  readonly store: Store
  readonly throttle: Throttle
  readonly metrics: Metrics
  readonly onEvent: NonNullable<RlsOptions['onEvent']>
  /** Seals the ids of reservations in a store that processes share. */
  readonly secret: string
}

/** Of a reservation that passed, where this process keeps too many: some expire every second. */
const NO_ROOM: Partial<DecisionJson> = { allowed: false, reason: 'too-many-holds', retryAfterMs: 1000 }

type ServedRules = RulesLimiter<'sync' | 'async'>

/** Decides in this process. State lives in the store, so that rules can be changed under it. */
export class LocalDecider implements Decider {
  readonly throttle: Throttle
  private readonly options: LocalOptions
  private readonly reservations: Reservations
  private rules: ServedRules | undefined
  private descriptors: Rls | undefined

  constructor(options: LocalOptions) {
    this.options = options
    this.throttle = options.throttle
    this.reservations =
      options.store.mode === 'sync'
        ? new HeldReservations(options.store.clock)
        : new SealedReservations(options.secret, saved => this.loaded.limiter.resume(saved))
  }

  /** Takes rules up, or throws `RulesError` and keeps those it has. */
  use({ own, envoy }: ParsedRules): void {
    const { store, onEvent, counting, shadow, metrics } = this.options
    const rules = own === undefined ? undefined : rulesLimiter<'sync' | 'async'>(own, { store, onEvent })
    const onDecision: RlsOptions['onDecision'] = response => metrics.descriptors(response)
    const options = { store, onEvent, onDecision, ...(counting && { counting }), ...(shadow && { shadow }) }
    const descriptors = envoy.length === 0 ? undefined : rls(envoy, options)
    this.rules = rules
    this.descriptors = descriptors
  }

  check({ subject, cost }: CheckRequest): Awaitable<DecisionJson> {
    const startedAt = performance.now()
    const { limiter } = this.loaded
    // A cost of 1 is what limiters are fastest at, where nobody says it.
    const decision = cost === 1 ? limiter.consume(subject) : limiter.consume(subject, { cost })
    if (decision instanceof Promise) return decision.then(made => this.told(made, startedAt))
    return this.told(decision, startedAt)
  }

  peek({ subject, cost }: CheckRequest): Awaitable<DecisionJson> {
    return jsonOf(this.loaded.limiter.peek(subject, { cost }))
  }

  refund({ subject, cost }: CheckRequest): Awaitable<void> {
    return this.loaded.limiter.refund(subject, { cost })
  }

  reset(subject: Attributes, limits: readonly string[] | undefined): Awaitable<void> {
    return this.loaded.limiter.reset(subject, limits === undefined ? {} : { limits })
  }

  block(subject: Attributes, options: Block): Awaitable<void> {
    return this.loaded.limiter.block(subject, options)
  }

  reserve({ subject, cost }: CheckRequest, ttlMs: number): Awaitable<Reserved> {
    const startedAt = performance.now()
    const reserved = this.loaded.limiter.reserve(subject, { cost, ttl: ttlMs })
    const keep = (held: Awaited<typeof reserved>): Reserved => {
      const id = held.allowed ? this.reservations.keep(held, ttlMs, cost === 0) : undefined
      if (id !== undefined || !held.allowed) return { decision: this.told(held.decision, startedAt), id }
      held.cancel()
      return { decision: this.told(held.decision, startedAt, NO_ROOM), id }
    }
    return reserved instanceof Promise ? reserved.then(keep) : keep(reserved)
  }

  settle(id: string, actual: Actual | undefined): Awaitable<Settlement | undefined> {
    return this.reservations.end(id, held => (actual === undefined ? held.cancel() : held.settle(actual)))
  }

  explain({ subject, cost }: CheckRequest): readonly Explanation[] {
    return this.loaded.explain(subject, { cost })
  }

  setMode(limit: string, mode: LimitMode): void {
    this.loaded.setMode(limit, mode)
  }

  shadows(): readonly ShadowState[] {
    return this.rules?.limiter.shadows() ?? []
  }

  shouldRateLimit(request: RateLimitRequest): Awaitable<RateLimitResponse> {
    if (this.descriptors === undefined) throw new GrpcError('UNAVAILABLE', 'no rules are loaded: start with --envoy')
    const startedAt = performance.now()
    const answered = (response: RlsResponse) => {
      this.options.metrics.took((performance.now() - startedAt) / 1000)
      return answerOf(response)
    }
    const failed = (error: unknown): never => {
      throw told(error)
    }
    try {
      const answer = this.descriptors.shouldRateLimit(questionOf(request))
      return answer instanceof Promise ? answer.then(answered, failed) : answered(answer)
    } catch (error) {
      return failed(error)
    }
  }

  private told(decision: Decision, startedAt: number, instead: Partial<DecisionJson> = {}): DecisionJson {
    const { metrics } = this.options
    metrics.took((performance.now() - startedAt) / 1000)
    const json = { ...decision.toJSON(), ...instead }
    metrics.decided(json)
    return json
  }

  private get loaded(): ServedRules {
    if (this.rules !== undefined) return this.rules
    throw new SluiceError(
      'SLUICE_NOT_SUPPORTED',
      'expected a rules file of our own to decide by, got none: start with one',
    )
  }
}

function jsonOf(decision: Awaitable<Decision>): Awaitable<DecisionJson> {
  return decision instanceof Promise ? decision.then(made => made.toJSON()) : decision.toJSON()
}
