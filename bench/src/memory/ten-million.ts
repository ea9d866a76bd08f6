import type { BenchCase } from '../bench-case.ts'
import { inChild } from '../child.ts'
import { print, type Row } from '../report.ts'
import { median } from '../statistics.ts'
import type { Seen } from './ten-million-probe.ts'

const PROBE = new URL('./ten-million-probe.js', import.meta.url)
const PROBE_LIMIT_MS = 5 * 60_000
const KEYS = 10_000_000
/** Several processes, because a pause of the machine in one of them says nothing about the store. */
const PROBES = 5

export const tenMillionCase: BenchCase = { name: '10M live keys', run: report }

async function report(): Promise<void> {
  const all: Seen[] = []
  for (let i = 0; i < PROBES; i++) all.push((await inChild(PROBE, [String(KEYS)], PROBE_LIMIT_MS)) as Seen)
  const seen = (what: keyof Seen) => median(all.map(one => one[what]))
  const worst = all.toSorted((a, b) => a.worstMs - b.worstMs)
  const common = { bench: 'memory', aa: null } as const
  const ours = (value: number, note: string): Row => ({ name: 'sluice', role: 'sluice', value, note })
  print({
    ...common,
    case: '10M live keys, resident',
    unit: 'MB',
    better: 'less',
    rows: [
      ours(seen('residentMb'), `the whole process; ${seen('grownMb').toFixed(0)} MB of it since before the first key`),
    ],
    extra: { grown: Math.round(seen('grownMb')) },
  })
  print({
    ...common,
    case: '10M live keys, worst single decision while growing',
    unit: 'ms',
    better: 'less',
    rows: [
      ours(seen('worstMs'), `of ${PROBES} processes: ${worst.map(told).join(', ')}`),
      { name: 'the same loop, empty', role: 'reference', value: seen('idleWorstMs'), note: 'the machine itself' },
    ],
    extra: { least: Math.round(worst[0]!.worstMs), most: Math.round(worst.at(-1)!.worstMs) },
  })
  print({
    ...common,
    case: '10M live keys, random decisions',
    unit: 'decisions/s',
    better: 'more',
    rows: [
      ours(seen('steadyRate'), `${Math.round(seen('fillRate')).toLocaleString('en-US')} while filling, each one timed`),
    ],
    extra: { whileFilling: Math.round(seen('fillRate')) },
  })
}

function told({ worstMs, worstAtKey }: Seen): string {
  return `${worstMs.toFixed(1)} at key ${worstAtKey.toLocaleString('en-US')}`
}
