import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { section, tablesOf, withSection } from './docs-page.ts'
import { figures, withFigures } from './figures.ts'
import type { Report, Row } from './report.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

function report(name: string, unit: string, ours: number, ...others: Omit<Row, 'role'>[]): Report {
  const sluice: Row = { name: 'sluice, in some way', role: 'sluice', value: ours }
  const again: Row = { name: 'sluice', role: 'again', value: ours, ratio: 1 }
  const rows = [sluice, again, ...others.map(row => ({ ...row, role: 'peer' as const }))]
  return { bench: '', case: name, unit, better: 'more', rows, aa: 0.1 }
}

const flexible = 'rate-limiter-flexible'
const measured: Readonly<Record<string, readonly Report[]>> = {
  memory: [
    report('token bucket', 'decisions/s', 10_345_678, { name: `${flexible}, each awaited`, value: 1, ratio: 2.94 }),
    report('three limits', 'decisions/s', 1_940_000, { name: flexible, value: 1, ratio: 1.05 }),
    report('memory per key, 100 keys', 'bytes/key', 21.3, { name: flexible, value: 390.2, ratio: 18 }),
    report('memory per key, 200 keys', 'bytes/key', 34),
  ],
  redis: [report('fixed window', 'decisions/s', 345_000, { name: flexible, value: 1, ratio: 4.5 })],
  http: [
    report('Express', 'requests/s', 9000, { name: 'no limiter at all', value: 1, ratio: 0.931 }),
    report('Hono', 'requests/s', 9000, { name: 'no limiter at all', value: 1, ratio: 0.8904 }),
    report('Hono: server CPU', 'µs/request', 9000, { name: 'no limiter at all', value: 1, ratio: 0.7 }),
  ],
  service: [
    report('ShouldRateLimit, 64 streams', 'decisions/s', 20_100),
    report('RESP ×1', 'decisions/s', 93_000),
    report('RESP ×1: server CPU', 'µs/decision', 9),
    report('RESP, pipelined ×16', 'decisions/s', 464_000),
    report('HTTP check, one process', 'checks/s', 48_000),
  ],
  size: [report('a limiter in memory', 'KB gzipped', 17.03), report('limits for a server', 'KB gzipped', 29.1)],
}

const page = Object.entries(measured).reduce(
  (text, [suite, reports]) => withSection(text, suite, section(suite, 'today', reports)),
  '# Benchmarks\n',
)

test('the tables of a suite are read as they were written, and a suite that was not measured has none', () => {
  const [table, ...more] = tablesOf(page, 'redis')
  expect(more).toEqual([])
  expect(table).toEqual({
    ...{ name: 'fixed window', unit: 'decisions/s' },
    rows: [
      { name: 'sluice, in some way', value: 345_000, ratio: undefined },
      { name: flexible, value: 1, ratio: 4.5 },
    ],
  })
  expect(tablesOf(page, 'studio')).toEqual([])
})

test('a ratio within the noise is a ratio all the same', () => {
  const near = withSection(
    '',
    'redis',
    section('redis', '', [report('a', 'b', 2, { name: 'c', value: 2, ratio: 1.05 })]),
  )
  expect(near).toContain('≈ 1.05')
  expect(tablesOf(near, 'redis')[0]!.rows[1]!.ratio).toBe(1.05)
})

test('a figure is the range over the cases of its suite', () => {
  const readme = Object.keys(figures)
    .map(mark => `<!-- figure ${mark} -->old<!-- end -->`)
    .join('\n')
  expect(withFigures(readme, page).replace(/<!-- .*? -->/g, '')).toBe(
    [
      '1.9 to 10.3 million decisions a second, 1.1 to 2.9 × rate-limiter-flexible',
      '21 to 34 bytes a key; rate-limiter-flexible takes 390',
      '345,000 decisions a second, 4.5 × rate-limiter-flexible',
      '0.89 to 0.93 of the requests that the same server answers without a limiter',
      'gRPC 20,100, RESP 93,000 to 464,000, HTTP 48,000 checks a second',
      '17 KB for a limiter in memory, 29.1 KB for limits for a server, minified and gzipped',
    ].join('\n'),
  )
})

test('the figures in the README are those of docs/benchmarks.md', () => {
  const readme = read('README.md')
  expect(withFigures(readme, read('docs/benchmarks.md'))).toBe(readme)
  for (const mark of Object.keys(figures)) expect(readme).toContain(`<!-- figure ${mark} -->`)
})
