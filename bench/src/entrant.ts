import { setImmediate as turn } from 'node:timers/promises'
import type { Row } from './report.ts'
import { median } from './statistics.ts'
import { stolenSeconds, stolenShare } from './stolen.ts'

/** A slice is repeated while the host takes more than this share of it. The attempt that lost the least counts. */
const STOLEN = 0.04
const ATTEMPTS = 5

/** Makes `count` decisions and returns how many passed, so that the compiler drops nothing and wrong set-ups show. */
export type Run = (count: number) => number | Promise<number>

export interface Contestant {
  readonly name: string
  /** The sensible ways to call the library, usually one. The warm-up keeps the fastest, to be fair to every peer. */
  readonly ways: Readonly<Record<string, Run>>
  /** Prepares the state for the timing. Without it, one decision for every key does. */
  readonly prepare?: () => Promise<void>
  /** Done before each slice, and not timed. */
  readonly getReady?: () => Promise<void>
  /** A further note about the rounds for the reader; may be empty. */
  readonly remark?: () => string
}

/** Read before and after every slice, in addition to the time it takes. */
export interface Gauge {
  start(): Promise<void>
  /** The readings of the slice by name, such as `{ clientUs: 2.1 }`. */
  stop(decisions: number): Promise<Readonly<Record<string, number>>>
}

/** One contestant through all rounds. */
export class Entrant {
  readonly role: Row['role']
  readonly name: string
  /** Decisions per second, one for each round. */
  readonly rates: number[] = []
  /** By name, one for each round. */
  readonly readings: Record<string, number[]> = {}
  private readonly contestant: Contestant
  private readonly gauge: Gauge | undefined
  private way: string
  private sliceCount = 0
  private made = 0
  private admitted = 0

  constructor(role: Row['role'], contestant: Contestant, gauge?: Gauge) {
    this.role = role
    this.name = contestant.name
    this.contestant = contestant
    this.gauge = gauge
    this.way = Object.keys(contestant.ways)[0]!
  }

  get note(): string {
    const { ways } = this.contestant
    const way = Object.keys(ways).length > 1 ? `, fastest by ${this.way}` : ''
    const each = `${(1e9 / median(this.rates)).toFixed(0)} ns each`
    return `${each}, ${((100 * this.admitted) / this.made).toFixed(0)} % admitted${way}${this.contestant.remark?.() ?? ''}`
  }

  async fill(count: number): Promise<void> {
    if (this.contestant.prepare === undefined) await this.time(this.way, count)
    else await this.contestant.prepare()
  }

  /** Long enough for the optimising compiler; settles which way is fastest and how many decisions fill a slice. */
  async warmUp(sliceMs: number): Promise<void> {
    let best = 0
    for (const way of Object.keys(this.contestant.ways)) {
      let count = 1000
      const rates: number[] = []
      while (rates.length < 3) {
        const { rate } = await this.time(way, count)
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
    let best = await this.attempt()
    for (let i = 1; i < ATTEMPTS && best.stolen > STOLEN; i++) {
      const again = await this.attempt()
      if (again.stolen < best.stolen) best = again
    }
    this.rates.push(best.rate)
    for (const [name, value] of Object.entries(best.readings)) {
      this.readings[name] ??= []
      this.readings[name].push(value)
    }
  }

  private async attempt(): Promise<Slice & { stolen: number }> {
    const before = stolenSeconds()
    const slice = await this.time(this.way, this.sliceCount, this.gauge)
    const elapsedMs = (this.sliceCount / slice.rate) * 1000
    return { ...slice, stolen: stolenShare(stolenSeconds() - before, elapsedMs) }
  }

  private async time(way: string, count: number, gauge?: Gauge): Promise<Slice> {
    // Timers and garbage of the previous contestant must not count in this slice.
    await turn()
    globalThis.gc?.({ type: 'minor' })
    await this.contestant.getReady?.()
    await gauge?.start()
    const run = this.contestant.ways[way]!
    const startedAt = performance.now()
    const pending = run(count)
    const admitted = typeof pending === 'number' ? pending : await pending
    const elapsedMs = performance.now() - startedAt
    const readings = (await gauge?.stop(count)) ?? {}
    this.made += count
    this.admitted += admitted
    return { rate: (count / elapsedMs) * 1000, readings }
  }
}

/** The result of one slice: decisions per second, and the readings by name. */
interface Slice {
  readonly rate: number
  readonly readings: Readonly<Record<string, number>>
}
