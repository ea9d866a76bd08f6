import { describe, expect, test } from 'vitest'
import { type Any, codeOf } from '../fixtures/limiter/misuse.ts'
import { createLimiter, fixedWindow, tokenBucket } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const policy = fixedWindow({ limit: 10, window: '1m' })

describe.each([Number.NaN, 0.9, -1, '5', Infinity, -Infinity, 2 ** 53, null, true, 5n, [5], {}])(
  'a cost of %s',
  bad => {
    const cost = bad as Any
    const own = { a: { policy: tokenBucket({ capacity: 10, refill: '1/s' }) }, b: { policy, cost: (s: Any) => s.cost } }
    const calls: [name: string, call: (limiter: Any) => unknown][] = [
      ['consume', limiter => limiter.consume('a', { cost })],
      ['peek', limiter => limiter.peek('a', { cost })],
      ['reserve', limiter => limiter.reserve('a', { cost, ttl: '1m' })],
      ['refund', limiter => limiter.refund('a', { cost })],
    ]

    test.each(calls)('is thrown back by %s, and nothing is taken', (_, call) => {
      const limiter = createLimiter(policy, { clock: fakeClock() })
      limiter.consume('a', { cost: 4 })
      expect(codeOf(() => call(limiter))).toBe('SLUICE_BAD_COST')
      expect(limiter.peek('a').remaining).toBe(6)
    })

    test('is thrown back by wait and by settle', async () => {
      const limiter = createLimiter(policy, { clock: fakeClock() })
      await expect(limiter.wait('a', { cost })).rejects.toMatchObject({ code: 'SLUICE_BAD_COST' })
      const call = limiter.reserve('a', { cost: 5, ttl: '1m' })
      expect(codeOf(() => call.settle(cost))).toBe('SLUICE_BAD_COST')
      expect(limiter.peek('a').remaining).toBe(5)
      expect(call.settle(1).charged).toBe(1)
    })

    test('worked out by a later limit takes nothing from an earlier one', () => {
      const limiter = createLimiter<Any>({ clock: fakeClock(), limits: own })
      expect(codeOf(() => limiter.consume({ cost }))).toBe('SLUICE_BAD_COST')
      expect(limiter.peek({ cost: 1 }).limits[0]!.remaining).toBe(10)
    })
  },
)
