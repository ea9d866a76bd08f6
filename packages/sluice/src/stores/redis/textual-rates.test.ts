import { expect, test } from 'vitest'
import { admitted } from '../../fixtures/limiter/patient-caller.ts'
import { client, withOwnServer } from '../../fixtures/redis/own-server.ts'
import { timedStore } from '../../fixtures/redis/timed-store.ts'
import { createLimiter, type RateText } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'

withOwnServer()

const WINDOWS = 100

test.each<[RateText, number, periodMs: number]>([
  ['1/m', 1, 60_000],
  ['5/m', 5, 60_000],
  ['32/m', 32, 60_000],
  ['33/m', 33, 60_000],
  ['40/250ms', 40, 250],
  ['20/s', 20, 1000],
  ['2/h', 2, 3_600_000],
  ['35/h', 35, 3_600_000],
  ['1/d', 1, 86_400_000],
])('%s in Redis admits at least 96 %% of it', { timeout: 60_000 }, async (rate, count, periodMs) => {
  const clock = fakeClock(1_700_000_012_345)
  const store = timedStore(client, clock, { prefix: rate })
  const limiter = createLimiter(rate, { store, prefix: rate })
  expect(await admitted(limiter, clock, WINDOWS * periodMs)).toBeGreaterThanOrEqual(0.96 * WINDOWS * count)
})
