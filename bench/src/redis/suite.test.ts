import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { cases } from './suite.ts'

const printed: string[] = []

beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation(text => printed.push(...String(text).split('\n')))
})

afterEach(() => {
  vi.restoreAllMocks()
  printed.length = 0
})

/** The shortest run there is: nothing is said about any time. */
async function lines(name: string): Promise<Record<string, unknown>[]> {
  const found = cases.find(candidate => candidate.name.startsWith(name))!
  await found.run({ rounds: 1, sliceMs: 1 })
  return printed.filter(line => line.startsWith('{')).map(line => JSON.parse(line))
}

test('a case runs everyone against a real server and prints one line with all readings', async () => {
  const [line, ...more] = await lines('one hot key')
  const everyone = { sluice: expect.any(Number), 'rate-limiter-flexible': expect.any(Number) }
  expect(more).toEqual([])
  expect(line).toMatchObject({
    bench: 'redis',
    unit: 'decisions/s',
    sluice: expect.any(Number),
    peers: { 'rate-limiter-flexible': expect.any(Number) },
    ratio: { 'rate-limiter-flexible': expect.any(Number) },
    clientUs: everyone,
    serverUs: everyone,
    p50Us: everyone,
    p99Us: everyone,
    cpuRatio: { 'rate-limiter-flexible': expect.any(Number) },
  })
})

test('bytes are those of the keys of the limits', async () => {
  const line = (await lines('sliding log of 1,000, bytes'))[0]!
  // Eight bytes a slot, and a sorted set takes several times that.
  expect(line.sluice).toBeGreaterThan(8000)
  expect((line.ratio as Record<string, number>)['sorted-set log']).toBeGreaterThan(2)
})

test('the names of the cases are distinct', () => {
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
})
