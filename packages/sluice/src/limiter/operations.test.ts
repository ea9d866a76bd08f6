import { describe, expect, test } from 'vitest'
import { type Any, codeOf } from '../fixtures/limiter/misuse.ts'
import { concurrency, createLimiter, memoryStore, slidingLog, tokenBucket } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

interface Subject {
  user?: string
}

function several() {
  const clock = fakeClock(1_700_000_000_000)
  const key = (s: Subject) => s.user
  const limiter = createLimiter<Subject>({
    clock,
    limits: {
      burst: { policy: tokenBucket({ capacity: 10, refill: '1/s' }), key },
      hourly: { policy: slidingLog({ limit: 20, window: '1h' }), key },
      open: { policy: concurrency({ limit: 2, ttl: '1m' }), key },
    },
  })
  const remaining = () => limiter.peek({ user: 'a' }, { cost: 0 }).limits.map(limit => limit.remaining)
  return { clock, limiter, remaining }
}

describe('penalize', () => {
  test('takes from every rate, though it would be refused, and leaves slots alone', () => {
    const { clock, limiter, remaining } = several()
    limiter.penalize({ user: 'a' }, { cost: 12 })
    expect(remaining()).toEqual([0, 8, 2])
    expect(limiter.consume({ user: 'a' })).toMatchObject({ allowed: false, policy: 'burst', retryAfterMs: 3000 })
    clock.advance(3000)
    expect(limiter.consume({ user: 'a' }).allowed).toBe(true)
  })

  test('a settlement above what was reserved is a debt, too', () => {
    const clock = fakeClock()
    const limiter = createLimiter(tokenBucket({ capacity: 10, refill: '1/s' }), { clock })
    const reservation = limiter.reserve('a', { cost: 1, ttl: '1m' })
    expect(reservation.settle(15)).toMatchObject({ charged: 15, overdrawn: true })
    const { allowed, retryAfterMs } = limiter.consume('a')
    expect([allowed, retryAfterMs]).toEqual([false, 6000])
    clock.advance(5999)
    expect(limiter.consume('a').allowed).toBe(false)
    clock.advance(1)
    expect(limiter.consume('a').allowed).toBe(true)
  })
})

test('set leaves so much of one limit', () => {
  const { limiter, remaining } = several()
  limiter.set({ user: 'a' }, { limit: 'hourly', remaining: 3 })
  expect(remaining()).toEqual([10, 3, 2])
  limiter.set({ user: 'a' }, { limit: 'hourly', remaining: 20 })
  expect(remaining()).toEqual([10, 20, 2])
})

test('a block for ever outlasts every window, and unblock ends it', () => {
  const { clock, limiter } = several()
  const subject = { user: 'a' }
  limiter.block(subject, { limit: 'burst', for: 'forever' })
  clock.advance(366 * 86_400_000 * 10)
  const refused = limiter.consume(subject)
  expect(refused).toMatchObject({ allowed: false, reason: 'blocked', policy: 'burst', retryAfterMs: Infinity })
  expect(refused.limits[0]?.retryAfterMs).toBe(Infinity)
  limiter.unblock(subject, { limit: 'burst' })
  expect(limiter.consume(subject).allowed).toBe(true)
})

test('a block counts in maxKeys, and one that finds no room says so', () => {
  const limiter = createLimiter('100/m', { store: memoryStore({ maxKeys: 100 }) })
  const block = (n: number) => codeOf(() => limiter.block(`user ${n}`, { for: 'forever' }))
  let blocked = 0
  while (block(blocked) !== 'SLUICE_STORE_FULL') blocked++
  expect(blocked).toBeGreaterThan(10)
  expect(blocked).toBeLessThanOrEqual(100)
  expect(limiter.peek(`user ${blocked}`).reason).not.toBe('blocked')
  expect(limiter.peek('user 0').reason).toBe('blocked')
})

describe('misuse is refused', () => {
  const { limiter, remaining } = several()
  const any = limiter as Any
  const a = { user: 'a' }
  test.each<[string, () => unknown, string]>([
    ['penalize without cost', () => any.penalize(a), 'SLUICE_BAD_OPTION'],
    ['penalize with a fraction', () => any.penalize(a, { cost: 0.5 }), 'SLUICE_BAD_COST'],
    ['set without a limit among several', () => any.set(a, { remaining: 1 }), 'SLUICE_UNKNOWN_LIMIT'],
    ['set without remaining', () => any.set(a, { limit: 'burst' }), 'SLUICE_BAD_COST'],
    ['set above the limit', () => any.set(a, { limit: 'burst', remaining: 11 }), 'SLUICE_BAD_COST'],
    ['set of slots', () => any.set(a, { limit: 'open', remaining: 1 }), 'SLUICE_NOT_SUPPORTED'],
    ['unblock by nobody', () => any.unblock(a, { limit: 'bursts' }), 'SLUICE_UNKNOWN_LIMIT'],
    ['reset of nobody', () => any.reset(a, { limits: ['bursts'] }), 'SLUICE_UNKNOWN_LIMIT'],
    ['reset of no limits', () => any.reset(a, { limits: [] }), 'SLUICE_BAD_OPTION'],
    ['reset of a text', () => any.reset(a, { limits: 'burst' }), 'SLUICE_BAD_OPTION'],
    ['inspect of nobody', () => any.inspect(a, { limits: ['bursts'] }), 'SLUICE_UNKNOWN_LIMIT'],
    ['inspect misspelt', () => any.inspect(a, { limit: 'burst' }), 'SLUICE_BAD_OPTION'],
    ['peek by name', () => any.peek(a, { limit: 'bursts' }), 'SLUICE_BAD_OPTION'],
  ])('%s', (_, call, code) => {
    expect(codeOf(call)).toBe(code)
    expect(remaining()).toEqual([10, 20, 2])
  })
})

test('inspect shows the limits that are named', () => {
  const { limiter } = several()
  expect(limiter.inspect({ user: 'a' }, { limits: ['hourly'] }).map(({ name }) => name)).toEqual(['hourly'])
})
