import type { Decision, DecisionJson, Settlement } from 'sluice'
import type { Explanation } from 'sluice/rules'
import { type Awaitable, andThen } from '../awaitable.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { CurrentRules } from './current-rules.ts'
import type { Actual, CheckRequest, Checks, Reserved } from './decider.ts'
import type { Reservations } from './reservations.ts'

/** Of a reservation that passed, where this process keeps too many: some expire every second. */
const NO_ROOM: Partial<DecisionJson> = { allowed: false, reason: 'too-many-holds', retryAfterMs: 1000 }

export class LocalChecks implements Checks {
  private readonly rules: CurrentRules
  private readonly reservations: Reservations
  private readonly metrics: Metrics

  constructor(rules: CurrentRules, reservations: Reservations, metrics: Metrics) {
    this.rules = rules
    this.reservations = reservations
    this.metrics = metrics
  }

  check({ subject, cost }: CheckRequest): Awaitable<DecisionJson> {
    const startedAt = performance.now()
    const { limiter } = this.rules.loaded
    // Without options, `consume` is at its fastest: a cost of 1 need not be said.
    const decision = cost === 1 ? limiter.consume(subject) : limiter.consume(subject, { cost })
    if (decision instanceof Promise) return decision.then(made => this.count(made, startedAt))
    return this.count(decision, startedAt)
  }

  peek({ subject, cost }: CheckRequest): Awaitable<DecisionJson> {
    return andThen(this.rules.loaded.limiter.peek(subject, { cost }), decision => decision.toJSON())
  }

  reserve({ subject, cost }: CheckRequest, ttlMs: number): Awaitable<Reserved> {
    const startedAt = performance.now()
    return andThen(this.rules.loaded.limiter.reserve(subject, { cost, ttl: `${ttlMs}ms` }), (held): Reserved => {
      const id = held.allowed ? this.reservations.keep(held, ttlMs, cost === 0) : undefined
      if (id !== undefined || !held.allowed) return { decision: this.count(held.decision, startedAt), id }
      held.cancel()
      return { decision: this.count(held.decision, startedAt, NO_ROOM), id }
    })
  }

  settle(id: string, actual: Actual | undefined): Awaitable<Settlement | undefined> {
    return this.reservations.end(id, held => (actual === undefined ? held.cancel() : held.settle(actual)))
  }

  explain({ subject, cost }: CheckRequest): readonly Explanation[] {
    return this.rules.loaded.explain(subject, { cost })
  }

  private count(decision: Decision, startedAt: number, instead: Partial<DecisionJson> = {}): DecisionJson {
    this.metrics.took((performance.now() - startedAt) / 1000)
    const json = { ...decision.toJSON(), ...instead }
    this.metrics.decided(json)
    return json
  }
}
