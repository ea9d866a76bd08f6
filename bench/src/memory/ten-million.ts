import { inChild } from '../child.ts'
import { print, type Row } from '../report.ts'
import type { BenchCase } from '../suites.ts'
import type { Seen } from './ten-million-probe.ts'

const PROBE = new URL('./ten-million-probe.js', import.meta.url)
const PROBE_LIMIT_MS = 5 * 60_000
const KEYS = 10_000_000

export const tenMillionCase: BenchCase = { name: '10M live keys', run: report }

async function report(): Promise<void> {
  const seen = (await inChild(PROBE, [String(KEYS)], PROBE_LIMIT_MS)) as Seen
  const common = { bench: 'memory', aa: null } as const
  const ours = (value: number, note: string): Row => ({ name: 'sluice', role: 'sluice', value, note })
  print({
    ...common,
    case: '10M live keys, resident',
    unit: 'MB',
    better: 'less',
    rows: [ours(seen.residentMb, `the whole process; ${seen.grownMb.toFixed(0)} MB of it since before the first key`)],
    extra: { grown: Math.round(seen.grownMb) },
  })
  print({
    ...common,
    case: '10M live keys, worst single decision while growing',
    unit: 'ms',
    better: 'less',
    rows: [
      ours(seen.worstMs, `at key ${seen.worstAtKey.toLocaleString('en-US')}`),
      { name: 'the same loop, empty', role: 'reference', value: seen.idleWorstMs, note: 'the machine itself' },
    ],
  })
  print({
    ...common,
    case: '10M live keys, random decisions',
    unit: 'decisions/s',
    better: 'more',
    rows: [ours(seen.steadyRate, `${Math.round(seen.fillRate).toLocaleString('en-US')} while filling, each one timed`)],
    extra: { whileFilling: Math.round(seen.fillRate) },
  })
}
