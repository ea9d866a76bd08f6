import { type Measured, ranked } from '../harness.ts'
import { print, type Row } from '../report.ts'
import { type Contest, contest, type Lineup } from './contest.ts'
import { IN_FLIGHT } from './load.ts'
import { atServer, type Place } from './site.ts'

/** A case that reports the decisions per second and the CPU time of each on the client and on the servers. */
export function decisions(
  name: string,
  lineup: Lineup,
  { keys = 10_000, place = atServer }: { readonly keys?: number; readonly place?: Place } = {},
): Contest {
  const title = `${name}, ${IN_FLIGHT} in flight, ${keys === 1 ? '1 key' : `${keys.toLocaleString('en-US')} keys`}`
  return contest({ name: title, keys, callers: IN_FLIGHT, place }, lineup, measured => {
    const { rows, aa } = ranked(measured, ({ rates }) => rates, 'more')
    const shown = withCpuRatio(rows, measured)
    print({ bench: 'redis', case: title, unit: 'decisions/s', better: 'more', rows: shown, aa })
  })
}

/** Adds the ratio of each contestant's client CPU time to Sluice's: bigger is better for Sluice, as with all ratios. */
function withCpuRatio(rows: readonly Row[], measured: readonly Measured[]): Row[] {
  const byCpu = ranked(measured, ({ readings }) => readings.clientUs!, 'less').rows
  return rows.map((row, i) => {
    const cpuRatio = byCpu[i]!.ratio
    return cpuRatio === undefined ? row : { ...row, readings: { ...row.readings, cpuRatio } }
  })
}
