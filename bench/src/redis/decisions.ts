import { type Field, type Measured, measure, ranked } from '../harness.ts'
import { keysOf } from '../keys.ts'
import { print, type Row } from '../report.ts'
import type { BenchCase } from '../suites.ts'
import { IN_FLIGHT, type Load } from './load.ts'
import { atServer, type Place, type Site } from './site.ts'

export type Contestants = Omit<Field, 'fill' | 'gauge'>

export interface Circumstances {
  /** 10,000 by default. */
  readonly keys?: number
  /** One server by default. */
  readonly place?: Place
}

/** One case of so many decisions a second, with what each of them costs on either side. */
export function decisions(
  name: string,
  contestantsOf: (site: Site, load: Load) => Promise<Contestants>,
  { keys: size = 10_000, place = atServer }: Circumstances = {},
): BenchCase {
  const title = `${name}, ${IN_FLIGHT} in flight, ${size === 1 ? '1 key' : `${size.toLocaleString('en-US')} keys`}`
  return {
    name: title,
    run: settings =>
      place(async site => {
        const { gauge } = site
        const load = { callers: IN_FLIGHT, keys: keysOf(size), latenciesMs: gauge.latenciesMs }
        const measured = await measure({ ...(await contestantsOf(site, load)), fill: size, gauge }, settings)
        const { rows, aa } = ranked(measured, ({ rates }) => rates, 'more')
        const shown = withCpuRatio(rows, measured)
        print({ bench: 'redis', case: title, unit: 'decisions/s', better: 'more', rows: shown, aa })
      }),
  }
}

/** Adds their CPU time in this process over ours: bigger is better for Sluice, as with all ratios. */
function withCpuRatio(rows: readonly Row[], measured: readonly Measured[]): Row[] {
  const byCpu = ranked(measured, ({ readings }) => readings.clientUs!, 'less').rows
  return rows.map((row, i) => {
    const cpuRatio = byCpu[i]!.ratio
    return cpuRatio === undefined ? row : { ...row, readings: { ...row.readings, cpuRatio } }
  })
}
