import type { BenchCase } from '../bench-case.ts'
import type { Contestant } from '../entrant.ts'
import { type Measured, measure, type Settings } from '../harness.ts'
import { keysOf } from '../keys.ts'
import { Crew } from './crew.ts'
import { RedisGauge } from './gauge.ts'
import type { Load } from './load.ts'
import type { Place, Site } from './site.ts'

export type Enter = (site: Site, load: Load) => Contestant | Promise<Contestant>

/** The contestants. Each runs in processes of its own. */
export interface Lineup {
  readonly sluice: Enter
  readonly peers: readonly Enter[]
  readonly references?: readonly Enter[]
}

export interface Circumstances {
  readonly name: string
  readonly keys: number
  readonly callers: number
  readonly place: Place
}

export interface Contest extends BenchCase {
  /**
   * Makes the contestant with the site's number. One decision for each of `keys` prepares it, unless it has `prepare`.
   */
  enter(site: Site, latenciesMs: number[]): Promise<{ contestant: Contestant; keys: number }>
}

export function isContest(one: BenchCase): one is Contest {
  return 'enter' in one
}

/** One case: all contestants send the same questions to the same servers. */
export function contest(
  { name, keys: size, callers, place }: Circumstances,
  { sluice, peers, references = [] }: Lineup,
  report: (measured: readonly Measured[], site: Site) => void | Promise<void>,
): Contest {
  const entries = [sluice, sluice, ...peers, ...references]
  const run = (settings: Settings) =>
    place(async site => {
      const { servers } = site
      const gauge = new RedisGauge(servers)
      const crews: Crew[] = []
      try {
        for (let i = 0; i < entries.length; i++) {
          crews.push(await Crew.start(name, i, servers, settings.sliceMs, slice => gauge.hear(slice)))
        }
        const ours = crews.slice(0, 2)
        const theirs = crews.slice(2, 2 + peers.length)
        const others = crews.slice(2 + peers.length)
        const field = { sluice: () => ours.shift()!, peers: theirs, references: others, fill: size, gauge }
        await report(await measure(field, settings), site)
      } finally {
        for (const crew of crews) crew.stop()
      }
    })
  return {
    name,
    run,
    async enter(site, latenciesMs) {
      const contestant = await entries[site.number]!(site, { callers, keys: keysOf(size), latenciesMs })
      return { contestant, keys: size }
    },
  }
}
