import { describe, expect, test } from 'vitest'
import {
  createLimiter,
  fixedWindow,
  gcra,
  leakyBucket,
  type PolicyLike,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const MINUTE = 60_000
const bucket = tokenBucket({ capacity: 1000, refill: '100/m' })

function limited(policy: PolicyLike = bucket) {
  const clock = fakeClock(100 * MINUTE)
  const limiter = createLimiter(policy, { clock })
  return { clock, limiter, left: () => limiter.peek('a').remaining }
}

describe.each([
  bucket,
  leakyBucket({ capacity: 1000, leak: '100/m' }),
  gcra({ rate: '100/m', burst: 1000 }),
  fixedWindow({ limit: 1000, window: '10m' }),
  slidingWindow({ limit: 1000, window: '5m' }),
  slidingLog({ limit: 1000, window: '10m' }),
])('a long call: $kind', policy => {
  test('ten minutes after reserving 1000, settling for 200 gives exactly 800 back', () => {
    const { clock, limiter, left } = limited(policy)
    const call = limiter.reserve('a', { cost: 1000, ttl: '1h' })
    expect(call.allowed).toBe(true)
    expect(call.decision).toMatchObject({ allowed: true, remaining: 0 })
    clock.advance(10 * MINUTE)
    expect(left()).toBe(0)
    expect(limiter.consume('a').allowed).toBe(false)
    expect(call.settle(200)).toEqual({ reserved: 1000, charged: 200, overdrawn: false })
    expect(left()).toBe(800)
  })

  test('all that is not held drains meanwhile', () => {
    const { clock, limiter, left } = limited(policy)
    limiter.consume('a', { cost: 400 })
    const call = limiter.reserve('a', { cost: 600, ttl: '1h' })
    clock.advance(10 * MINUTE)
    expect(left()).toBe(400)
    call.settle(100)
    expect(left()).toBe(900)
  })

  test('beside it, what passes leaves room for all that is held', () => {
    const { limiter, left } = limited(policy)
    limiter.reserve('a', { cost: 600, ttl: '1h' })
    expect(limiter.consume('a', { cost: 401 }).allowed).toBe(false)
    expect(limiter.consume('a', { cost: 400 })).toMatchObject({ allowed: true, remaining: 0 })
    expect(left()).toBe(0)
  })

  test('retryAfterMs counts on its expiry, and is exact', () => {
    const { clock, limiter } = limited(policy)
    limiter.consume('a', { cost: 300 })
    limiter.reserve('a', { cost: 500, ttl: '90s' })
    limiter.reserve('a', { cost: 200, ttl: '7m' })
    const { retryAfterMs } = limiter.consume('a', { cost: 450 })
    clock.advance(retryAfterMs - 0.001)
    expect(limiter.peek('a', { cost: 450 }).allowed).toBe(false)
    clock.advance(0.001)
    expect(limiter.consume('a', { cost: 450 }).allowed).toBe(true)
  })
})

describe('several reservations', () => {
  test('are held side by side and settled in any order', () => {
    const { clock, limiter, left } = limited()
    const calls = [300, 300, 300].map(cost => limiter.reserve('a', { cost, ttl: '1h' }))
    expect(left()).toBe(100)
    const refused = limiter.reserve('a', { cost: 200, ttl: '1h' })
    expect(refused).toMatchObject({ allowed: false, decision: { allowed: false, reason: 'limited' } })
    calls[1]!.settle(300)
    clock.advance(MINUTE)
    expect(left()).toBe(200) // a hundred of the settled have drained
    calls[2]!.settle(0)
    expect(left()).toBe(500)
    clock.advance(2 * MINUTE)
    expect(left()).toBe(700)
    calls[0]!.settle(50)
    expect(left()).toBe(950)
  })

  test('of other keys do not count', () => {
    const { limiter, left } = limited()
    limiter.reserve('b', { cost: 1000, ttl: '1h' })
    expect(left()).toBe(1000)
  })
})

describe('expiry', () => {
  test('settles for what was reserved, then and there', () => {
    const { clock, limiter, left } = limited()
    const call = limiter.reserve('a', { cost: 1000, ttl: '5m' })
    clock.advance(5 * MINUTE - 0.001)
    expect(left()).toBe(0)
    clock.advance(MINUTE + 0.001)
    expect(left()).toBe(100)
    expect(call.settle(200)).toMatchObject({ reserved: 1000, charged: 1000 })
    expect(left()).toBe(100)
  })

  test('comes before a credit that comes after it', () => {
    const { clock, limiter, left } = limited()
    limiter.reserve('a', { cost: 500, ttl: '1m' })
    clock.advance(2 * MINUTE)
    limiter.refund('a', { cost: 1000 })
    expect(left()).toBe(1000)
  })
})

describe('settling', () => {
  test('for more than reserved is charged without refusal, and said so', () => {
    const { limiter, left } = limited()
    const call = limiter.reserve('a', { cost: 100, ttl: '1h' })
    expect(call.settle(300)).toEqual({ reserved: 100, charged: 300, overdrawn: true })
    expect(left()).toBe(700)
  })

  test('overdraws by at most one capacity', () => {
    const { limiter } = limited()
    limiter.consume('a', { cost: 900 })
    const call = limiter.reserve('a', { cost: 100, ttl: '1h' })
    expect(call.settle(50_000)).toEqual({ reserved: 100, charged: 1100, overdrawn: true })
    const refused = limiter.consume('a')
    expect(refused).toMatchObject({ allowed: false, remaining: 0, retryAfterMs: 10 * MINUTE + 600 })
    expect(refused.resetAfterMs).toBe(20 * MINUTE)
  })

  test('happens once: later answers are the same and change nothing', () => {
    const { limiter, left } = limited()
    const call = limiter.reserve('a', { cost: 500, ttl: '1h' })
    const settled = call.settle(100)
    expect(call.settle(900)).toEqual(settled)
    expect(call.cancel()).toEqual(settled)
    expect(left()).toBe(900)
  })

  test('a refused reservation takes nothing', () => {
    const { limiter, left } = limited()
    limiter.consume('a', { cost: 1000 })
    const call = limiter.reserve('a', { cost: 500, ttl: '1h' })
    expect(call.settle(500)).toMatchObject({ reserved: 500, charged: 0 })
    expect(call.cancel()).toMatchObject({ charged: 0 })
    expect(left()).toBe(0)
    expect(limiter.peek('a').resetAfterMs).toBe(10 * MINUTE)
  })

  test('what was reserved as nothing is charged for what it used', () => {
    const { limiter, left } = limited()
    const call = limiter.reserve('a', { cost: 0, ttl: '1h' })
    expect(call.settle(5)).toEqual({ reserved: 0, charged: 5, overdrawn: true })
    expect(left()).toBe(995)
  })

  test('after a reset charges nothing', () => {
    const { limiter, left } = limited()
    const call = limiter.reserve('a', { cost: 500, ttl: '1h' })
    limiter.reset('a')
    expect(call.settle(100).charged).toBe(0)
    expect(left()).toBe(1000)
  })
})

test("refunding a reservation's decision is cancelling it", () => {
  const { limiter, left } = limited()
  const call = limiter.reserve('a', { cost: 600, ttl: '1h' })
  limiter.refund(call.decision)
  expect(left()).toBe(1000)
  expect(call.settle(600).charged).toBe(0)
  expect(left()).toBe(1000)
})
