import { expect, test } from 'vitest'
import { admitted } from '../../fixtures/limiter/patient-caller.ts'
import { client, withOwnServer } from '../../fixtures/redis/own-server.ts'
import { timedStore } from '../../fixtures/redis/timed-store.ts'
import { createLimiter, type RateText } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'

withOwnServer()

const WINDOWS = 100

test.each<[RateText, number]>([
  ['1/m', 1],
  ['5/m', 5],
  ['32/m', 32],
  ['33/m', 33],
])('%s in Redis admits at least 96 %% of it', { timeout: 60_000 }, async (rate, count) => {
  const clock = fakeClock(1_700_000_012_345)
  const store = timedStore(client, clock, { prefix: rate })
  const limiter = createLimiter(rate, { store, prefix: rate })
  expect(await admitted(limiter, clock, WINDOWS * 60_000)).toBeGreaterThanOrEqual(0.96 * WINDOWS * count)
})
