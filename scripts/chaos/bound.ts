import type { Policy } from 'sluice'
import { envelopeViolation } from 'sluice/testing'
import type { Entry } from './journal.ts'
import type { Run } from './run.ts'
import type { Scarce } from './scenario.ts'

/** The admissions of a scarce limit, and how many it may admit. */
export interface Bound {
  readonly byStore: number
  /** The limit's own promise for the time it was asked, plus one burst for each time the store lost its counts. */
  readonly promised: number
  readonly byOutage: number
  /** What `onOutage` may add: this process's share of the limit, everything that was asked for, or nothing. */
  readonly added: number
  /** How the store's admissions, or this process's own, break law 4. */
  readonly violation: string | undefined
}

export function boundOf(run: Pick<Run, 'scenario' | 'scarce' | 'forgottenAt' | 'driftMs'>): Bound {
  const { scenario, scarce, forgottenAt } = run
  const limit = scenario.scarce
  const ofStore = scarce.entries.filter(({ degraded }) => degraded === false)
  const ofOutage = scarce.entries.filter(({ degraded }) => degraded !== false)
  const added = {
    local: ofOutage.length === 0 ? 0 : promiseOf(half(limit), secondsOf(ofOutage, run.driftMs)),
    open: ofOutage.length,
    closed: 0,
  }
  return {
    byStore: ofStore.filter(isAllowed).length,
    promised: promiseOf(limit, secondsOf(scarce.entries, run.driftMs), forgottenAt.length),
    byOutage: ofOutage.filter(isAllowed).length,
    added: added[scenario.onOutage],
    violation: limit.subjects === 1 ? lawBroken(limit, scarce.entries.filter(isAllowed), forgottenAt) : undefined,
  }
}

function isAllowed({ allowed }: Entry): boolean {
  return allowed
}

function promiseOf({ policy, subjects }: Scarce, seconds: number, forgotten = 0): number {
  if (policy.kind === 'fixedWindow') return policy.limit * subjects * (1 + forgotten)
  const { capacity, refill } = policy
  return Math.floor(capacity * (1 + forgotten) + (refill.count * 1000 * seconds) / refill.periodMs) * subjects
}

/** By the clock of the callers, because the store's clock may be wrong. */
function secondsOf(entries: readonly Entry[], driftMs: number): number {
  const from = entries.reduce((least, { askedAt }) => Math.min(least, askedAt), Infinity)
  const to = entries.reduce((most, { askedAt, ms }) => Math.max(most, askedAt + ms), -Infinity)
  return (to - from + driftMs) / 1000
}

/** What a process enforces by itself: half of the limit, rounded up. */
function half({ policy, subjects }: Scarce): Scarce {
  if (policy.kind === 'fixedWindow') return { policy: { ...policy, limit: Math.ceil(policy.limit / 2) }, subjects }
  const refill = { ...policy.refill, periodMs: policy.refill.periodMs * 2 }
  return { policy: { ...policy, capacity: Math.ceil(policy.capacity / 2), refill }, subjects }
}

/** Law 4 holds for the store between two losses of its counts, and for this process throughout. */
function lawBroken(limit: Scarce, admitted: readonly Entry[], forgottenAt: readonly number[]): string | undefined {
  const starts = [-Infinity, ...forgottenAt]
  for (const [i, start] of starts.entries()) {
    const end = starts[i + 1] ?? Infinity
    const lived = ({ degraded, at }: Entry) => degraded === false && at >= start && at < end
    const found = violationIn(limit.policy, admitted.filter(lived))
    if (found !== undefined) return `the store let through ${found}`
  }
  const found = violationIn(
    half(limit).policy,
    admitted.filter(({ degraded }) => degraded === 'local'),
  )
  return found && `on its own the process let through ${found}`
}

function violationIn(policy: Policy, entries: readonly Entry[]): string | undefined {
  const ticks = entries.map(({ at }) => Math.round(at * 1000)).sort((a, b) => a - b)
  return envelopeViolation(
    policy,
    ticks.map(at => ({ at, cost: 1 })),
  )
}
