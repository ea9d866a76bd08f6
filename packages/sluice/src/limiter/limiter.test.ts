import { describe, expect, test } from 'vitest'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  gcra,
  type LimiterEvent,
  leakyBucket,
  limits,
  memoryStore,
  type PolicyLike,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const policies: PolicyLike[] = [
  tokenBucket({ capacity: 3, refill: '1/s' }),
  leakyBucket({ capacity: 3, leak: '1/s' }),
  gcra({ rate: '1/s', burst: 3 }),
  fixedWindow({ limit: 3, window: '2s' }),
  fixedWindow({ limit: 3, align: 'day', timeZone: 'Europe/Berlin' }),
  slidingWindow({ limit: 3, window: '2s', buckets: 4 }),
  slidingLog({ limit: 3, window: '2s' }),
  concurrency({ limit: 3, ttl: '2s' }),
]

/** What a policy answers on one short trace. */
function answers(policy: PolicyLike) {
  const clock = fakeClock(1_700_000_000_000)
  const limiter = createLimiter(policy, { clock })
  return [0, 0, 300, 0, 250, 1200, 700, 90_000].map(gap => {
    clock.advance(gap)
    return limiter.consume('a').toJSON()
  })
}

describe('the short form', () => {
  test('counts every subject by itself, under the name default', () => {
    const limiter = createLimiter(fixedWindow({ limit: 1, window: '1m' }), { clock: fakeClock() })
    expect(limiter.name).toBe('default')
    expect(limiter.consume('a')).toMatchObject({ allowed: true, policy: 'default', limit: 1, remaining: 0 })
    expect(limiter.consume('a')).toMatchObject({ allowed: false, policy: 'default' })
    expect(limiter.consume('b').allowed).toBe(true)
  })

  test('answers at once: the decision itself, which await suits too', async () => {
    const decision = createLimiter('100/m').consume('a')
    expect(decision).not.toBeInstanceOf(Promise)
    expect('then' in decision).toBe(false)
    expect(await decision).toBe(decision)
    expect(decision.allowed).toBe(true)
  })

  test('a rate is short for an exact log of few and a sliding window of many', () => {
    expect(answers('3/2s')).toEqual(answers(slidingLog({ limit: 3, window: '2s' })))
    expect(answers('33/2s')).toEqual(answers(slidingWindow({ limit: 33, window: '2s' })))
    expect(createLimiter('100/m').consume('a')).toMatchObject({ limit: 100, remaining: 99 })
  })

  test.each(policies)('a policy that went through JSON decides the same: $kind', policy => {
    expect(answers(JSON.parse(JSON.stringify(policy)))).toEqual(answers(policy))
  })

  test.each(policies)('the second of two limiters does not see the first: $kind', policy => {
    expect(answers(policy)).toEqual(answers(policy))
  })
})

describe('named limits', () => {
  type Caller = { ip: string; userId?: string; plan?: 'free' | 'pro'; tokens?: number }
  const plans = {
    free: tokenBucket({ capacity: 10, refill: '1/s' }),
    pro: tokenBucket({ capacity: 100, refill: '10/s' }),
  }

  test('all of them are charged or none is, whichever refuses', () => {
    for (const order of [
      ['narrow', 'wide'],
      ['wide', 'narrow'],
    ] as const) {
      const all = {
        narrow: { policy: fixedWindow({ limit: 2, window: '1m' }), key: (c: Caller) => c.ip },
        wide: { policy: tokenBucket({ capacity: 10, refill: '1/m' }), key: (c: Caller) => c.ip },
      }
      const limiter = createLimiter<Caller>({
        clock: fakeClock(),
        limits: Object.fromEntries(order.map(name => [name, all[name]])),
      })
      const passed = Array.from({ length: 5 }, () => limiter.consume({ ip: 'x' }).allowed)
      expect(passed).toEqual([true, true, false, false, false])
      const left = Object.fromEntries(limiter.peek({ ip: 'x' }).limits.map(state => [state.name, state.remaining]))
      expect(left).toEqual({ narrow: 0, wide: 8 })
    }
  })

  test('a limit without key is one for everybody', () => {
    const limiter = createLimiter<Caller>({
      clock: fakeClock(),
      limits: { global: { policy: fixedWindow({ limit: 2, window: '1m' }) } },
    })
    expect(['x', 'y', 'z'].map(ip => limiter.consume({ ip }).allowed)).toEqual([true, true, false])
  })

  test('a key of undefined means that the limit does not apply', () => {
    const limiter = createLimiter({
      clock: fakeClock(),
      limits: limits<Caller>({
        ip: { policy: '100/m', key: c => c.ip },
        user: { policy: '1/m', key: c => c.userId },
      }),
    })
    const anonymous = [1, 2, 3].map(() => limiter.consume({ ip: 'x' }))
    expect(anonymous.map(d => d.allowed)).toEqual([true, true, true])
    expect(anonymous[0]!.limits.map(state => state.name)).toEqual(['ip'])
    const known = [1, 2].map(() => limiter.consume({ ip: 'x', userId: 'u' }))
    expect(known.map(d => d.allowed)).toEqual([true, false])
    expect(known[1]!.limits.map(state => state.name)).toEqual(['ip', 'user'])
  })

  test('where nothing applies the request passes unlimited, and an event says so', () => {
    const events: LimiterEvent[] = []
    const limiter = createLimiter<Caller>({
      name: 'api',
      clock: fakeClock(500),
      limits: { user: { policy: '1/m', key: c => c.userId } },
      onEvent: event => events.push(event),
    })
    const decision = limiter.consume({ ip: 'x' })
    expect(decision.toJSON()).toEqual({
      allowed: true,
      reason: 'ok',
      policy: '',
      limit: null,
      remaining: null,
      at: 500,
      resetAt: 500,
      resetAfterMs: 0,
      retryAfterMs: 0,
      degraded: false,
      limits: [],
    })
    expect([decision.limit, decision.remaining]).toEqual([Infinity, Infinity])
    expect(events).toEqual([{ type: 'nothing-applied', limiter: 'api' }])
    limiter.consume({ ip: 'x', userId: 'u' })
    expect(events).toHaveLength(1)
  })

  test('a policy may depend on the subject, and a change of plan is no fresh bucket', () => {
    const limiter = createLimiter({
      clock: fakeClock(),
      limits: limits<Caller>({ user: { policy: c => plans[c.plan ?? 'free'], key: c => c.userId } }),
    })
    const ask = (plan: 'free' | 'pro', userId: string) => limiter.consume({ ip: 'x', userId, plan }, { cost: 10 })
    expect(ask('free', 'u')).toMatchObject({ allowed: true, limit: 10, remaining: 0 })
    expect(ask('free', 'u').allowed).toBe(false)
    expect(ask('pro', 'u')).toMatchObject({ allowed: true, limit: 100, remaining: 80 })
    expect(ask('pro', 'v')).toMatchObject({ allowed: true, limit: 100, remaining: 90 })
  })

  test('a policy chosen for a subject may be text or JSON', () => {
    const limiter = createLimiter<{ policy: PolicyLike }>({ limits: { any: { policy: s => s.policy } } })
    expect(limiter.consume({ policy: '7/m' }).limit).toBe(7)
    expect(limiter.consume({ policy: JSON.parse(JSON.stringify(plans.pro)) }).limit).toBe(100)
  })
})

describe('state is kept under prefix, limiter, limit and key', () => {
  const store = memoryStore({ clock: fakeClock() })
  const policy = fixedWindow({ limit: 5, window: '1h' })
  const left = (options: { name?: string; prefix?: string }, limit = 'a', of = policy) =>
    createLimiter<object>({ ...options, store, limits: { [limit]: { policy: of, key: () => 'k' } } }).consume({})
      .remaining

  test('the same names share it, any other does not', () => {
    expect(left({})).toBe(4)
    expect(left({ name: 'default', prefix: 'sluice' })).toBe(3)
    expect(left({ name: 'other' })).toBe(4)
    expect(left({ prefix: 'other' })).toBe(4)
    expect(left({}, 'b')).toBe(4)
    // Names do not run together either.
    expect(left({ prefix: 'p', name: 'qr' })).toBe(4)
    expect(left({ prefix: 'pq', name: 'r' })).toBe(4)
  })

  test('another limit over the same window keeps what was counted, another window starts afresh', () => {
    expect(left({ name: 'grown' })).toBe(4)
    expect(left({ name: 'grown' }, 'a', fixedWindow({ limit: 50, window: '1h' }))).toBe(48)
    expect(left({ name: 'grown' }, 'a', fixedWindow({ limit: 5, window: '1d' }))).toBe(4)
  })

  test('a store passed in keeps its own clock', () => {
    const own = fakeClock(1000)
    const limiter = createLimiter(policy, { store: memoryStore({ clock: own }), clock: fakeClock(9999) })
    expect(limiter.consume('a').at).toBe(1000)
  })
})
