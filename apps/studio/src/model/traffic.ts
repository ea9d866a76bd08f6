import type { Request } from './document.ts'

export interface Pattern {
  readonly id: string
  readonly title: string
  readonly says: string
  /** The requests from time 0 on, for this many callers. */
  readonly make: (callers: number) => Request[]
}

/** Seeded random numbers, so that a shared link shows the same picture. */
function sequence(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

function every(ms: number, untilMs: number, callers: number): Request[] {
  return Array.from({ length: Math.floor(untilMs / ms) }, (_, i) => ({ at: i * ms, caller: i % callers, cost: 1 }))
}

function burst(at: number, n: number, callers: number): Request[] {
  return Array.from({ length: n }, (_, i) => ({ at: at + i * 5, caller: i % callers, cost: 1 }))
}

export const PATTERNS: readonly Pattern[] = [
  {
    id: 'steady',
    title: 'Steady',
    says: 'A little under the limit, evenly spaced.',
    make: callers => every(1100, 40_000, callers),
  },
  {
    id: 'bursty',
    title: 'Bursty',
    says: 'Quiet, then twelve at once, with some noise in between.',
    make: callers => {
      const next = sequence(7)
      const noise = Array.from({ length: 18 }, () => ({
        at: Math.round(next() * 40_000),
        caller: Math.floor(next() * callers),
        cost: 1,
      }))
      return [1000, 8500, 14_000, 24_500, 35_000].flatMap(at => burst(at, 12, callers)).concat(noise)
    },
  },
  {
    id: 'boundary',
    title: 'Boundary attack',
    says: 'A full limit just before the boundary and another just after it.',
    make: () => [...burst(9800, 10, 1), ...burst(10_050, 10, 1), ...burst(29_800, 10, 1), ...burst(30_050, 10, 1)],
  },
  {
    id: 'storm',
    title: 'Retry storm',
    says: 'Clients that fail come back all together, and each time bring more.',
    make: callers => [0, 1, 2, 3, 4, 5, 6].flatMap(n => burst(4000 + n * 2000, 6 + n * 5, callers)),
  },
  {
    id: 'crowd',
    title: '10,000 requests',
    says: 'A busy minute, to see how the picture holds.',
    make: callers => {
      const next = sequence(11)
      return Array.from({ length: 10_000 }, (_, i) => ({
        at: i * 6 + Math.floor(next() * 6),
        caller: Math.floor(next() * callers),
        cost: 1,
      }))
    },
  },
]

export interface ImportedLog {
  readonly requests: Request[]
  readonly lines: number
  /** Lines that could not be parsed. */
  readonly skipped: number
  /** Lines beyond the most that are read. */
  readonly left: number
  /** Busiest first. */
  readonly callers: readonly string[]
}

export const MOST_LINES = 20_000

/** Reads common and combined access logs, or JSON lines with a time and an address. Each address is a caller. */
export function readLog(text: string): ImportedLog {
  const all = text.split(/\r?\n/).filter(line => line.trim() !== '')
  const lines = all.slice(0, MOST_LINES)
  const read = lines
    .map(entryOf)
    .filter(entry => entry !== undefined)
    .sort((a, b) => a.at - b.at)
  const counts = new Map<string, number>()
  for (const { who } of read) counts.set(who, (counts.get(who) ?? 0) + 1)
  const callers = [...counts].sort((a, b) => b[1] - a[1]).map(([who]) => who)
  const indexes = new Map(callers.map((who, index) => [who, index]))
  const start = read[0]?.at ?? 0
  const requests = read.map(({ at, who }) => ({ at: at - start, caller: indexes.get(who)!, cost: 1 }))
  return {
    requests,
    lines: lines.length,
    skipped: lines.length - read.length,
    left: all.length - lines.length,
    callers,
  }
}

const COMMON = /^(\S+) \S+ .*?\[(\d{2})\/(\w{3})\/(\d{4}):(\d{2}:\d{2}:\d{2}(?:\.\d+)?) ([+-]\d{2})(\d{2})\]/
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function entryOf(line: string): { at: number; who: string } | undefined {
  const common = COMMON.exec(line)
  const entry = common === null ? jsonEntry(line) : { who: common[1]!, at: commonTime(common) }
  return entry === undefined || Number.isNaN(entry.at) ? undefined : entry
}

function commonTime([, , day, month, year, time, hours, minutes]: RegExpExecArray): number {
  const number = String(MONTHS.indexOf(month!) + 1).padStart(2, '0')
  return Date.parse(`${year}-${number}-${day}T${time}${hours}:${minutes}`)
}

function jsonEntry(line: string): { at: number; who: string } | undefined {
  try {
    const entry = JSON.parse(line) as Record<string, unknown>
    const time = entry.time ?? entry.timestamp ?? entry.ts ?? entry['@timestamp']
    const who = entry.ip ?? entry.remote_addr ?? entry.client ?? entry.user ?? 'caller'
    // Seconds, as nginx and Caddy write them, or milliseconds.
    const at = typeof time === 'number' ? (time < 1e11 ? time * 1000 : time) : Date.parse(String(time))
    return { at, who: String(who) }
  } catch {
    return undefined
  }
}
