import { describe, expect, test } from 'vitest'
import { fiveOfEach } from '../fixtures/limiter/five-of-each.ts'
import { createLimiter, slidingLog } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

describe.each(fiveOfEach)('peek: $kind', policy => {
  test('takes nothing', () => {
    const limiter = createLimiter(policy, { clock: fakeClock() })
    for (let i = 0; i < 20; i++) expect(limiter.peek('a')).toMatchObject({ allowed: true, remaining: 5 })
    expect(limiter.consume('a', { cost: 5 }).allowed).toBe(true)
  })

  test('says whether the cost would pass, and when', () => {
    const limiter = createLimiter(policy, { clock: fakeClock() })
    limiter.consume('a', { cost: 3 })
    expect(limiter.peek('a', { cost: 2 }).allowed).toBe(true)
    const refused = limiter.peek('a', { cost: 3 })
    expect(refused).toMatchObject({ allowed: false, reason: 'limited', remaining: 2 })
    expect(refused.retryAfterMs).toBe(limiter.consume('a', { cost: 3 }).retryAfterMs)
    expect(limiter.peek('a', { cost: 6 })).toMatchObject({ reason: 'cost-exceeds-limit', retryAfterMs: Infinity })
  })
})

test('a peek leaves every limit alone, shadows too', () => {
  const limiter = createLimiter<object>({
    clock: fakeClock(),
    limits: { user: { policy: '5/m' }, trial: { policy: '5/m', mode: 'shadow' } },
  })
  limiter.peek({}, { cost: 5 })
  expect(limiter.peek({}).limits.map(({ remaining }) => remaining)).toEqual([5, 5])
})

describe('history', () => {
  const clock = fakeClock()
  const limiter = createLimiter<{ user?: string }>({
    clock,
    limits: {
      log: { policy: slidingLog({ limit: 3, window: '10s' }), key: s => s.user },
      rate: { policy: '100/m' },
    },
  })

  test.each([
    // at, cost, the times still in the window
    [0, 1, [0]],
    [1500.25, 2, [0, 1500.25, 1500.25]],
    [2000, 1, [0, 1500.25, 1500.25]],
    [9999.999, 0, [0, 1500.25, 1500.25]],
    [10_000, 0, [1500.25, 1500.25]],
    [10_000, 1, [1500.25, 1500.25, 10_000]],
    [11_500.25, 0, [10_000]],
    [20_000, 0, []],
  ])('at %d, after a cost of %d, holds %j', (at, cost, times) => {
    clock.set(at)
    limiter.consume({ user: 'u' }, { cost })
    expect(limiter.history({ user: 'u' }, { limit: 'log' })).toEqual(times)
  })

  test('is empty for somebody unknown and where the limit does not apply', () => {
    expect(limiter.history({ user: 'nobody' }, { limit: 'log' })).toEqual([])
    expect(limiter.history({}, { limit: 'log' })).toEqual([])
  })

  test('needs no name where there is one limit, and changes nothing when changed', () => {
    const short = createLimiter(slidingLog({ limit: 3, window: '10s' }), { clock: fakeClock(7) })
    short.consume('a')
    const times = short.history('a')
    expect(times).toEqual([7])
    times.length = 0
    expect(short.history('a')).toEqual([7])
  })
})
