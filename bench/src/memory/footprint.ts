import type { BenchCase } from '../bench-case.ts'
import { inChild } from '../child.ts'
import { print, type Row } from '../report.ts'
import { distance } from '../statistics.ts'
import type { Growth } from './growth.ts'

const PROBE = new URL('./probe.js', import.meta.url)
const PROBE_LIMIT_MS = 5 * 60_000

/**
 * Sizes around the points where a doubling table grows (powers of two, four fifths of one), so the worst is included.
 */
const FILLS = [100_000, 131_072, 200_000, 262_144, 419_430, 1_000_000]
const PEERS = ['rate-limiter-flexible', 'express-rate-limit']
const PEER_FILL = 100_000

export const footprintCases: readonly BenchCase[] = [
  {
    name: 'memory per key',
    run: async () => {
      for (const keys of FILLS) {
        const name = `memory per key, ${keys.toLocaleString('en-US')} keys`
        await weigh({ name, unit: 'bytes/key', what: 'sluice', size: keys, peers: keys === PEER_FILL ? PEERS : [] })
      }
    },
  },
  {
    name: 'sliding log, memory',
    run: async () => {
      const full = 'sliding log of 100,000, all slots in use'
      await weigh({ name: full, unit: 'bytes/slot', what: 'full logs', size: 1_000_000 })
      const short = 'sliding log of 100,000, three entries a key'
      await weigh({ name: short, unit: 'bytes/key', what: 'short logs', size: 10_000 })
    },
  },
]

interface Weighing {
  readonly name: string
  readonly unit: string
  readonly what: string
  readonly size: number
  readonly peers?: readonly string[]
}

/** Weighs each contestant in a process of its own, and Sluice in two. Their difference is the A/A spread. */
async function weigh({ name, unit, what, size, peers = [] }: Weighing): Promise<void> {
  const ours = await growth(what, size)
  const again = await growth(what, size)
  const rows: Row[] = [
    row('sluice', 'sluice', ours, size),
    row('sluice', 'again', again, size, ours),
    ...(await inTurn(peers, async peer => row(peer, 'peer', await growth(peer, size), size, ours))),
  ]
  const extra = { rss: Math.round(ours.rssBytes / size) }
  print({ bench: 'memory', case: name, unit, better: 'less', rows, aa: distance(again.bytes / ours.bytes), extra })
}

function row(name: string, role: Row['role'], grown: Growth, size: number, ours?: Growth): Row {
  const note = `resident set: ${(grown.rssBytes / size).toFixed(0)}`
  const base = { name, role, value: grown.bytes / size, note }
  return ours === undefined ? base : { ...base, ratio: grown.bytes / ours.bytes }
}

async function growth(what: string, size: number): Promise<Growth> {
  return (await inChild(PROBE, [what, String(size)], PROBE_LIMIT_MS)) as Growth
}

/** One after the other: two processes at once would share the memory bandwidth. */
async function inTurn<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const item of items) results.push(await work(item))
  return results
}
