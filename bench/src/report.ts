import { distance } from './statistics.ts'

/** One line of a case's table. */
export interface Row {
  readonly name: string
  readonly role: 'sluice' | 'again' | 'peer' | 'reference'
  readonly value: number
  /** Against Sluice, bigger is better for Sluice; absent where there is nothing to compare. */
  readonly ratio?: number
  /** Further numbers by name, each a column of the table and an object in the JSON line. */
  readonly readings?: Readonly<Record<string, number>>
  readonly note?: string
}

export interface Report {
  readonly bench: string
  readonly case: string
  readonly unit: string
  readonly better: 'more' | 'less'
  readonly rows: readonly Row[]
  /** The A/A spread: how far Sluice is from itself. null if it was measured only once. */
  readonly aa: number | null
  /** Further numbers for the JSON line. */
  readonly extra?: Readonly<Record<string, number>>
}

/** A ratio no farther from 1 than Sluice is from itself is not a result. */
export function isNoise(ratio: number, aa: number | null): boolean {
  return aa !== null && distance(ratio) <= aa
}

/** The tables that this process has printed, for the docs. */
export const printed: Report[] = []

export function print(report: Report): void {
  printed.push(report)
  console.log(`\n${table(report)}\n${json(report)}`)
}

export function table({ case: name, unit, better, rows, aa }: Report): string {
  const compared = rows.some(row => row.ratio !== undefined)
  const against = better === 'more' ? 'sluice / it' : 'it / sluice'
  const columns = readingsOf(rows)
  const lines = [['', unit, compared ? against : '', ...columns, '']]
  for (const row of rows) {
    const mark = row.ratio !== undefined && isNoise(row.ratio, aa) ? '≈ ' : ''
    const ratio = row.ratio === undefined ? '' : `${mark}${row.ratio.toFixed(2)}`
    const readings = columns.map(column => (row.readings?.[column] === undefined ? '' : figure(row.readings[column])))
    const name = row.role === 'again' ? `${row.name}, again (A/A)` : row.name
    lines.push([name, figure(row.value), ratio, ...readings, row.note ?? ''])
  }
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map(line => line[column]!.length)))
  const body = lines.map(([name, ...cells]) => {
    const note = cells.pop()!
    const padded = cells.map((cell, column) => cell.padStart(widths[column + 1]!))
    return `  ${[name!.padEnd(widths[0]!), ...padded, note].join('  ')}`.trimEnd()
  })
  return [`${name}${compared ? `   (${legend(aa)})` : ''}`, ...body].join('\n')
}

export function json(report: Report): string {
  const pick = (roles: readonly Row['role'][], number: (row: Row) => number | undefined) =>
    Object.fromEntries(
      report.rows
        .filter(row => roles.includes(row.role) && number(row) !== undefined)
        .map(row => [row.name, significant(number(row)!)]),
    )
  const references = pick(['reference'], row => row.value)
  return JSON.stringify({
    bench: report.bench,
    case: report.case,
    unit: report.unit,
    sluice: significant(report.rows.find(row => row.role === 'sluice')!.value),
    peers: pick(['peer'], row => row.value),
    ratio: pick(['peer', 'reference'], row => row.ratio),
    aa: report.aa === null ? null : significant(report.aa),
    ...(Object.keys(references).length === 0 ? {} : { references }),
    ...Object.fromEntries(
      readingsOf(report.rows).map(name => [name, pick(['sluice', 'peer', 'reference'], row => row.readings?.[name])]),
    ),
    ...report.extra,
  })
}

export function readingsOf(rows: readonly Row[]): string[] {
  return [...new Set(rows.flatMap(row => Object.keys(row.readings ?? {})))]
}

function legend(aa: number | null): string {
  const noise = aa === null ? '' : `; ≈ is within the A/A spread of ${(100 * aa).toFixed(1)} %, no result`
  return `ratios: bigger is better for Sluice${noise}`
}

export function figure(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(3)
}

/** Four digits are already more than the noise allows. */
function significant(value: number): number {
  return Number(value.toPrecision(4))
}
