import { type Measured, ranked } from '../harness.ts'
import { print, type Row } from '../report.ts'
import { type Contest, contest, type Lineup } from './contest.ts'
import { IN_FLIGHT } from './load.ts'
import { atServer, type Place } from './site.ts'

/** One case of so many decisions a second, with what each of them costs on either side. */
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

/** Adds their CPU time at the client over ours: bigger is better for Sluice, as with all ratios. */
function withCpuRatio(rows: readonly Row[], measured: readonly Measured[]): Row[] {
  const byCpu = ranked(measured, ({ readings }) => readings.clientUs!, 'less').rows
  return rows.map((row, i) => {
    const cpuRatio = byCpu[i]!.ratio
    return cpuRatio === undefined ? row : { ...row, readings: { ...row.readings, cpuRatio } }
  })
}
