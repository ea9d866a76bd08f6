import { afterEach, describe, expect, test, vi } from 'vitest'
import { after } from '../../clock.ts'
import { flush } from '../../fixtures/limiter/passing-time.ts'
import { createLimiter, fixedWindow, slidingLog, tokenBucket } from '../../index.ts'
import { type FakeClock, fakeClock } from '../../testing/index.ts'

const DAY = 86_400_000

/** When a promise was kept, if it was. */
function watch(clock: FakeClock, promise: Promise<unknown>) {
  const seen: { at?: number } = {}
  void promise.then(() => Object.assign(seen, { at: clock.now() }))
  return seen
}

describe('a wait of 30 days', () => {
  afterEach(() => void vi.useRealTimers())

  test.each([
    tokenBucket({ capacity: 1, refill: '1/30d' }),
    fixedWindow({ limit: 1, window: '30d', align: 'first' }),
    slidingLog({ limit: 1, window: '30d' }),
  ])('takes 30 days: $kind', async policy => {
    const clock = fakeClock()
    const limiter = createLimiter(policy, { clock })
    limiter.consume('a')
    const seen = watch(clock, limiter.wait('a'))
    await flush()
    clock.advance(30 * DAY - 1)
    await flush()
    expect(seen).toEqual({})
    clock.advance(1)
    await flush()
    expect(seen).toEqual({ at: 30 * DAY })
  })

  test('takes 30 days of real timers too, which reach no further than 2^31 ms', async () => {
    vi.useFakeTimers()
    const clock = { now: () => Date.now() }
    const limiter = createLimiter(tokenBucket({ capacity: 1, refill: '1/30d' }), { clock })
    limiter.consume('a')
    let started = false
    void limiter.wait('a').then(() => {
      started = true
    })
    await vi.advanceTimersByTimeAsync(30 * DAY - 1)
    expect(started).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(started).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each([1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 5, 366 * DAY])('after rings once, %d ms from now', ms => {
    vi.useFakeTimers()
    const ring = vi.fn()
    after({ now: () => Date.now() }, ms, ring)
    vi.advanceTimersByTime(ms - 1)
    expect(ring).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(ring).toHaveBeenCalledTimes(1)
    const cancel = after({ now: () => Date.now() }, ms, ring)
    vi.advanceTimersByTime(ms - 1)
    cancel()
    vi.advanceTimersByTime(ms)
    expect(ring).toHaveBeenCalledTimes(1)
  })

  test('needs one timer for a thousand who wait', async () => {
    vi.useFakeTimers()
    const limiter = createLimiter(tokenBucket({ capacity: 1, refill: '1/s' }), { clock: { now: () => Date.now() } })
    for (let i = 0; i < 1000; i++) void limiter.wait(`key ${i % 100}`)
    await flush()
    expect(vi.getTimerCount()).toBe(1)
  })
})

test('a wait between two milliseconds ends, on a clock near today', async () => {
  const clock = fakeClock(1_700_000_000_000.123)
  const limiter = createLimiter(slidingLog({ limit: 1, window: '777.777ms' }), { clock })
  let reads = 0
  const { now } = clock
  clock.now = () => {
    if (++reads > 10_000) throw new Error('the clock is asked again and again for the same wait')
    return now()
  }
  for (let i = 0; i < 100; i++) {
    clock.advance(0.007 * i)
    limiter.consume(`key ${i}`)
    const seen = watch(clock, limiter.wait(`key ${i}`))
    await flush()
    reads = 0
    clock.advance(limiter.peek(`key ${i}`).retryAfterMs)
    await flush()
    expect(seen).toEqual({ at: clock.now() })
  }
})
