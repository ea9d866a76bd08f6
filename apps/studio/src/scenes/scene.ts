import { createLimiter, type Decision, type Limiter, type Policy } from 'sluice'
import { type FakeClock, fakeClock } from 'sluice/testing'
import { EPOCH } from '../model/run.ts'

export interface Dot {
  readonly at: number
  readonly served: boolean
}

/** The result of one way of limiting. */
export interface Track {
  readonly label: string
  readonly note: string
  readonly dots: readonly Dot[]
}

export interface Figure {
  /** The name that tests use. */
  readonly id: string
  readonly label: string
  readonly value: number
  /** Figures of one unit are drawn to the same scale. */
  readonly unit?: 's' | 'MB'
  /** `good` keeps the promise, `over` breaks it. */
  readonly mark?: 'good' | 'over'
}

export interface Chart {
  readonly title: string
  readonly xs: readonly number[]
  readonly series: readonly {
    readonly label: string
    readonly ys: readonly number[]
    readonly mark: 'served' | 'refused' | 'other'
  }[]
}

export interface Outcome {
  readonly figures: readonly Figure[]
  readonly tracks?: readonly Track[]
  /** Which part of time the tracks show. */
  readonly fromMs?: number
  readonly spanMs?: number
  /** A part of time that the tracks mark: an outage of the store, the end of a window. */
  readonly period?: { readonly fromMs: number; readonly untilMs: number; readonly label: string }
  /** The steps of two servers, one after the other. */
  readonly sequences?: readonly Sequence[]
  readonly chart?: Chart
  readonly conclusion: string
}

export interface Sequence {
  readonly title: string
  readonly steps: readonly Step[]
}

export interface Step {
  readonly server: 0 | 1
  readonly text: string
  readonly mark?: 'good' | 'over'
}

/** An experiment that asks for a prediction first. A run of the library gives the answer. */
export interface Scene {
  readonly id: string
  readonly title: string
  readonly text: string
  readonly question: string
  readonly answers: readonly string[]
  readonly right: number
  readonly run: () => Promise<Outcome>
}

/** One limiter with a clock of its own. */
export class World {
  readonly clock: FakeClock = fakeClock(EPOCH)

  limiter(policy: Policy): Limiter<string, 'sync'> {
    return createLimiter(policy, { clock: this.clock })
  }

  get now(): number {
    return this.clock.now() - EPOCH
  }

  goTo(ms: number): void {
    this.clock.advance(Math.max(0, ms - this.now))
  }

  /** Sends a request at each of these times, which are in order. */
  feed(times: readonly number[], ask: (n: number) => Decision): Dot[] {
    return times.map((at, n) => {
      this.goTo(at)
      return { at, served: ask(n).allowed }
    })
  }
}

export function burstAt(at: number, n: number, gapMs = 1): number[] {
  return Array.from({ length: n }, (_, i) => at + i * gapMs)
}

export function servedOf(dots: readonly Dot[]): number {
  return dots.filter(({ served }) => served).length
}

/** The largest number of served requests in any span of this length. */
export function worstIn(dots: readonly Dot[], spanMs: number): number {
  const times = dots
    .filter(({ served }) => served)
    .map(({ at }) => at)
    .sort((a, b) => a - b)
  let first = 0
  return times.reduce((worst, at, last) => {
    while (times[first]! <= at - spanMs) first++
    return Math.max(worst, last - first + 1)
  }, 0)
}

/** The number of requests in each second. */
export function perSecond(times: readonly number[], seconds: number): number[] {
  const counts = Array.from({ length: seconds }, () => 0)
  for (const at of times) {
    const second = Math.floor(at / 1000)
    if (second < seconds) counts[second] = counts[second]! + 1
  }
  return counts
}

/** Seeded random numbers, the same each time. */
export function sequence(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
