import { calendarWindow } from '../calendar.ts'
import type { Rate } from '../duration.ts'
import type { FixedWindowPolicy, Policy, SlidingWindowPolicy } from '../policy.ts'

export interface Admitted {
  /** The tick of the admission. Admissions are in order of time. */
  readonly at: number
  readonly cost: number
}

/**
 * Checks the envelope of a policy, the most that it may admit in any span of time. It reads only the list of
 * admissions, so it does not depend on how a store decides. Returns the violation, if there is one. Leave credits and
 * resets out of the trace, because they admit more on purpose. `phase` is where the windows of `align: 'key'` start, in
 * ticks.
 */
export function envelopeViolation(
  policy: Policy,
  admissions: readonly Admitted[],
  { phase = 0 }: { phase?: number } = {},
): string | undefined {
  for (const [j, { at }] of admissions.entries()) {
    const before = admissions[j - 1]
    if (before && at < before.at) return `admission ${j} at ${at} is earlier than the one before it at ${before.at}`
  }
  switch (policy.kind) {
    case 'tokenBucket':
      return bucketViolation(admissions, policy.capacity, policy.refill)
    case 'leakyBucket':
      return bucketViolation(admissions, policy.capacity, policy.leak)
    case 'gcra':
      return bucketViolation(admissions, policy.burst, policy.rate)
    case 'fixedWindow':
      return fixedWindowViolation(admissions, policy, phase)
    case 'slidingWindow':
      return slidingWindowViolation(admissions, policy)
    case 'slidingLog': {
      const window = ticks(policy.windowMs)
      return spanViolation(admissions, policy.limit, span => span < window, `[t, t + ${window})`)
    }
    case 'concurrency':
      // The cost held at any time depends on releases, which are not in this list.
      return undefined
  }
}

/**
 * Checks cost[i] + … + cost[j] ≤ capacity + rate × (t[j] − t[i]) for all i ≤ j, multiplied by the period. With the
 * running sum S this is (S[j] − rate·t[j]) − (S[i−1] − rate·t[i]) ≤ capacity. So for each j it compares only with the
 * smallest S[i−1] − rate·t[i] so far.
 */
function bucketViolation(admissions: readonly Admitted[], capacity: number, rate: Rate): string | undefined {
  const period = BigInt(ticks(rate.periodMs))
  const count = BigInt(rate.count)
  let sum = 0n
  let smallest: { part: bigint; at: number; before: bigint } | undefined
  for (const { at, cost } of admissions) {
    const drained = count * BigInt(at)
    const part = sum * period - drained
    if (!smallest || part < smallest.part) smallest = { part, at, before: sum }
    sum += BigInt(cost)
    if (sum * period - drained - smallest.part > BigInt(capacity) * period) {
      const refilled = Number(count * BigInt(at - smallest.at)) / Number(period)
      return `${sum - smallest.before} in [${smallest.at}, ${at}], over ${capacity} + ${refilled} refilled`
    }
  }
  return undefined
}

/** Checks that admissions in any one span cost at most `limit`. `together` says whether a distance fits in one span. */
function spanViolation(
  admissions: readonly Admitted[],
  limit: number,
  together: (span: number) => boolean,
  what: string,
): string | undefined {
  let first = 0
  let sum = 0n
  for (const { at, cost } of admissions) {
    sum += BigInt(cost)
    for (let oldest = admissions[first]!; !together(at - oldest.at); oldest = admissions[first]!) {
      sum -= BigInt(oldest.cost)
      first++
    }
    if (sum > BigInt(limit)) return `${sum} in [${admissions[first]!.at}, ${at}], over ${limit} in ${what}`
  }
  return undefined
}

/** Checks that admissions in each window cost at most `limit`. `windowAt` returns the half-open window of a tick. */
function windowViolation(
  admissions: readonly Admitted[],
  limit: number,
  windowAt: (at: number) => { start: number; end: number },
): string | undefined {
  let window = { start: -Infinity, end: -Infinity }
  let sum = 0n
  for (const { at, cost } of admissions) {
    if (at >= window.end) {
      window = windowAt(at)
      sum = 0n
    }
    sum += BigInt(cost)
    if (sum > BigInt(limit)) return `${sum} in the window [${window.start}, ${window.end}), over ${limit}`
  }
  return undefined
}

function fixedWindowViolation(admissions: readonly Admitted[], policy: FixedWindowPolicy, phase: number) {
  const { limit, align } = policy
  const window = ticks(policy.windowMs)
  // A span as long as a window touches at most two windows. With 'first' this is all that can be checked, because the
  // list does not show where windows start.
  const inAnySpan = () => spanViolation(admissions, 2 * limit, span => span < window, `[t, t + ${window})`)
  if (align === 'first') return inAnySpan()
  if (align === 'epoch' || align === 'key') {
    const from = align === 'key' ? phase : 0
    return windowViolation(admissions, limit, at => alignedWindow(at, window, from)) ?? inAnySpan()
  }
  // Calendar windows differ in length. Twice the limit in two neighbouring windows follows from the check of each.
  return windowViolation(admissions, limit, at => {
    const { start, end } = calendarWindow(align, policy.timeZone ?? 'UTC', Math.floor(at / 1000))
    return { start: ticks(start), end: ticks(end) }
  })
}

/**
 * The newest k sub-windows are counted in full, so any k neighbours hold at most `limit`. A span of window − sub, both
 * ends included, touches at most k sub-windows, so it holds at most `limit`. A span of a whole window touches k + 1, so
 * it holds at most twice the limit, and may come near that. With k = 1 the first span is a single tick, and the second
 * bound is the useful one.
 */
function slidingWindowViolation(admissions: readonly Admitted[], { limit, windowMs, buckets }: SlidingWindowPolicy) {
  const window = ticks(windowMs)
  const sub = window / buckets
  const full = window - sub
  const neighbours = () => {
    for (let shift = 0; shift < buckets; shift++) {
      const found = windowViolation(admissions, limit, at => alignedWindow(at, window, shift * sub))
      if (found) return found
    }
    return undefined
  }
  return (
    spanViolation(admissions, limit, span => span <= full, `[t, t + ${full}]`) ??
    spanViolation(admissions, 2 * limit, span => span < window, `[t, t + ${window})`) ??
    neighbours()
  )
}

function alignedWindow(at: number, length: number, phase: number): { start: number; end: number } {
  const since = (((at - phase) % length) + length) % length
  return { start: at - since, end: at - since + length }
}

const ticks = (ms: number): number => Math.round(ms * 1000)
