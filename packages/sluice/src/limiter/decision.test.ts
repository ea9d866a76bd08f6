import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  gcra,
  leakyBucket,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../index.ts'
import { fakeClock } from '../testing/index.ts'

describe('a decision says', () => {
  const clock = fakeClock(1000)
  const limiter = createLimiter(tokenBucket({ capacity: 10, refill: '1/s' }), { clock })
  const own = { policy: 'default', limit: 10, degraded: false }
  const state = { name: 'default', limit: 10, shadow: false, cached: false }

  test.each([
    // at, cost, allowed, reason, remaining, resetAt, retryAfterMs
    [1000, 4, true, 'ok', 6, 5000, 0],
    [1000, 6, true, 'ok', 0, 11_000, 0],
    [1000, 1, false, 'limited', 0, 11_000, 1000],
    [1500, 1, false, 'limited', 0, 11_000, 500],
    [1500, 11, false, 'cost-exceeds-limit', 0, 11_000, Infinity],
    [2000, 1, true, 'ok', 0, 12_000, 0],
    [5500, 0, true, 'ok', 3, 12_000, 0],
    [5500, 4, false, 'limited', 3, 12_000, 500],
    [20_000, 0, true, 'ok', 10, 20_000, 0],
  ] as const)('at %d, of a cost of %d', (at, cost, allowed, reason, remaining, resetAt, retryAfterMs) => {
    clock.set(at)
    const decision = limiter.consume('a', { cost })
    const resetAfterMs = resetAt - at
    expect(decision).toMatchObject({ ...own, allowed, reason, remaining, at, resetAt, resetAfterMs, retryAfterMs })
    expect(decision.limits).toEqual([{ ...state, allowed, remaining, resetAt, resetAfterMs, retryAfterMs }])
    const json = { ...own, allowed, reason, remaining, at, resetAt, resetAfterMs }
    const jsonRetry = retryAfterMs === Infinity ? null : retryAfterMs
    expect(JSON.parse(JSON.stringify(decision))).toEqual({
      ...json,
      retryAfterMs: jsonRetry,
      limits: [{ ...state, allowed, remaining, resetAt, resetAfterMs, retryAfterMs: jsonRetry }],
    })
    expect(decision.toJSON()).toEqual(JSON.parse(JSON.stringify(decision)))
  })

  test('to a console what it says in JSON', () => {
    expect(inspect(limiter.peek('a'))).toBe(inspect(limiter.peek('a').toJSON()))
  })
})

describe('limits', () => {
  test('stay what they were, whatever is decided before they are read', () => {
    const limits = {
      window: { policy: fixedWindow({ limit: 9, window: '1m' }) },
      bucket: { policy: tokenBucket({ capacity: 5, refill: '1/s' }), key: (s: string[]) => s[0] },
      sliding: { policy: slidingWindow({ limit: 7, window: '1m' }), key: (s: string[]) => s[0] },
    }
    const limiter = createLimiter<string[]>({ clock: fakeClock(), limits })
    const decisions = ['ann', 'ann', 'bob', 'ann', 'bob'].map(name => limiter.consume([name]))
    expect(decisions.map(({ limits }) => limits.map(({ remaining }) => remaining))).toEqual([
      [8, 4, 6],
      [7, 3, 5],
      [6, 4, 6],
      [5, 2, 4],
      [4, 3, 5],
    ])
  })

  test('hold one state for each limit that applied, in declared order, each with its own answer', () => {
    const limiter = createLimiter<{ user?: string }>({
      clock: fakeClock(),
      limits: {
        z: { policy: fixedWindow({ limit: 5, window: '1m' }) },
        user: { policy: '1/m', key: s => s.user },
        a: { policy: tokenBucket({ capacity: 1, refill: '1/s' }) },
      },
    })
    limiter.consume({})
    const same = { shadow: false, cached: false }
    expect(limiter.consume({}).limits).toEqual([
      { ...same, name: 'z', allowed: true, limit: 5, remaining: 4, resetAt: 6e4, resetAfterMs: 6e4, retryAfterMs: 0 },
      {
        ...same,
        name: 'a',
        allowed: false,
        limit: 1,
        remaining: 0,
        resetAt: 1e3,
        resetAfterMs: 1e3,
        retryAfterMs: 1e3,
      },
    ])
  })

  test('of an old decision still say what was then', () => {
    const limiter = createLimiter(fixedWindow({ limit: 5, window: '1m' }), { clock: fakeClock() })
    const decision = limiter.consume('a')
    limiter.consume('a', { cost: 4 })
    expect(decision.limits).toEqual([expect.objectContaining({ remaining: 4 })])
  })
})

const policies = [
  tokenBucket({ capacity: 7, refill: '3/s' }),
  leakyBucket({ capacity: 7, leak: '3/s' }),
  gcra({ rate: '3/s', burst: 7 }),
  fixedWindow({ limit: 7, window: '1s' }),
  fixedWindow({ limit: 7, window: '1s', align: 'key' }),
  fixedWindow({ limit: 7, window: '1s', align: 'first' }),
  fixedWindow({ limit: 7, align: 'month', timeZone: 'America/New_York' }),
  slidingWindow({ limit: 7, window: '1s' }),
  slidingWindow({ limit: 7, window: '1s', buckets: 10 }),
  slidingLog({ limit: 7, window: '1s' }),
  concurrency({ limit: 7, ttl: '1s' }),
]

describe.each(policies)('$kind', policy => {
  test('retryAfterMs is exact: the same cost passes then, and not a tick earlier', () => {
    for (const cost of [1, 3, 7]) {
      const clock = fakeClock(1_700_000_000_123.456)
      const limiter = createLimiter(policy, { clock })
      limiter.consume('a', { cost: 4 })
      clock.advance(123.457)
      limiter.consume('a', { cost: 3 })
      const { retryAfterMs } = limiter.consume('a', { cost })
      clock.advance(retryAfterMs - 0.001)
      expect(limiter.peek('a', { cost }).allowed).toBe(false)
      clock.advance(0.001)
      expect(limiter.consume('a', { cost }).allowed).toBe(true)
    }
  })

  test('resetAt does not move while nothing is consumed, and the limit is whole then', () => {
    const clock = fakeClock(1_700_000_000_123.456)
    const limiter = createLimiter(policy, { clock })
    const { resetAt } = limiter.consume('a', { cost: 4 })
    for (let left = 5; left > 0; left--) {
      const seen = limiter.peek('a')
      expect(seen.resetAt).toBe(resetAt)
      expect(seen.resetAfterMs).toBeCloseTo(resetAt - clock.now(), 3)
      expect(limiter.consume('a', { cost: 8 }).resetAt).toBe(resetAt)
      clock.advance((resetAt - clock.now()) / left - 0.001)
    }
    clock.set(resetAt)
    expect(limiter.peek('a')).toMatchObject({ remaining: 7, resetAfterMs: 0 })
  })
})
