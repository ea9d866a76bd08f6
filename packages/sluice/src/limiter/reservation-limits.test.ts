import { describe, expect, test } from 'vitest'
import { concurrency, createLimiter, fixedWindow, slidingLog, tokenBucket } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

describe('a reservation over several limits', () => {
  const several = () => {
    const limiter = createLimiter<object>({
      clock: fakeClock(6_000_000),
      limits: {
        tokens: { policy: tokenBucket({ capacity: 1000, refill: '100/m' }) },
        requests: { policy: fixedWindow({ limit: 10, window: '1m' }), cost: 1 },
        slots: { policy: concurrency({ limit: 2, ttl: '1h' }), cost: 1 },
        trial: { policy: slidingLog({ limit: 800, window: '1h' }), mode: 'shadow' },
      },
    })
    return { limiter, left: () => limiter.peek({}).limits.map(({ remaining }) => remaining) }
  }

  test('settles the tokens, keeps the request, frees the slot', () => {
    const { limiter, left } = several()
    const call = limiter.reserve({}, { cost: 600, ttl: '10m' })
    expect(left()).toEqual([400, 9, 1, 200])
    expect(call.settle(50)).toEqual({ reserved: 600, charged: 50, overdrawn: false })
    expect(left()).toEqual([950, 9, 2, 750])
  })

  test('settles by name, and what is not named keeps what was reserved', () => {
    const { limiter, left } = several()
    const call = limiter.reserve({}, { cost: 600, ttl: '10m' })
    expect(call.settle({ tokens: 50, requests: 0 })).toEqual({ reserved: 600, charged: 0, overdrawn: false })
    expect(left()).toEqual([950, 10, 2, 200])
  })

  test('an actual cost that is no cost is refused by name too', () => {
    const { limiter } = several()
    const call = limiter.reserve({}, { cost: 600, ttl: '10m' })
    expect(() => call.settle({ tokens: Number.NaN })).toThrow('SLUICE_BAD_COST')
    expect(() => call.settle({ tokns: 50 })).toThrow('SLUICE_UNKNOWN_LIMIT')
  })

  test('cancelled is as if it had never been', () => {
    const { limiter, left } = several()
    limiter.reserve({}, { cost: 600, ttl: '10m' }).cancel()
    expect(left()).toEqual([1000, 10, 2, 800])
  })

  test('releasing its decision frees the slot before it is settled, once', () => {
    const { limiter, left } = several()
    const call = limiter.reserve({}, { cost: 600, ttl: '10m' })
    limiter.reserve({}, { cost: 1, ttl: '10m' })
    call.decision.release()
    expect(left()[2]).toBe(1)
    call.settle(600)
    expect(left()[2]).toBe(1)
  })

  test('refused by one takes nothing from the others', () => {
    const { limiter, left } = several()
    limiter.consume({}, { cost: 900 }).release()
    expect(limiter.reserve({}, { cost: 200, ttl: '10m' })).toMatchObject({ allowed: false })
    expect(left()).toEqual([100, 9, 2, 800])
  })
})
