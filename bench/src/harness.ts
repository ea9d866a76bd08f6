import { setImmediate as turn } from 'node:timers/promises'
import type { Row } from './report.ts'
import { median, medianRatio, spread } from './statistics.ts'

/** Makes `count` decisions and returns how many were admitted: nothing can be optimised away, and a wrong set-up shows. */
export type Run = (count: number) => number | Promise<number>

export interface Contestant {
  readonly name: string
  /** Usually one. With several sensible ways to call a library, the warm-up keeps the fastest, so that no peer is called badly. */
  readonly ways: Readonly<Record<string, Run>>
}

export interface Field {
  /** Called twice: Sluice also runs against itself, as two contestants that share nothing, and that gap is the noise. */
  readonly sluice: () => Contestant
  readonly peers?: readonly Contestant[]
  /** What is measured beside for scale but is no rate limiter: a floor, a ceiling. */
  readonly references?: readonly Contestant[]
  /** Decisions that touch every key once; made by everyone before anything is timed. */
  readonly fill: number
}

export interface Settings {
  readonly rounds: number
  readonly sliceMs: number
}

export const DEFAULTS: Settings = { rounds: 11, sliceMs: 200 }

/** Everyone runs first, last and in between, and after either neighbour: rotated every round, and turned round every other. */
export function orderOf<T>(items: readonly T[], round: number): T[] {
  const at = round % items.length
  const rotated = [...items.slice(at), ...items.slice(0, at)]
  return round % 2 === 0 ? rotated : rotated.reverse()
}

/** Runs everyone in alternating rounds in this process and returns the table's rows and the A/A spread. */
export async function compare(field: Field, settings: Settings): Promise<{ rows: Row[]; aa: number }> {
  const entrants: Entrant[] = []
  const enter = (role: Row['role'], contestant: Contestant) => entrants.push(new Entrant(role, contestant))
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

  const ours = entrants.find(entrant => entrant.role === 'sluice')!
  const again = entrants.find(entrant => entrant.role === 'again')!
  return { rows: entrants.map(entrant => entrant.row(ours)), aa: spread(ours.rates, again.rates) }
}

class Entrant {
  readonly role: Row['role']
  readonly name: string
  /** Decisions per second, one for each round. */
  readonly rates: number[] = []
  private readonly ways: Contestant['ways']
  private way: string
  private sliceCount = 0
  private made = 0
  private admitted = 0

  constructor(role: Row['role'], contestant: Contestant) {
    this.role = role
    this.name = contestant.name
    this.ways = contestant.ways
    this.way = Object.keys(contestant.ways)[0]!
  }

  async fill(count: number): Promise<void> {
    await this.time(this.way, count)
  }

  /** Long enough for the optimising compiler; settles which way is fastest and how many decisions fill a slice. */
  async warmUp(sliceMs: number): Promise<void> {
    let best = 0
    for (const way of Object.keys(this.ways)) {
      let count = 1000
      const rates: number[] = []
      while (rates.length < 3) {
        const rate = await this.time(way, count)
        if ((count / rate) * 1000 > sliceMs / 4) rates.push(rate)
        count = Math.ceil(Math.min(count * 4, (rate * sliceMs) / 1000))
      }
      if (median(rates) > best) {
        best = median(rates)
        this.way = way
      }
    }
    this.sliceCount = Math.ceil((best * sliceMs) / 1000)
    this.made = 0
    this.admitted = 0
  }

  async round(): Promise<void> {
    this.rates.push(await this.time(this.way, this.sliceCount))
  }

  row(ours: Entrant): Row {
    const rate = median(this.rates)
    const way = Object.keys(this.ways).length > 1 ? `, fastest by ${this.way}` : ''
    const note = `${(1e9 / rate).toFixed(0)} ns each, ${((100 * this.admitted) / this.made).toFixed(0)} % admitted${way}`
    const row = { name: this.name, role: this.role, value: rate, note }
    return this === ours ? row : { ...row, ratio: medianRatio(ours.rates, this.rates) }
  }

  private async time(way: string, count: number): Promise<number> {
    // Timers get their turn and the one before takes its young garbage with it: neither belongs to this slice.
    await turn()
    globalThis.gc?.({ type: 'minor' })
    const run = this.ways[way]!
    const startedAt = performance.now()
    const pending = run(count)
    const admitted = typeof pending === 'number' ? pending : await pending
    const elapsedMs = performance.now() - startedAt
    this.made += count
    this.admitted += admitted
    return (count / elapsedMs) * 1000
  }
}
