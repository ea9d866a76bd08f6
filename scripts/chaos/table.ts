import type { Outcome } from './all.ts'
import type { Figures } from './figures.ts'

type Cell = (figures: Figures, outcome: Outcome) => string

const COLUMNS: readonly (readonly [name: string, cell: Cell])[] = [
  ['fault', (_, { scenario }) => scenario.name],
  ['onOutage', (_, { scenario }) => scenario.onOutage],
  ['decisions', ({ decisions }) => count(decisions)],
  ['degraded', ({ degraded }) => count(degraded)],
  ['admitted', ({ bound }) => count(bound.byStore + bound.byOutage)],
  ['of at most', ({ bound }, { scenario }) => (scenario.evicts ? 'no bound' : count(bound.promised + bound.added))],
  ['p99 calm', ({ p99Ms }) => ms(p99Ms.calm)],
  ['first', ({ p99Ms }) => ms(p99Ms.first)],
  ['open', ({ p99Ms }) => ms(p99Ms.open)],
  ['recovery', ({ recoveryMs }) => ms(recoveryMs)],
  ['client', ({ reconnectMs }) => ms(reconnectMs || undefined)],
  ['late', ({ late }) => String(late)],
  ['events', ({ events }) => Object.entries(events).flat().join(' ')],
]

const TEXTS = ['fault', 'onOutage', 'events']

export const LEGEND = `admitted, of at most: by a limit asked for more than it gives, against its promise, a burst more for each time the store
  forgot, and what onOutage adds
p99 calm, first, open: ms a decision took before the fault, while the breaker was still closed, and once it was open
recovery, client: ms from the store's return to its first decision, and what of it the client took to connect
late: charges that landed when nobody waited for them any more; below 0, charges that were forgotten`

export function table(outcomes: readonly Outcome[]): string {
  const row = (outcome: Outcome) => COLUMNS.map(([, cell]) => cell(outcome.figures!, outcome))
  const rows = outcomes.filter(({ figures }) => figures !== undefined).map(row)
  const lines = [COLUMNS.map(([name]) => name), ...rows]
  const padded = COLUMNS.map(([name], i) => {
    const width = Math.max(...lines.map(line => line[i]!.length))
    return (cell: string) => (TEXTS.includes(name) ? cell.padEnd(width) : cell.padStart(width))
  })
  return lines
    .map(line =>
      line
        .map((cell, i) => padded[i]!(cell))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** One line of JSON. */
export function json({ scenario, figures, wrong }: Outcome): string {
  const { name: chaos, client, onOutage } = scenario
  const short = (_: string, value: unknown) => (typeof value === 'number' ? Math.round(value * 100) / 100 : value)
  return JSON.stringify({ chaos, client, onOutage, ...figures, wrong }, short)
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

function ms(value: number | undefined): string {
  return value === undefined ? '' : value.toFixed(value < 10 ? 2 : 0)
}
