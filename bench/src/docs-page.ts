import { figure, isNoise, type Report, type Row, readingsOf } from './report.ts'

/** A suite's part of docs/benchmarks.md: under which circumstances, and a table for each case. */
export function section(suite: string, circumstances: string, reports: readonly Report[]): string {
  const head = `## ${suite}\n\n\`npm run bench -- ${suite}\`: ${circumstances}.`
  return [head, ...reports.map(caseTable)].join('\n\n')
}

/** The page with this suite's part in the place of the old one, or at the end. Whatever stands outside its marks stays. */
export function withSection(page: string, suite: string, text: string): string {
  const [start, end] = [`<!-- bench ${suite} -->`, `<!-- end of bench ${suite} -->`]
  const part = `${start}\n${text}\n${end}`
  const from = page.indexOf(start)
  const to = page.indexOf(end)
  if (from === -1 || to === -1) return `${page.trimEnd()}\n\n${part}\n`
  return page.slice(0, from) + part + page.slice(to + end.length)
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
