import fc from 'fast-check'
import { expect, test } from 'vitest'
import { admitted } from '../fixtures/limiter/patient-caller.ts'
import { createLimiter, type PolicyLike, type RateText, slidingWindow } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const WINDOWS = 100
const MINUTE_MS = 60_000

/** The share of `count` a minute that a patient caller gets. */
async function share(count: number, startMs: number, policy: PolicyLike = `${count}/m`) {
  const clock = fakeClock(startMs)
  const limiter = createLimiter(policy, { clock, onEvent() {} })
  return (await admitted(limiter, clock, WINDOWS * MINUTE_MS)) / (WINDOWS * count)
}

test.each(Array.from({ length: 40 }, (_, i) => i + 1))('%d/m admits at least 96 %% of it', async count => {
  expect(await share(count, 1_700_000_012_345)).toBeGreaterThanOrEqual(0.96)
})

test('so does any textual rate, from whatever moment on', { timeout: 60_000 }, async () => {
  const counts = fc.integer({ min: 1, max: 10_000 })
  const starts = fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_000 + MINUTE_MS })
  await fc.assert(
    fc.asyncProperty(counts, starts, async (count, start) => (await share(count, start)) >= 0.96),
    { numRuns: 15, examples: [[10_000, 1_700_000_000_000]] },
  )
})

test('which a sliding counter of few would not', async () => {
  expect(await share(1, 0, slidingWindow({ limit: 1, window: '1m' }))).toBeLessThan(0.6)
  expect(await share(5, 0, slidingWindow({ limit: 5, window: '1m' }))).toBeLessThan(0.9)
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
