import { type Contestant, Entrant, type Gauge } from './entrant.ts'
import type { Row } from './report.ts'
import { median, medianRatio, spread } from './statistics.ts'

export interface Field {
  /** Called twice: Sluice also runs against itself as two separate contestants, and their gap is the noise. */
  readonly sluice: () => Contestant
  readonly peers?: readonly Contestant[]
  /** Contestants that are no rate limiters and show the scale: a floor, a ceiling. */
  readonly references?: readonly Contestant[]
  /** How many decisions touch every key once. Every contestant makes them before the timing. */
  readonly fill: number
  readonly gauge?: Gauge
}

export interface Settings {
  readonly rounds: number
  readonly sliceMs: number
  /** The directory of another checkout whose build is measured beside this one. */
  readonly against?: string
}

/** The order of a round: rotated each round and reversed every other, so that each contestant has every position. */
export function orderOf<T>(items: readonly T[], round: number): T[] {
  const at = round % items.length
  const rotated = [...items.slice(at), ...items.slice(0, at)]
  return round % 2 === 0 ? rotated : rotated.reverse()
}

/** Runs all contestants in alternating rounds in this process and returns the table's rows and the A/A spread. */
export async function compare(field: Field, settings: Settings): Promise<{ rows: Row[]; aa: number }> {
  return ranked(await measure(field, settings), ({ rates }) => rates, 'more')
}

/** Runs all contestants in alternating rounds in this process. */
export async function measure(field: Field, settings: Settings): Promise<readonly Measured[]> {
  const entrants: Entrant[] = []
  const enter = (role: Row['role'], contestant: Contestant) => entrants.push(new Entrant(role, contestant, field.gauge))
  enter('sluice', field.sluice())
  for (const peer of field.peers ?? []) enter('peer', peer)
  // Not next to its twin, so that the A/A gap also includes drift within a round.
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
 * Joins the rounds of several processes, because the engine compiles the same code differently in each process. The
 * notes are those of the last process.
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
