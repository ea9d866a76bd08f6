import type { Rate } from '../duration.ts'
import type { Policy } from '../policy.ts'
import { limitOf } from './oracle/oracle.ts'
import { type Rhythm, rhythmOf } from './oracle/rhythm.ts'

/** One call on one key. For a refund, `of` is the index of the step that made the charge, refunded at most once. */
export interface Step {
  /** Ticks. */
  readonly at: number
  readonly op: 'consume' | 'peek' | 'refund' | 'credit' | 'reset'
  readonly cost: number
  readonly of?: number
}

export interface TraceOptions {
  /** Let time run backwards now and then. */
  readonly backwards?: boolean
  /** Where the windows of `align: 'key'` start, in ticks. */
  readonly phase?: number
}

export type Rng = () => number

/** Mulberry32 (Tommy Ettinger): 32 bits of state, uniform in [0, 1), the same everywhere for the same seed. */
export function random(seed: number): Rng {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export const DAY_MS = 86_400_000
export const KINDS = [
  'tokenBucket',
  'leakyBucket',
  'gcra',
  'fixedWindow',
  'slidingWindow',
  'slidingLog',
  'concurrency',
] as const satisfies readonly Policy['kind'][]
const ALIGNS = ['epoch', 'key', 'first', 'day', 'week', 'month'] as const
/** Zones of both hemispheres, one whose summer time is half an hour (Lord Howe), and one with an odd offset. */
const ZONES = ['UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu']
const LIMITS = [0, 1, 1, 2, 3, 5, 7, 10, 60, 100, 1000, 999_983, 2 ** 31, 2 ** 48]
const WINDOWS_MS = [1, 1.001, 7, 250, 1000, 1001, 60_000, 900_000, 3_600_000, DAY_MS, 30 * DAY_MS, 366 * DAY_MS]
const BUCKETS = [1, 1, 2, 3, 7, 10, 60, 256]
/** Rates with a whole interval, and rates whose interval is no whole number of ticks. */
const RATES: readonly (readonly [count: number, periodMs: number])[] = [
  [1, DAY_MS],
  [999_983, DAY_MS],
  [5000, 3_600_000],
  [100, 900_000],
  [1, 1000],
  [7, 1000],
  [10, 1000],
  [333_333, 1000],
  [999_983, 1000],
  [1_000_000, 1000],
]
/** The longest time in which a bucket of a random policy drains, half of what policies allow. */
const LONGEST_DRAIN_MS = 2 ** 48 / 1000
/** Traces end here (the year 2128), so that every reset stays an exact double. */
const LATEST = 5e15
const TODAY = 1.79e15

const below = (rng: Rng, n: number): number => Math.floor(rng() * n)
const pick = <T>(rng: Rng, from: readonly T[]): T => from[below(rng, from.length)]!
const ticks = (ms: number): number => Math.round(ms * 1000)

/** Any policy the constructors accept, as plain data: from 1 ms to 366 days, from 1/day to 1,000,000/s, limit 0 too. */
export function randomPolicy(rng: Rng, kind: Policy['kind'] = pick(rng, KINDS)): Policy {
  const limit = pick(rng, LIMITS)
  const windowMs = rng() < 0.7 ? pick(rng, WINDOWS_MS) : 1 + below(rng, 10 ** (1 + below(rng, 9)))
  const rate = randomRate(rng)
  const capacity = Math.min(limit, Math.floor((LONGEST_DRAIN_MS / rate.periodMs) * rate.count))
  switch (kind) {
    case 'tokenBucket':
      return { kind, capacity, refill: rate }
    case 'leakyBucket':
      return { kind, capacity, leak: rate }
    case 'gcra':
      return { kind, rate, burst: capacity }
    case 'fixedWindow': {
      const align = pick(rng, ALIGNS)
      if (align === 'epoch' || align === 'key' || align === 'first') return { kind, limit, windowMs, align }
      return { kind, limit, windowMs: 0, align, timeZone: pick(rng, ZONES) }
    }
    case 'slidingWindow': {
      const buckets = pick(rng, BUCKETS)
      return { kind, limit, windowMs, buckets: ticks(windowMs) % buckets === 0 ? buckets : 1 }
    }
    // A log keeps an entry for each unit and a semaphore a slot for each holder, so nobody makes them this large.
    case 'slidingLog':
      return { kind, limit: Math.min(limit, 1000), windowMs }
    case 'concurrency':
      return { kind, limit: Math.min(limit, 1000), ttlMs: windowMs }
  }
}

function randomRate(rng: Rng): Rate {
  const [count, periodMs] = rng() < 0.7 ? pick(rng, RATES) : [1 + below(rng, 1000), 1 + below(rng, DAY_MS)]
  return { count, periodMs }
}

/** With concurrency a refund stands for the release of that charge, and there are no credits. */
export function randomTrace(rng: Rng, policy: Policy, steps: number, options: TraceOptions = {}): Step[] {
  const limit = limitOf(policy)
  const rhythm = rhythmOf(policy, options.phase)
  const trace: Step[] = []
  // The steps whose charges can be refunded. A reset empties the list.
  let refundable: number[] = []
  let at = rng() < 0.8 ? TODAY + below(rng, 1e13) : below(rng, 3)
  let latest = at
  while (trace.length < steps) {
    if (options.backwards === true && rng() < 0.15) at = earlier(rng, rhythm, latest)
    else at = later(rng, rhythm, rng() < 0.5 ? at : latest, trace)
    latest = Math.max(latest, at)
    const cost = pick(rng, [0, 1, 1, 1, 1 + below(rng, 5), 1 + below(rng, limit), limit, limit + 1])
    const dice = rng()
    if (dice < 0.1 && refundable.length > 0) {
      const [of = 0] = refundable.splice(below(rng, refundable.length), 1)
      trace.push({ at, op: 'refund', cost: trace[of]!.cost, of })
    } else if (dice < 0.15 && policy.kind !== 'concurrency') {
      trace.push({ at, op: 'credit', cost })
    } else if (dice < 0.17) {
      trace.push({ at, op: 'reset', cost: 0 })
      refundable = []
    } else if (dice < 0.3) {
      trace.push({ at, op: 'peek', cost })
    } else {
      if (cost > 0) refundable.push(trace.length)
      trace.push({ at, op: 'consume', cost })
    }
  }
  return trace
}

function later(rng: Rng, { interval, window, edge }: Rhythm, at: number, trace: readonly Step[]): number {
  // A recent step: the window of a step long ago has no edge that still matters.
  const some = trace[trace.length - 1 - below(rng, Math.min(trace.length, 8))]?.at ?? at
  const next = pick(rng, [
    () => at,
    () => at,
    () => at + 1,
    () => at + Math.round(interval * (0.5 + rng())),
    () => at + interval,
    () => edge(at, some),
    () => edge(at, some) - 1,
    () => edge(at, some) + 1,
    () => at + below(rng, window),
    () => at + window,
    () => at + window * (2 + below(rng, 4)),
  ])()
  return next < at || next > LATEST ? at : next
}

function earlier(rng: Rng, { interval, window }: Rhythm, at: number): number {
  return Math.max(0, at - pick(rng, [1, interval, window, below(rng, window)]))
}
