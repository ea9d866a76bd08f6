import { setTimeout as sleep } from 'node:timers/promises'
import { until } from 'sluice-harness'
import type { Journal } from './journal.ts'
import type { Incident, Scenario, Stage } from './scenario.ts'
import { openSite, type Site } from './site.ts'

/** Code and connections are cold at first. */
const WARM_UP_MS = 200
const CALM_MS = 400
/** A limit is called restored after a second without a fault. */
const QUIET_MS = 1200
const QUIET_WITHIN_MS = 30_000

/** Ten times what may land late. */
const RUSH_TURNS = 10
const RUSH_A_TURN = 128

/** When each step happened, in milliseconds of this process, whose clock never jumps. */
export interface Course {
  warmAt: number
  faultAt: number
  /** The store could answer again. */
  backAt: number
  /** No fault has been seen for a while. */
  overAt: number
  /** When the store lost all its counts, in epoch milliseconds of its own clock. */
  readonly forgottenAt: number[]
  /** The longest time that this process did not run. */
  stallMs: number
  /**
   * How far the wall clock has run ahead of this process's clock since it started. Servers count by the wall clock, and
   * limits may.
   */
  driftMs: number
}

/** All observations of one fault; the figures are computed from them. */
export interface Run extends Course, Pick<Site, 'plenty' | 'scarce' | 'told' | 'readyAt' | 'stats'> {
  readonly scenario: Scenario
  /** What the store had counted of the plentiful limit at the end. */
  readonly counted: number
}

export async function run(scenario: Scenario): Promise<Run> {
  const stage = await scenario.open()
  try {
    const site = await openSite(scenario, stage.target)
    try {
      const course = await underLoad(stage, site)
      const counted = await site.counted()
      const { plenty, scarce, told, readyAt, stats } = site
      return { scenario, ...course, plenty, scarce, told, readyAt, stats, counted }
    } finally {
      await site.close()
    }
  } finally {
    await stage.stop()
  }
}

async function underLoad(stage: Stage, site: Site): Promise<Course> {
  const course: Course = { warmAt: 0, faultAt: 0, backAt: Infinity, overAt: 0, forgottenAt: [], stallMs: 0, driftMs: 0 }
  const incident: Incident = {
    rush() {
      for (let turn = 0; turn < RUSH_TURNS; turn++) setTimeout(() => site.ask(RUSH_A_TURN), turn)
    },
    back() {
      course.backAt = performance.now()
    },
    // Rounded up, because the lost decisions may have been made in the same millisecond.
    forgot: (at = Date.now() + 1) => void course.forgottenAt.push(at),
  }
  const journals = [site.plenty, site.scarce]
  const pace = site.start()
  try {
    await sleep(WARM_UP_MS)
    course.warmAt = performance.now()
    await sleep(CALM_MS)
    course.faultAt = performance.now()
    await stage.fault(incident)
    const isOver = async () => journals.every(journal => isQuiet(journal, course.backAt))
    await until('the store decides, and all is quiet', isOver, { withinMs: QUIET_WITHIN_MS })
    course.overAt = performance.now()
  } finally {
    await pace.stop()
  }
  await Promise.all(journals.map(journal => journal.complete()))
  course.stallMs = pace.stallMs
  course.driftMs = Math.max(0, Date.now() - (performance.timeOrigin + performance.now()))
  return course
}

/** Whether the store has made every decision for a while. */
function isQuiet({ entries }: Journal, backAt: number): boolean {
  const lastFault = entries.findLast(({ degraded }) => degraded !== false)
  const quietSince = Math.max(backAt, lastFault === undefined ? 0 : lastFault.askedAt + lastFault.ms)
  return entries.at(-1)!.askedAt > quietSince + QUIET_MS
}
