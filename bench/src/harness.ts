import { type Contestant, Entrant, type Gauge } from './entrant.ts'
import type { Row } from './report.ts'
import { median, medianRatio, spread } from './statistics.ts'

export interface Field {
  /** Called twice: Sluice also runs against itself, as two contestants that share nothing, and that gap is the noise. */
  readonly sluice: () => Contestant
  readonly peers?: readonly Contestant[]
  /** Measured for scale, though not a rate limiter: a floor, a ceiling. */
  readonly references?: readonly Contestant[]
  /** Decisions that touch every key once; made by everyone before anything is timed. */
  readonly fill: number
  readonly gauge?: Gauge
}

export interface Settings {
  readonly rounds: number
  readonly sliceMs: number
  /** The directory of another checkout whose build is measured beside this one. */
  readonly against?: string
}

/** Rotated every round and reversed every other, so that every contestant runs first, last, in between and after each neighbour. */
export function orderOf<T>(items: readonly T[], round: number): T[] {
  const at = round % items.length
  const rotated = [...items.slice(at), ...items.slice(0, at)]
  return round % 2 === 0 ? rotated : rotated.reverse()
}

/** Runs everyone in alternating rounds in this process and returns the table's rows and the A/A spread. */
export async function compare(field: Field, settings: Settings): Promise<{ rows: Row[]; aa: number }> {
  return ranked(await measure(field, settings), ({ rates }) => rates, 'more')
}

/** Runs everyone in alternating rounds in this process. */
export async function measure(field: Field, settings: Settings): Promise<readonly Measured[]> {
  const entrants: Entrant[] = []
  const enter = (role: Row['role'], contestant: Contestant) => entrants.push(new Entrant(role, contestant, field.gauge))
  enter('sluice', field.sluice())
  for (const peer of field.peers ?? []) enter('peer', peer)
  // Not next to its twin, so that the A/A gap also holds what drifts within a round.
  enter('again', field.sluice())
  for (const reference of field.references ?? []) enter('reference', reference)

  for (const entrant of entrants) await entrant.fill(field.fill)
  globalThis.gc?.()
  for (const entrant of entrants) await entrant.warmUp(settings.sliceMs)
  for (let round = 0; round < settings.rounds; round++) {
    for (const entrant of orderOf(entrants, round)) await entrant.round()
  }
  return entrants.map(({ role, name, rates, readings, note }) => ({ role, name, rates, readings, note }))
}

/** The results of a contestant's rounds, as plain data that one process can send to another. */
export type Measured = Pick<Entrant, 'role' | 'name' | 'rates' | 'readings' | 'note'>

/**
 * The rounds of several processes as those of one: the engine compiles the same code differently from process to process. The
 * notes are those of the last.
 */
export async function inSeveral(
  processes: number,
  settings: Settings,
  run: (settings: Settings) => Promise<readonly Measured[]>,
): Promise<Measured[]> {
  const runs: (readonly Measured[])[] = []
  const share = { ...settings, rounds: Math.ceil(settings.rounds / processes) }
  for (let i = 0; i < processes; i++) runs.push(await run(share))
  return joined(runs)
}

function joined(runs: readonly (readonly Measured[])[]): Measured[] {
  return runs.at(-1)!.map((last, i) => {
    const all = runs.map(run => run[i]!)
    const names = Object.keys(last.readings)
    const readings = Object.fromEntries(names.map(name => [name, all.flatMap(one => one.readings[name]!)]))
    const { role, name, note } = last
    return { role, name, note, rates: all.flatMap(one => one.rates), readings }
  })
}

/** The table's rows by one of the measured series, and how far Sluice is from itself in it. */
export function ranked(
  measured: readonly Measured[],
  seriesOf: (one: Measured) => readonly number[],
  better: 'more' | 'less',
): { rows: Row[]; aa: number } {
  const ours = seriesOf(measured.find(({ role }) => role === 'sluice')!)
  const again = seriesOf(measured.find(({ role }) => role === 'again')!)
  const rows = measured.map((one): Row => {
    const { name, role, note, readings } = one
    const theirs = seriesOf(one)
    const medians = Object.entries(readings).map(([reading, values]) => [reading, median(values)] as const)
    const row = { name, role, value: median(theirs), note, readings: Object.fromEntries(medians) }
    if (role === 'sluice') return row
    return { ...row, ratio: better === 'more' ? medianRatio(ours, theirs) : medianRatio(theirs, ours) }
  })
  return { rows, aa: spread(ours, again) }
}
