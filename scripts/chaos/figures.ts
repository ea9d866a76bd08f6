import { StoreUnavailable } from 'sluice'
import type { RedisStats } from 'sluice/redis'
import { type Bound, boundOf } from './bound.ts'
import type { Entry } from './journal.ts'
import type { Run } from './run.ts'

/** The figures of one fault. */
export interface Figures {
  readonly decisions: number
  /** How many decisions `onOutage` made. */
  readonly degraded: number
  readonly errors: number
  readonly bound: Bound
  /**
   * The 99th percentile of decision times: before the fault, during it while the breaker was closed, and once it was
   * open.
   */
  readonly p99Ms: Readonly<Record<'calm' | 'first' | 'open', number | undefined>>
  /** From the fault until the breaker was open; undefined if it never was. */
  readonly openedMs: number | undefined
  /** The longest time in which this process did not run at all, which no store causes. */
  readonly stallMs: number
  /** From the store's return to its first decision, and how much of that the client needed to connect. */
  readonly recoveryMs: number
  readonly reconnectMs: number
  /** Charges in the store that no caller was told of; below 0 if the store lost some that callers were told of. */
  readonly late: number
  /** How often each kind of event was reported, and the codes of the errors given as reasons. */
  readonly events: Readonly<Record<string, number>>
  readonly reasons: readonly string[]
  readonly stats: RedisStats
}

export function figuresOf(run: Run): Figures {
  const { plenty, scarce, warmAt, faultAt, backAt, overAt, readyAt } = run
  const entries = [...plenty.entries, ...scarce.entries]
  const healed = plenty.entries.find(({ askedAt, degraded }) => askedAt >= backAt && degraded === false)!
  const healedAt = healed.askedAt + healed.ms
  // Including those under way when it happened.
  const hit = plenty.entries.filter(({ askedAt, ms }) => askedAt + ms >= faultAt && askedAt < healedAt)
  const isOpen = openness(run)
  // A busy machine may be late once more while the load ends; then no decision follows that would report the recovery.
  const told = run.told.filter(({ at }) => at <= overAt)
  return {
    decisions: entries.length,
    degraded: entries.filter(({ askedAt, ms, degraded }) => degraded !== false && askedAt + ms <= overAt).length,
    errors: plenty.errors.length + scarce.errors.length,
    bound: boundOf(run),
    p99Ms: {
      calm: p99(plenty.entries.filter(({ askedAt, ms }) => askedAt >= warmAt && askedAt + ms < faultAt)),
      first: p99(hit.filter(({ askedAt }) => !isOpen(askedAt))),
      open: p99(hit.filter(({ askedAt }) => isOpen(askedAt))),
    },
    openedMs: openedAfter(run),
    stallMs: run.stallMs,
    recoveryMs: healedAt - backAt,
    reconnectMs: Math.max(0, readyAt - backAt),
    late: run.counted - remembered(run),
    events: countBy(told.map(({ event }) => event.type)),
    reasons: [...new Set(told.flatMap(({ event }) => ('error' in event ? [codeOf(event.error)] : [])))],
    stats: run.stats,
  }
}

/** Admissions by the store that it should still know. */
function remembered({ scenario, plenty, forgottenAt }: Run): number {
  const since = scenario.forgetful ? 0 : (forgottenAt.at(-1) ?? 0)
  return plenty.entries.filter(({ allowed, degraded, at }) => allowed && degraded === false && at >= since).length
}

function openedAfter(run: Run): number | undefined {
  if (openness(run)(run.faultAt)) return 0
  const opened = run.told.find(({ at, event }) => at > run.faultAt && event.type === 'outage')
  return opened && opened.at - run.faultAt
}

/** Whether the events say that the breaker was open at a time. */
function openness({ told }: Run): (at: number) => boolean {
  const changes = told.filter(({ event }) => event.type === 'outage' || event.type === 'recovered')
  return at => changes.findLast(change => change.at <= at)?.event.type === 'outage'
}

function p99(entries: readonly Entry[]): number | undefined {
  const sorted = entries.map(({ ms }) => ms).sort((a, b) => a - b)
  return sorted[Math.floor(0.99 * sorted.length)]
}

function codeOf(error: unknown): string {
  return error instanceof StoreUnavailable ? error.code : String(error)
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
