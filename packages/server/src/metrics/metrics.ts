import type { DecisionJson, ShadowState } from 'sluice'
import type { CountedHits, RlsResponse } from 'sluice/rules'
import { labels, metric } from './prometheus-text.ts'

/** Histogram buckets in seconds, from the time of a decision in memory to the longest wait for a decision. */
const BOUNDS = [0.000_05, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, Infinity] as const
const DURATION = 'ratelimit_check_duration_seconds'

/** Rules for Envoy may have values of requests in their names (`detailed_metric`), so their number must be bounded. */
const MOST_POLICIES = 10_000
const OTHERS = 'others'

/** What was added to each series since the counts were last taken. The key is the name of the series with its labels. */
export type Counts = readonly (readonly [series: string, added: number])[]

/** Values that are read when Prometheus asks, instead of being counted as they happen. */
export interface Readings {
  readonly activeKeys: number
  /** Reservations held. */
  readonly holds: number
  readonly overflowed: number
  readonly breakerOpen: boolean
  readonly shadows: readonly ShadowState[]
}

/** Every metric that is not a reading: its name and its description. */
const COUNTERS: Readonly<Record<string, string>> = {
  ratelimit_decisions_total: 'Decisions, by the binding limit.',
  ratelimit_store_errors_total: 'Outages of the store.',
  sluice_requests_total: 'Questions, by the door they came in.',
  sluice_unmatched_total: 'Requests of Envoy that no rule could match.',
  sluice_rules_reloads_total: 'Reloads of the rules.',
}

/** By descriptor and in hits, as envoyproxy/ratelimit counts for its own exporter. */
const ENVOY_STATS: Readonly<Record<string, string>> = {
  total_hits: 'All hits, allowed or not.',
  over_limit: 'Hits that were over the limit.',
  near_limit: 'Hits within the limit, above four fifths of it.',
  over_limit_with_local_cache: 'Always 0: a refusal that needs no store is in over_limit.',
  within_limit: 'Hits within the limit.',
  shadow_mode: 'Hits over the limit of a rule in shadow mode.',
}
const ENVOY_PREFIX = 'ratelimit_service_rate_limit_'
const NEAR_RATIO = 0.8

const DOORS = ['http', 'decide', 'grpc', 'resp'] as const

/** The metrics for Prometheus. No label contains a key: there is one series for each limit, not for each caller. */
export class Metrics {
  private readonly totals = new Map<string, number>()
  /** Counts that are not in `totals` yet. Labels are written once for each limit and outcome, not for each decision. */
  private readonly decisions = new Map<string, number[]>()
  /** The labels of a rule, written out once. */
  private readonly envoyLabels = new WeakMap<CountedHits['path'], string>()
  private readonly doors = new Map<string, number>(DOORS.map(door => [door, 0]))
  private readonly ofResp = { commands: 0, allowed: 0, limited: 0 }
  private readonly durations = new Array<number>(BOUNDS.length + 1).fill(0)

  decided({ policy, allowed, degraded, limits }: DecisionJson): void {
    this.count(policy, (allowed ? 0 : 1) + 2 * OUTCOMES.indexOf(degraded === false ? 'ok' : WORDS[degraded]))
    for (const { name, shadow, allowed: passes } of limits) {
      if (shadow) this.count(name, (passes ? 0 : 1) + 2 * OUTCOMES.indexOf('shadow'))
    }
  }

  /** Counts each of Envoy's descriptors that a rule counted. */
  descriptors({ statuses, degraded }: RlsResponse): void {
    const outcome = degraded === false ? 'ok' : WORDS[degraded]
    for (const { rule, code, over } of statuses) {
      if (rule === undefined) continue
      const isShadow = over === true && code === 'OK'
      this.count(rule, (over === true ? 1 : 0) + 2 * OUTCOMES.indexOf(isShadow ? 'shadow' : outcome))
    }
  }

  /** Counts Envoy's descriptors once more, as envoyproxy/ratelimit does. */
  envoy({ path, hits, over, shadow, limit, remaining }: CountedHits): void {
    let series = this.envoyLabels.get(path)
    if (series === undefined) {
      const [domain, ...keys] = path
      series = labels({ domain: domain!, ...Object.fromEntries(keys.map((key, i) => [`key${i + 1}`, key])) })
      this.envoyLabels.set(path, series)
    }
    const near = Math.max(0, limit - remaining - Math.floor(NEAR_RATIO * limit))
    const counted: Readonly<Record<string, number>> = {
      total_hits: hits,
      over_limit: over ? hits : 0,
      near_limit: over ? 0 : Math.min(hits, near),
      within_limit: over ? 0 : hits,
      shadow_mode: over && shadow ? hits : 0,
    }
    for (const name in ENVOY_STATS) this.put(`${ENVOY_PREFIX}${name}${series}`, counted[name] ?? 0)
  }

  storeError(store: string, error: string): void {
    this.add(`ratelimit_store_errors_total${labels({ store, error })}`, 1)
  }

  asked(door: (typeof DOORS)[number]): void {
    this.doors.set(door, (this.doors.get(door) ?? 0) + 1)
  }

  /** Counts a request of Envoy whose domain is in no file. */
  domainNotFound(): void {
    this.add(`sluice_unmatched_total${labels({ reason: 'domain_not_found' })}`, 1)
  }

  reloaded(result: 'ok' | 'refused'): void {
    this.add(`sluice_rules_reloads_total${labels({ result })}`, 1)
  }

  /** Adds the counts that CL.THROTTLE keeps itself since it was opened. */
  resp({ commands, allowed, limited }: Readonly<Record<'commands' | 'allowed' | 'limited', number>>): void {
    const added = (name: keyof typeof this.ofResp, total: number) => {
      const more = total - this.ofResp[name]
      this.ofResp[name] = total
      return more
    }
    const policy = 'cl.throttle'
    const decided = (decision: string) => `ratelimit_decisions_total${labels({ policy, decision, outcome: 'ok' })}`
    this.add(requests('resp'), added('commands', commands))
    this.add(decided('allowed'), added('allowed', allowed))
    this.add(decided('refused'), added('limited', limited))
  }

  took(seconds: number): void {
    let bucket = 0
    while (seconds > BOUNDS[bucket]!) bucket++
    this.durations[bucket]!++
    this.durations[BOUNDS.length]! += seconds
  }

  /** Takes the counts since the last time, for the process that answers Prometheus. */
  take(): Counts {
    this.writeOut()
    const counts = [...this.totals]
    this.totals.clear()
    return counts
  }

  merge(counts: Counts): void {
    for (const [series, added] of counts) this.put(series, added)
  }

  text({ activeKeys, holds, overflowed, breakerOpen, shadows }: Readings): string {
    this.writeOut()
    // These series exist from the start, so that Prometheus sees a rate from the first request.
    for (const door of DOORS) this.totals.set(requests(door), this.totals.get(requests(door)) ?? 0)
    const seriesOf = (name: string) => [...this.totals].filter(([series]) => series.startsWith(`${name}{`))
    const lines = Object.entries(COUNTERS).flatMap(([name, help]) => metric(name, 'counter', help, seriesOf(name)))
    const envoy = Object.entries(ENVOY_STATS).flatMap(([name, help]) => {
      const series = seriesOf(ENVOY_PREFIX + name)
      return series.length === 0 ? [] : metric(ENVOY_PREFIX + name, 'counter', help, series)
    })
    const divergence = shadows.flatMap(({ limit: policy, newlyRefused, newlyAllowed }) => [
      [labels({ policy, from: 'allowed', to: 'refused' }), newlyRefused] as const,
      [labels({ policy, from: 'refused', to: 'allowed' }), newlyAllowed] as const,
    ])
    const plain = (name: string, type: string, help: string, value: number) => metric(name, type, help, [[name, value]])
    return [
      ...lines,
      ...envoy,
      ...this.histogram(),
      ...plain('ratelimit_breaker_state', 'gauge', 'Whether the store is given up for now.', Number(breakerOpen)),
      ...plain('ratelimit_active_keys', 'gauge', 'Keys with state in this process.', activeKeys),
      ...plain('ratelimit_held_reservations', 'gauge', 'Reservations held in this process.', holds),
      ...plain('ratelimit_overflow_keys_total', 'counter', 'Decisions on shared state, for want of room.', overflowed),
      ...metric(
        'ratelimit_shadow_divergence_total',
        'counter',
        'What enforcing a shadow would change.',
        divergence.map(([label, value]) => [`ratelimit_shadow_divergence_total${label}`, value]),
      ),
      '',
    ].join('\n')
  }

  private count(policy: string, cell: number): void {
    this.cellsOf(policy)[cell]!++
  }

  private cellsOf(policy: string): number[] {
    const known = this.decisions.get(policy)
    if (known !== undefined) return known
    if (this.decisions.size >= MOST_POLICIES && policy !== OTHERS) return this.cellsOf(OTHERS)
    const cells = new Array<number>(2 * OUTCOMES.length).fill(0)
    this.decisions.set(policy, cells)
    return cells
  }

  private writeOut(): void {
    for (const [policy, cells] of this.decisions) {
      for (const [cell, count] of cells.entries()) {
        if (count === 0) continue
        const decision = cell % 2 === 0 ? 'allowed' : 'refused'
        const outcome = OUTCOMES[cell >> 1]!
        this.add(`ratelimit_decisions_total${labels({ policy: policy || 'none', decision, outcome })}`, count)
        cells[cell] = 0
      }
    }
    for (const [door, count] of this.doors) {
      this.add(requests(door), count)
      this.doors.set(door, 0)
    }
    for (const [i, count] of this.durations.entries()) {
      if (count > 0) this.add(`${DURATION} ${i}`, count)
      this.durations[i] = 0
    }
  }

  private add(series: string, added: number): void {
    if (added > 0) this.put(series, added)
  }

  private put(series: string, added: number): void {
    this.totals.set(series, (this.totals.get(series) ?? 0) + added)
  }

  private histogram(): string[] {
    let total = 0
    const buckets = BOUNDS.map((bound, i) => {
      total += this.totals.get(`${DURATION} ${i}`) ?? 0
      return [`${DURATION}_bucket{le="${bound === Infinity ? '+Inf' : bound}"}`, total] as const
    })
    const seconds = this.totals.get(`${DURATION} ${BOUNDS.length}`) ?? 0
    return metric(DURATION, 'histogram', 'From a question to its answer.', [
      ...buckets,
      [`${DURATION}_sum`, seconds],
      [`${DURATION}_count`, total],
    ])
  }
}

function requests(door: string): string {
  return `sluice_requests_total${labels({ door })}`
}

const OUTCOMES = ['ok', 'fail_open', 'fail_closed', 'local', 'shadow'] as const
const WORDS = { open: 'fail_open', closed: 'fail_closed', local: 'local' } as const
