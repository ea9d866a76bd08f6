import { expect, test } from 'vitest'
import { section, withSection } from './docs-page.ts'
import type { Report, Row } from './report.ts'

const rows: readonly Row[] = [
  { name: 'sluice', role: 'sluice', value: 8_765_432 },
  { name: 'sluice', role: 'again', value: 8_700_000, ratio: 1.01 },
  { name: 'a peer', role: 'peer', value: 2_000_000, ratio: 4.38 },
]
const report: Report = { bench: 'memory', case: 'some case', unit: 'decisions/s', better: 'more', rows, aa: 0.04 }

test('a suite on the page has its command, its circumstances and a table for each case, without the A/A row', () => {
  expect(section('memory', '2026-01-31; a machine', [report])).toBe(`## memory

\`npm run bench -- memory\`: 2026-01-31; a machine.

| some case | decisions/s | sluice / it |
| --- | ---: | ---: |
| sluice | 8,765,432 |  |
| a peer | 2,000,000 | 4.38 |`)
})

test('a suite is written again in its own place, and everything around it stays', () => {
  const page = withSection(withSection('# Benchmarks\n\nBy hand.\n', 'memory', 'old'), 'redis', 'of redis')
  const again = withSection(page, 'memory', 'new')
  expect(again).toBe(page.replace('old', 'new'))
  expect(again.match(/<!-- bench memory -->/g)).toHaveLength(1)
  expect(again).toContain('By hand.')
  expect(again.indexOf('new')).toBeLessThan(again.indexOf('of redis'))
})
