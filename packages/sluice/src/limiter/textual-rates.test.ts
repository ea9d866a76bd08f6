import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { admitted } from '../fixtures/limiter/patient-caller.ts'
import { createLimiter, type PolicyLike, type RateText, slidingWindow } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const WINDOWS = 100
const PERIODS = { '250ms': 250, s: 1000, '7s': 7000, m: 60_000, '15m': 900_000, h: 3_600_000, d: 86_400_000 } as const
type Period = keyof typeof PERIODS

/** The share of `count` per period that a patient caller gets. */
async function share(count: number, startMs: number, period: Period, policy: PolicyLike = `${count}/${period}`) {
  const clock = fakeClock(startMs)
  const limiter = createLimiter(policy, { clock, onEvent() {} })
  return (await admitted(limiter, clock, WINDOWS * PERIODS[period])) / (WINDOWS * count)
}

const periods = Object.keys(PERIODS) as Period[]

describe.each(periods)('per %s', period => {
  test.each(Array.from({ length: 40 }, (_, i) => i + 1))('%d is admitted to at least 96 %%', async count => {
    expect(await share(count, 1_700_000_012_345, period)).toBeGreaterThanOrEqual(0.96)
  })
})

test('so is any textual rate, from whatever moment on', { timeout: 60_000 }, async () => {
  const counts = fc.integer({ min: 1, max: 10_000 })
  const starts = fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_000 + PERIODS.d })
  await fc.assert(
    fc.asyncProperty(counts, starts, fc.constantFrom(...periods), async (count, start, period) => {
      expect(await share(count, start, period)).toBeGreaterThanOrEqual(0.96)
    }),
    { numRuns: 15, examples: [[10_000, 1_700_000_000_000, 'm']] },
  )
})

test('which a sliding counter of few would not', async () => {
  expect(await share(1, 0, 'm', slidingWindow({ limit: 1, window: '1m' }))).toBeLessThan(0.6)
  expect(await share(5, 0, 'm', slidingWindow({ limit: 5, window: '1m' }))).toBeLessThan(0.9)
})

test('a rate changed across 32 starts with fresh state, on the same side it keeps it', () => {
  let policy: RateText = '30/m'
  const limits = { user: { policy: () => policy, key: (name: string) => name } }
  const limiter = createLimiter({ clock: fakeClock(), limits })
  expect(limiter.consume('a').remaining).toBe(29)
  policy = '32/m'
  expect(limiter.consume('a').remaining).toBe(30)
  policy = '33/m'
  expect(limiter.consume('a').remaining).toBe(32)
})
