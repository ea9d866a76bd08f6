import { describe, expect, test } from 'vitest'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  gcra,
  leakyBucket,
  memoryStore,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../index.ts'
import { fakeClock } from '../testing/index.ts'
import { keepsState } from './kept-state.ts'

const policies: Policy[] = [
  tokenBucket({ capacity: 100, refill: '1/h' }),
  tokenBucket({ capacity: 50, refill: '2/h' }),
  leakyBucket({ capacity: 50, leak: '1/h' }),
  gcra({ rate: '3/h', burst: 70 }),
  fixedWindow({ limit: 100, window: '1h' }),
  fixedWindow({ limit: 50, window: '1h' }),
  fixedWindow({ limit: 100, window: '1d' }),
  fixedWindow({ limit: 100, window: '1h', align: 'key' }),
  fixedWindow({ limit: 100, align: 'day' }),
  fixedWindow({ limit: 100, align: 'day', timeZone: 'Europe/Berlin' }),
  slidingWindow({ limit: 100, window: '1h' }),
  slidingWindow({ limit: 50, window: '1h' }),
  slidingWindow({ limit: 100, window: '1h', buckets: 6 }),
  slidingLog({ limit: 100, window: '1h' }),
  slidingLog({ limit: 50, window: '1h' }),
  slidingLog({ limit: 100, window: '2h' }),
  concurrency({ limit: 100, ttl: '1h' }),
  concurrency({ limit: 50, ttl: '2h' }),
]

describe.each(policies)('from %o', before => {
  test.each(policies)('to %o, as a store keeps it', after => {
    const clock = fakeClock(1_700_000_000_000)
    const store = memoryStore({ clock })
    createLimiter(before, { store }).consume('a', { cost: 10 })
    const { limit, remaining } = createLimiter(after, { store }).peek('a')
    expect(limit - remaining > 0).toBe(keepsState(before, after))
  })
})
