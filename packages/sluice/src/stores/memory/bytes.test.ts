import { describe, expect, test } from 'vitest'
import { concurrency, createLimiter, memoryStore, slidingLog, slidingWindow, tokenBucket } from '../../index.ts'
import { fakeClock } from '../../testing/fake-clock.ts'
import { KEY_BYTES } from './table/key-table.ts'

const MAX_KEYS = 1000
const BYTES = MAX_KEYS * KEY_BYTES

function small() {
  const clock = fakeClock()
  const store = memoryStore({ clock, maxKeys: MAX_KEYS })
  return { clock, store }
}

describe('a store keeps no more bytes than its keys may take', () => {
  test('in the times of logs, and gives their room back', () => {
    const { clock, store } = small()
    const limiter = createLimiter(slidingLog({ limit: 1000, window: '1m' }), { store })
    const fill = () => {
      let times = 0
      for (let n = 0; n < 400; n++) if (limiter.consume(`key ${n % 20}`, { cost: 50 }).allowed) times += 50
      return times
    }
    const first = fill()
    expect(first).toBeGreaterThan(0.5 * (BYTES / 8))
    // One log more may have doubled before the store was full.
    expect(first).toBeLessThan(BYTES / 8 + 1000)
    clock.advance(60_000)
    expect(fill()).toBe(first)
  })

  test('in slots, and those given back make room', () => {
    const { store } = small()
    const limiter = createLimiter(concurrency({ limit: 10_000, ttl: '1m' }), { store })
    const taken = Array.from({ length: 2000 }, () => limiter.consume('one')).filter(({ allowed }) => allowed)
    expect(taken.length).toBeGreaterThan(200)
    expect(taken.length).toBeLessThan(BYTES / 100)
    expect(limiter.peek('one').retryAfterMs).toBe(60_000)
    for (const decision of taken) decision.release()
    expect(limiter.consume('one').allowed).toBe(true)
  })

  test('in windows of many counters', () => {
    const { store } = small()
    const limiter = createLimiter(slidingWindow({ limit: 10, window: '1m', buckets: 60 }), { store })
    for (let n = 0; n < MAX_KEYS; n++) limiter.consume(`key ${n}`)
    expect(store.size * 62 * 8).toBeLessThan(BYTES)
    expect(store.stats().overflowed).toBeGreaterThan(0)
  })

  test('in reservations: one more is refused until the next expires', () => {
    const { clock, store } = small()
    const limiter = createLimiter(tokenBucket({ capacity: 10_000, refill: '1/s' }), { store })
    const all = Array.from({ length: 1000 }, () => limiter.reserve('one', { cost: 1, ttl: '1m' }))
    const held = all.filter(({ allowed }) => allowed).length
    expect(held).toBeGreaterThan(200)
    expect(held).toBeLessThan(BYTES / 100)
    expect([store.stats().holds, store.stats().keys]).toEqual([held, 1])
    expect(all.at(-1)!.decision).toMatchObject({ reason: 'too-many-holds', retryAfterMs: 60_000 })
    expect(limiter.reserve('one', { cost: 0, ttl: '1d' }).allowed).toBe(true)
    clock.advance(60_000)
    expect(limiter.reserve('one', { cost: 1, ttl: '1m' }).allowed).toBe(true)
    expect(store.stats().holds).toBe(1)
  })
})
