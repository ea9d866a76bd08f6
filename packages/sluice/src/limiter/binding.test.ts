import { describe, expect, test } from 'vitest'
import { createLimiter, fixedWindow, type PolicyLike, slidingLog, tokenBucket } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

/** One limiter over anybody, with the named policies and costs. */
function over(limits: Record<string, [policy: PolicyLike, cost?: number]>) {
  const clock = fakeClock()
  const named = Object.entries(limits).map(([name, [policy, cost]]) => [name, { policy, ...(cost && { cost }) }])
  return { clock, limiter: createLimiter<object>({ clock, limits: Object.fromEntries(named) }) }
}

const minute = fixedWindow({ limit: 1, window: '1m' })
const hour = fixedWindow({ limit: 1, window: '1h' })
const none = fixedWindow({ limit: 0, window: '1m' })

describe('of those that refused, the one that frees last binds', () => {
  test.each<[what: string, limits: Parameters<typeof over>[0], policy: string, retryAfterMs: number]>([
    ['the only one, declared first', { minute: [minute], wide: ['100/m'] }, 'minute', 60_000],
    ['the only one, declared last', { wide: ['100/m'], minute: [minute] }, 'minute', 60_000],
    ['the later of two', { minute: [minute], hour: [hour] }, 'hour', 3_600_000],
    ['the later of two, declared first', { hour: [hour], minute: [minute] }, 'hour', 3_600_000],
    ['one that never frees', { hour: [hour], none: [none] }, 'none', Infinity],
    ['of equals, the first declared', { b: [minute], a: [minute] }, 'b', 60_000],
  ])('%s', (_, limits, policy, retryAfterMs) => {
    const { limiter } = over(limits)
    limiter.consume({})
    expect(limiter.consume({})).toMatchObject({ allowed: false, policy, retryAfterMs })
  })

  test('however little the others have left', () => {
    const { limiter } = over({ empty: [fixedWindow({ limit: 2, window: '1d' })], late: [minute] })
    limiter.consume({})
    expect(limiter.consume({})).toMatchObject({ policy: 'late', limit: 1, remaining: 0, resetAt: 60_000 })
  })

  test('a block counts for when it ends', () => {
    const { limiter } = over({ minute: [minute], hour: [hour] })
    limiter.consume({})
    limiter.block({}, { limit: 'minute', for: '1d' })
    expect(limiter.consume({})).toMatchObject({ policy: 'minute', reason: 'blocked', retryAfterMs: 86_400_000 })
    limiter.block({}, { limit: 'minute', for: '5m' })
    expect(limiter.consume({})).toMatchObject({ policy: 'hour', reason: 'limited', retryAfterMs: 3_600_000 })
  })

  test('retrying when the binding one frees passes all of them', () => {
    const { clock, limiter } = over({ minute: [minute], log: [slidingLog({ limit: 1, window: '61s' })] })
    limiter.consume({})
    clock.advance(limiter.consume({}).retryAfterMs - 0.001)
    expect(limiter.peek({}).allowed).toBe(false)
    clock.advance(0.001)
    expect(limiter.consume({}).allowed).toBe(true)
  })
})

describe('where all passed, the one with the fewest further requests of the same cost binds', () => {
  const of = (limit: number, window: '1m' | '1h' = '1m') => fixedWindow({ limit, window })
  test.each<[what: string, limits: Parameters<typeof over>[0], policy: string, remaining: number]>([
    ['the least remaining, where costs are equal', { a: [of(10)], b: [of(5)], c: [of(7)] }, 'b', 4],
    ['the most remaining, where it costs more', { calls: [of(6), 1], tokens: [of(120), 40] }, 'tokens', 80],
    ['whole requests: 85 of cost 40 are 2, as many as 2 of cost 1', { a: [of(3), 1], b: [of(125), 40] }, 'a', 2],
    ['then the latest reset', { minute: [of(5)], hour: [of(5, '1h')] }, 'hour', 4],
    ['then the latest reset, declared first', { hour: [of(5, '1h')], minute: [of(5)] }, 'hour', 4],
    ['then the first declared', { z: [of(5)], a: [of(5)] }, 'z', 4],
  ])('%s', (_, limits, policy, remaining) => {
    const decision = over(limits).limiter.consume({})
    expect(decision).toMatchObject({ allowed: true, reason: 'ok', policy, remaining, retryAfterMs: 0 })
  })

  test('so does a peek say', () => {
    const { limiter } = over({ a: [of(10)], b: [tokenBucket({ capacity: 5, refill: '1/s' })] })
    expect(limiter.peek({})).toMatchObject({ policy: 'b', limit: 5, remaining: 5 })
  })
})
