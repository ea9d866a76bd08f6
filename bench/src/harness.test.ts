import { expect, test } from 'vitest'
import { compare, inSeveral, orderOf } from './harness.ts'
import { isNoise, json, type Report, table } from './report.ts'
import { distance, median, medianRatio, spread } from './statistics.ts'

test.each([
  [[5], 5],
  [[9, 1, 5], 5],
  [[4, 1, 3, 2], 2.5],
  [[10, 9, 100], 10],
])('the median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected)
})

test('the median leaves its input in order', () => {
  const values = [3, 1, 2]
  median(values)
  expect(values).toEqual([3, 1, 2])
})

test('a ratio is taken within each round, so a slow round cancels', () => {
  expect(medianRatio([200, 40, 180], [100, 20, 90])).toBe(2)
  // The quotient of the medians would say 1.
  expect(medianRatio([100, 10, 10], [10, 1, 10])).toBe(10)
})

test('faster and slower by the same factor are equally far from 1', () => {
  expect(distance(1)).toBe(0)
  expect(distance(1.25)).toBeCloseTo(0.25)
  expect(distance(0.8)).toBeCloseTo(0.25)
})

test('the A/A spread is how far the median of the rounds may come out', () => {
  const again = (rounds: number) => Array.from({ length: rounds }, () => 100)
  const steady = Array.from({ length: 21 }, () => 125)
  expect(spread(steady, again(21))).toBeCloseTo(0.25)
  // One wild round is not what a median is made of.
  expect(spread([...steady, 900], again(22))).toBeCloseTo(0.25)
  // Rounds that spread by 20 % say little when they are few, and much when they are many.
  const noisy = (rounds: number) => Array.from({ length: rounds }, (_, i) => 80 + ((i * 17) % 41))
  expect(spread(noisy(5), again(5))).toBeGreaterThan(0.1)
  expect(spread(noisy(205), again(205))).toBeLessThan(0.05)
})

test('a ratio inside the A/A spread is no result, and without an A/A line nothing is called noise', () => {
  expect(isNoise(1.05, 0.06)).toBe(true)
  expect(isNoise(0.95, 0.06)).toBe(true)
  expect(isNoise(0.9, 0.06)).toBe(false)
  expect(isNoise(1, null)).toBe(false)
})

test('the order of a round is rotated, and turned round every other round', () => {
  expect([0, 1, 2, 3].map(round => orderOf(['a', 'b', 'c'], round).join(''))).toEqual(['abc', 'acb', 'cab', 'cba'])
})

const report: Report = {
  bench: 'memory',
  case: 'some case',
  unit: 'decisions/s',
  better: 'more',
  rows: [
    { name: 'sluice', role: 'sluice', value: 8_765_432 },
    { name: 'sluice', role: 'again', value: 8_700_000, ratio: 1.01 },
    { name: 'peer', role: 'peer', value: 2_000_000, ratio: 4.38 },
    { name: 'bare Map', role: 'reference', value: 9_000_000, ratio: 0.97 },
  ],
  aa: 0.04,
}

test('the JSON line has the peers apart from the references, and a ratio for both', () => {
  expect(JSON.parse(json(report))).toEqual({
    bench: 'memory',
    case: 'some case',
    unit: 'decisions/s',
    sluice: 8_765_000,
    peers: { peer: 2_000_000 },
    ratio: { peer: 4.38, 'bare Map': 0.97 },
    aa: 0.04,
    references: { 'bare Map': 9_000_000 },
  })
})

test('the table marks what is within the noise', () => {
  const lines = table(report).split('\n')
  expect(lines.find(line => line.includes('bare Map'))).toContain('≈ 0.97')
  expect(lines.find(line => line.includes('peer'))).not.toContain('≈')
})

test('readings are columns of the table, and objects of the JSON line without the A/A row', () => {
  const read = { ...report, rows: report.rows.map((row, i) => ({ ...row, readings: { clientUs: i + 0.5 } })) }
  expect(table(read).split('\n')[1]).toMatch(/sluice \/ it {2}clientUs$/)
  expect(JSON.parse(json(read))).toMatchObject({ clientUs: { sluice: 0.5, peer: 2.5, 'bare Map': 3.5 } })
})

test('everyone runs, and whoever can be called in several ways is called in its fastest', async () => {
  const spin = (count: number, each: number) => {
    let sum = 0
    for (let i = 0; i < count * each; i++) sum += Math.sqrt(i)
    return sum < 0 ? 0 : count
  }
  const sluice = () => ({ name: 'sluice', ways: { only: (count: number) => spin(count, 2) } })
  const peer = {
    name: 'peer',
    ways: { slow: async (count: number) => spin(count, 200), fast: (count: number) => spin(count, 2) },
  }
  const { rows } = await compare({ sluice, peers: [peer], fill: 10 }, { rounds: 3, sliceMs: 2 })
  expect(rows.map(row => row.role)).toEqual(['sluice', 'peer', 'again'])
  expect(rows[1]!.note).toContain('100 % admitted, fastest by fast')
})

test('the rounds of several processes are those of one', async () => {
  let process = 0
  const asked: unknown[] = []
  const measured = await inSeveral(2, { rounds: 5, sliceMs: 7 }, async settings => {
    asked.push(settings)
    process++
    const series = (base: number) => ({
      rates: [base + process],
      readings: { serverUs: [base * process] },
      note: `${process}`,
    })
    return [
      { role: 'sluice', name: 'sluice', ...series(10) },
      { role: 'peer', name: 'a peer', ...series(20) },
    ]
  })
  expect(asked).toEqual([
    { rounds: 3, sliceMs: 7 },
    { rounds: 3, sliceMs: 7 },
  ])
  expect(measured).toEqual([
    { role: 'sluice', name: 'sluice', rates: [11, 12], readings: { serverUs: [10, 20] }, note: '2' },
    { role: 'peer', name: 'a peer', rates: [21, 22], readings: { serverUs: [20, 40] }, note: '2' },
  ])
})
