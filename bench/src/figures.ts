import { type Table, tablesOf } from './docs-page.ts'

/** One figure of the README, made of the tables that a suite has written into docs/benchmarks.md. */
interface Figure {
  readonly suite: string
  readonly of: (tables: readonly Table[]) => string
}

const FLEXIBLE = /^rate-limiter-flexible(, each awaited)?$/

/** The figures by their mark in the README. A range is from the worst case of a suite to its best. */
export const figures: Readonly<Record<string, Figure>> = {
  memory: {
    suite: 'memory',
    of: tables => {
      const decisions = tables.filter(({ unit }) => unit === 'decisions/s')
      const rates = range(decisions.map(ours), value => (value / 1e6).toFixed(1))
      return `${rates} million decisions a second, ${against(decisions, FLEXIBLE)} rate-limiter-flexible`
    },
  },
  footprint: {
    suite: 'memory',
    of: tables => {
      const fills = tables.filter(({ name }) => name.startsWith('memory per key, '))
      const peers = fills.flatMap(({ rows }) => rows.filter(({ name }) => FLEXIBLE.test(name)))
      return `${range(fills.map(ours), whole)} bytes a key; rate-limiter-flexible takes ${range(values(peers), whole)}`
    },
  },
  redis: {
    suite: 'redis',
    of: tables => {
      const decisions = tables.filter(({ unit }) => unit === 'decisions/s')
      return `${range(decisions.map(ours), whole)} decisions a second, ${against(decisions, FLEXIBLE)} rate-limiter-flexible`
    },
  },
  http: {
    suite: 'http',
    of: tables => {
      const served = tables.filter(({ unit }) => unit === 'requests/s')
      return `${ratios(served, /^no limiter at all$/)} of the requests that the same server answers without a limiter`
    },
  },
  service: {
    suite: 'service',
    of: tables => {
      const ofDoor = (door: RegExp) =>
        range(tables.filter(({ name, unit }) => door.test(name) && /\/s$/.test(unit)).map(ours), whole)
      return `gRPC ${ofDoor(/^ShouldRateLimit/)}, RESP ${ofDoor(/^RESP/)}, HTTP ${ofDoor(/^HTTP/)} checks a second`
    },
  },
  size: {
    suite: 'size',
    of: tables => {
      const kb = tables.map(table => `${ours(table)} KB for ${table.name}`)
      return `${kb.join(', ')}, minified and gzipped`
    },
  },
}

/** The README with every figure taken from docs/benchmarks.md. */
export function withFigures(readme: string, page: string): string {
  return Object.entries(figures).reduce((text, [mark, { suite, of }]) => {
    const tables = tablesOf(page, suite)
    if (tables.length === 0) return text
    const marked = new RegExp(`(<!-- figure ${mark} -->).*?(<!-- end -->)`)
    if (!marked.test(text)) throw new Error(`README.md has no place for the figure '${mark}'`)
    return text.replace(marked, (_, start: string, end: string) => `${start}${of(tables)}${end}`)
  }, readme)
}

function ours({ name, rows }: Table): number {
  const row = rows.find(row => row.name.startsWith('sluice'))
  if (row === undefined) throw new Error(`the table '${name}' has no row of Sluice`)
  return row.value
}

/** Sluice over a peer, case by case. */
function ratios(tables: readonly Table[], peer: RegExp): string {
  const found = tables.flatMap(({ rows }) => rows.filter(({ name, ratio }) => peer.test(name) && ratio !== undefined))
  return range(
    found.map(({ ratio }) => ratio!),
    ratio => (ratio < 1 ? ratio.toFixed(2) : ratio.toFixed(1)),
  )
}

function against(tables: readonly Table[], peer: RegExp): string {
  return `${ratios(tables, peer)} ×`
}

function values(rows: Table['rows']): number[] {
  return rows.map(({ value }) => value)
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function range(numbers: readonly number[], shown: (value: number) => string): string {
  if (numbers.length === 0) throw new Error('no table has this figure')
  const [least, most] = [shown(Math.min(...numbers)), shown(Math.max(...numbers))]
  return least === most ? least : `${least} to ${most}`
}
