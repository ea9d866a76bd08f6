import { figure, isNoise, type Report, type Row, readingsOf } from './report.ts'

/** A suite's part of docs/benchmarks.md: its command, when and on what it was run, and a table for each case. */
export function section(suite: string, circumstances: string, reports: readonly Report[]): string {
  const head = `## ${suite}\n\n\`npm run bench -- ${suite}\`: ${circumstances}.`
  return [head, ...reports.map(caseTable)].join('\n\n')
}

/** The page with this suite's part in place of the old one, or at its end. Text outside its marks stays. */
export function withSection(page: string, suite: string, text: string): string {
  const [start, end] = marksOf(suite)
  const part = `${start}\n${text}\n${end}`
  const from = page.indexOf(start)
  const to = page.indexOf(end)
  if (from === -1 || to === -1) return `${page.trimEnd()}\n\n${part}\n`
  return page.slice(0, from) + part + page.slice(to + end.length)
}

/** One table of the page, as it was written. */
export interface Table {
  readonly name: string
  readonly unit: string
  readonly rows: readonly { readonly name: string; readonly value: number; readonly ratio: number | undefined }[]
}

/** The tables of a suite's part of the page; none if it has no part yet. */
export function tablesOf(page: string, suite: string): Table[] {
  const [start, end] = marksOf(suite)
  const part = page.slice(page.indexOf(start), page.indexOf(end))
  if (!page.includes(start) || !page.includes(end)) return []
  return [...part.matchAll(/(?:^\|.*\n?)+/gm)].map(([table]) => {
    const [head = [], , ...lines] = table.trim().split('\n').map(cellsOf)
    const rows = lines.map(([name = '', value = '', ratio = '']) => ({
      ...{ name, value: numberIn(value) },
      ratio: ratio === '' ? undefined : numberIn(ratio),
    }))
    return { name: head[0] ?? '', unit: head[1] ?? '', rows }
  })
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split('|')
    .map(cell => cell.trim())
}

/** The number in a cell, `≈ 1.02` and `8,765,432` included. */
function numberIn(cell: string): number {
  return Number(cell.replace(/[≈,\s]/g, ''))
}

function marksOf(suite: string): [start: string, end: string] {
  return [`<!-- bench ${suite} -->`, `<!-- end of bench ${suite} -->`]
}

function caseTable({ case: name, unit, better, rows, aa }: Report): string {
  const readings = readingsOf(rows)
  const head = [name, unit, better === 'more' ? 'sluice / it' : 'it / sluice', ...readings]
  const shown = rows.filter(row => row.role !== 'again')
  const lines = shown.map(row => [
    row.name,
    figure(row.value),
    ratioOf(row, aa),
    ...readings.map(of => reading(row, of)),
  ])
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'))
  return [head, rule, ...lines].map(cells => `| ${cells.join(' | ')} |`).join('\n')
}

function reading(row: Row, name: string): string {
  const value = row.readings?.[name]
  return value === undefined ? '' : figure(value)
}

function ratioOf({ ratio }: Row, aa: number | null): string {
  if (ratio === undefined) return ''
  return `${isNoise(ratio, aa) ? '≈ ' : ''}${ratio.toFixed(2)}`
}
