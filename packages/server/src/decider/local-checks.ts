import type { Clock, Decision, DecisionJson, Settlement } from 'sluice'
import { type Attributes, type Explanation, isPlans, policyWords } from 'sluice/rules'
import { type Awaitable, andThen } from '../awaitable.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { CurrentRules } from './current-rules.ts'
import type { Actual, CheckRequest, Checks, LimitDescription, Reserved } from './decider.ts'
import type { Reservations } from './reservations.ts'
import { type Listed, SubjectLists } from './subject-lists.ts'

/** Refuses a reservation when this process holds too many. Some expire every second, so a retry may pass. */
const NO_ROOM: Partial<DecisionJson> = { allowed: false, reason: 'too-many-holds', retryAfterMs: 1000 }

/** The id of all reservations for subjects that no limit counts: they reserve nothing. */
const EXEMPT = 'exempt'
const NOTHING_HELD: Settlement = { reserved: 0, charged: 0, overdrawn: false }

export interface ChecksOptions {
  readonly store: { readonly clock: Clock }
  readonly metrics: Metrics
  /** Called with the attribute names of a check that no limit applied to. */
  readonly onNothingApplied: (attributes: readonly string[]) => void
}

export class LocalChecks implements Checks {
  private readonly rules: CurrentRules
  private readonly reservations: Reservations
  private readonly metrics: Metrics
  private readonly clock: Clock
  private readonly onNothingApplied: ChecksOptions['onNothingApplied']

  constructor(rules: CurrentRules, reservations: Reservations, { metrics, store, onNothingApplied }: ChecksOptions) {
    this.clock = store.clock
    this.onNothingApplied = onNothingApplied
    this.rules = rules
    this.reservations = reservations
    this.metrics = metrics
  }

  check(request: CheckRequest): Awaitable<DecisionJson> {
    const startedAt = performance.now()
    const { subject, cost } = request
    const { limiter } = this.rules.for(request)
    const listed = this.rules.listed(subject)
    if (listed !== undefined) return this.countListed(listed, startedAt)
    // `consume` is fastest without options, and its default cost is 1.
    const decision = cost === 1 ? limiter.consume(subject) : limiter.consume(subject, { cost })
    if (decision instanceof Promise) return decision.then(made => this.count(made, subject, startedAt))
    return this.count(decision, subject, startedAt)
  }

  peek(request: CheckRequest): Awaitable<DecisionJson> {
    const { subject, cost } = request
    const { limiter } = this.rules.for(request)
    const listed = this.rules.listed(subject)
    if (listed !== undefined) return this.decisionBy(listed)
    return andThen(limiter.peek(subject, { cost }), decision => decision.toJSON())
  }

  reserve(request: CheckRequest, ttlMs: number): Awaitable<Reserved> {
    const startedAt = performance.now()
    const { subject, cost } = request
    const { limiter } = this.rules.for(request)
    const listed = this.rules.listed(subject)
    if (listed !== undefined) {
      const decision = this.countListed(listed, startedAt)
      return { decision, id: decision.allowed ? EXEMPT : undefined }
    }
    return andThen(limiter.reserve(subject, { cost, ttl: `${ttlMs}ms` }), (held): Reserved => {
      const id = held.allowed ? this.reservations.keep(held, ttlMs, cost === 0) : undefined
      if (id !== undefined || !held.allowed) return { decision: this.count(held.decision, subject, startedAt), id }
      held.cancel()
      return { decision: this.count(held.decision, subject, startedAt, NO_ROOM), id }
    })
  }

  settle(id: string, actual: Actual | undefined): Awaitable<Settlement | undefined> {
    if (id === EXEMPT) return NOTHING_HELD
    return this.reservations.end(id, held => (actual === undefined ? held.cancel() : held.settle(actual)))
  }

  explain(request: CheckRequest): readonly Explanation[] {
    const { rules, explain } = this.rules.for(request)
    const { subject, cost } = request
    return new SubjectLists(rules).explain(subject) ?? explain(subject, { cost })
  }

  limits(): readonly LimitDescription[] {
    const { rules, modes } = this.rules.loaded
    return rules.limits.map(({ name, key, when, cost, policy }) => ({
      limit: name,
      key,
      when: Object.fromEntries(when.map(({ attribute, values }) => [attribute, values])),
      ...(isPlans(policy) && { by: policy.by }),
      ...(cost !== undefined && { cost }),
      policy: isPlans(policy)
        ? Object.fromEntries([...policy.policies].map(([plan, one]) => [plan, policyWords(one)]))
        : policyWords(policy),
      mode: modes.get(name)!,
    }))
  }

  private countListed(listed: Listed, startedAt: number): DecisionJson {
    this.metrics.took((performance.now() - startedAt) / 1000)
    const json = this.decisionBy(listed)
    this.metrics.decided(json)
    return json
  }

  /** The decision of a list. It has no numbers, since no limit was asked, and trying again later does not help. */
  private decisionBy({ list }: Listed): DecisionJson {
    const allowed = list === 'allow'
    const at = this.clock.now()
    return {
      ...{ allowed, reason: allowed ? 'exempt' : 'denied', policy: '', limit: null, remaining: null },
      ...{ at, resetAt: at, resetAfterMs: 0, retryAfterMs: allowed ? 0 : null, degraded: false, limits: [] },
    }
  }

  private count(
    decision: Decision,
    subject: Attributes,
    startedAt: number,
    instead: Partial<DecisionJson> = {},
  ): DecisionJson {
    this.metrics.took((performance.now() - startedAt) / 1000)
    if (decision.limits.length === 0) this.onNothingApplied(Object.keys(subject))
    const json = { ...decision.toJSON(), ...instead }
    this.metrics.decided(json)
    return json
  }
}
