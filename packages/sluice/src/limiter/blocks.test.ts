import { describe, expect, test } from 'vitest'
import { flush } from '../fixtures/limiter/passing-time.ts'
import { createLimiter, fixedWindow, type LimitOptions, slidingLog, tokenBucket } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const MINUTE = 60_000
type BlockFor = LimitOptions<string>['blockFor']

function blocking(
  blockFor: BlockFor,
  policy: LimitOptions<string>['policy'] = fixedWindow({ limit: 1, window: '1s' }),
) {
  const clock = fakeClock()
  const only = { policy, key: (s: string) => s, ...(blockFor !== undefined && { blockFor }) }
  return { clock, limiter: createLimiter<string>({ clock, limits: { only } }) }
}

describe("blockFor: '15m'", () => {
  const { clock, limiter } = blocking('15m', fixedWindow({ limit: 2, window: '1m' }))

  test.each([
    // at, cost, what comes, retryAfterMs
    [0, 2, 'ok', 0],
    [30_000, 1, 'limited', 15 * MINUTE],
    [30_000, 1, 'blocked', 15 * MINUTE],
    [2 * MINUTE, 1, 'blocked', 13.5 * MINUTE], // its window is free again, its block is not
    [15 * MINUTE, 2, 'blocked', 30_000],
    [15.5 * MINUTE - 0.001, 1, 'blocked', 0.001], // nothing asked meanwhile made it longer
    [15.5 * MINUTE, 2, 'ok', 0],
    [15.5 * MINUTE, 1, 'limited', 15 * MINUTE], // and the next one is as long as the first
  ] as const)('at %d a cost of %d is %s', (at, cost, reason, retryAfterMs) => {
    clock.set(at)
    expect(limiter.consume('a', { cost })).toMatchObject({ allowed: reason === 'ok', reason, retryAfterMs })
  })

  test('leaves other keys alone', () => {
    expect(limiter.consume('b').allowed).toBe(true)
  })
})

describe('a growing block', () => {
  /** How long each of so many blocks lasts, if every one is followed by another refusal at once. */
  function lengths(blockFor: BlockFor, count: number) {
    const { clock, limiter } = blocking(blockFor)
    return Array.from({ length: count }, () => {
      expect(limiter.consume('a').allowed).toBe(true)
      const { retryAfterMs } = limiter.consume('a')
      clock.advance(retryAfterMs)
      return retryAfterMs / MINUTE
    })
  }

  test.each<[BlockFor, minutes: number[]]>([
    ['1m', [1, 1, 1, 1]],
    [{ first: '1m', factor: 2, max: '5m' }, [1, 2, 4, 5, 5]],
    [{ first: '1m', factor: 1 }, [1, 1, 1]],
    [{ first: '1m' }, [1, 2, 4, 8, 16]],
    [{ first: '1m', factor: 1.5, max: '1h' }, [1, 1.5, 2.25]],
    [{ first: '1m', factor: 1000, max: '1m' }, [1, 1]],
  ])('%o lasts %j minutes', (blockFor, minutes) => {
    expect(lengths(blockFor, minutes.length)).toEqual(minutes)
  })

  test('begins again when a key kept quiet for the longest block after its last', () => {
    for (const [quietMs, next] of [
      [5 * MINUTE - 1, 2 * MINUTE],
      [5 * MINUTE, MINUTE],
    ] as const) {
      const { clock, limiter } = blocking({ first: '1m', factor: 2, max: '5m' })
      limiter.consume('a')
      clock.advance(limiter.consume('a').retryAfterMs + quietMs)
      limiter.consume('a')
      expect(limiter.consume('a').retryAfterMs).toBe(next)
    }
  })

  test('does not grow by what is refused during it', () => {
    const { clock, limiter } = blocking({ first: '1m', factor: 2 })
    limiter.consume('a')
    for (let i = 0; i < 59; i++) {
      expect(limiter.consume('a').retryAfterMs).toBe(MINUTE - i * 1000)
      clock.advance(1000)
    }
    clock.advance(1000)
    limiter.consume('a')
    expect(limiter.consume('a').retryAfterMs).toBe(2 * MINUTE)
  })
})

describe('retryAfterMs', () => {
  test("is the limit's own where that is later than the block", () => {
    const { clock, limiter } = blocking('1m', fixedWindow({ limit: 1, window: '1h' }))
    limiter.consume('a')
    expect(limiter.consume('a')).toMatchObject({ reason: 'limited', retryAfterMs: 60 * MINUTE })
    clock.advance(30_000)
    expect(limiter.consume('a')).toMatchObject({ reason: 'blocked', retryAfterMs: 59.5 * MINUTE })
    clock.set(60 * MINUTE)
    expect(limiter.consume('a').allowed).toBe(true)
  })

  test('counts the block and what is reserved, whichever is later', () => {
    const { limiter } = blocking('1d', tokenBucket({ capacity: 10, refill: '1/s' }))
    limiter.reserve('a', { cost: 10, ttl: '1m' })
    expect(limiter.consume('a')).toMatchObject({ reason: 'limited', retryAfterMs: 24 * 60 * MINUTE })
    expect(limiter.consume('a')).toMatchObject({ reason: 'blocked', retryAfterMs: 24 * 60 * MINUTE })
    limiter.block('a', { for: '1s' })
    expect(limiter.consume('a')).toMatchObject({ reason: 'blocked', retryAfterMs: MINUTE + 1000 })
  })
})

describe('a blocked key', () => {
  const { limiter } = blocking(undefined, slidingLog({ limit: 5, window: '1m' }))
  limiter.consume('a')
  limiter.block('a', { for: '1h' })

  test('is refused by peek too', () => {
    expect(limiter.peek('a')).toMatchObject({ allowed: false, reason: 'blocked', retryAfterMs: 60 * MINUTE })
  })

  test('has nothing remaining: no cost passes now', () => {
    expect(limiter.peek('a')).toMatchObject({ limit: 5, remaining: 0 })
  })

  test('is not full again before its block ends', () => {
    expect(limiter.peek('a').resetAfterMs).toBe(60 * MINUTE)
  })
})

describe('what starts a block', () => {
  test('a peek does not', () => {
    const { limiter } = blocking('15m')
    limiter.consume('a')
    expect(limiter.peek('a')).toMatchObject({ reason: 'limited', retryAfterMs: 1000 })
    expect(limiter.peek('a')).toMatchObject({ reason: 'limited', retryAfterMs: 1000 })
  })

  test('a cost that can never pass does not: it is a mistake, not an attack', () => {
    const { limiter } = blocking('15m')
    expect(limiter.consume('a', { cost: 2 })).toMatchObject({ reason: 'cost-exceeds-limit' })
    expect(limiter.consume('a').allowed).toBe(true)
  })

  test('a refusal by another limit does not, and a block takes nothing from the others', () => {
    const clock = fakeClock()
    const limiter = createLimiter<object>({
      clock,
      limits: {
        wide: { policy: fixedWindow({ limit: 3, window: '1s' }), blockFor: '1h' },
        narrow: { policy: fixedWindow({ limit: 1, window: '1s' }), blockFor: '1m' },
      },
    })
    limiter.consume({})
    expect(limiter.consume({})).toMatchObject({ policy: 'narrow', retryAfterMs: MINUTE })
    clock.advance(1000)
    for (let i = 0; i < 9; i++) expect(limiter.consume({})).toMatchObject({ policy: 'narrow', reason: 'blocked' })
    expect(limiter.peek({}).limits[0]).toMatchObject({ name: 'wide', allowed: true, remaining: 3 })
  })

  test('waiting in line does not', async () => {
    const { clock, limiter } = blocking('15m')
    limiter.consume('a')
    let startedAt = Number.NaN
    void limiter.wait('a').then(() => {
      startedAt = clock.now()
    })
    await flush()
    clock.advance(1000)
    await flush()
    expect(startedAt).toBe(1000)
  })
})

describe("an operator's block", () => {
  test('replaces a running one, longer or shorter', () => {
    const { clock, limiter } = blocking('15m')
    limiter.block('a', { for: '1h' })
    expect(limiter.consume('a')).toMatchObject({ reason: 'blocked', retryAfterMs: 60 * MINUTE })
    limiter.block('a', { for: '10s' })
    clock.advance(10_000)
    expect(limiter.consume('a').allowed).toBe(true)
  })

  test('is by one limit, and refuses whatever the others say', () => {
    const limiter = createLimiter<{ user: string; ip: string }>({
      clock: fakeClock(),
      limits: { user: { policy: '9/m', key: s => s.user }, ip: { policy: '9/m', key: s => s.ip } },
    })
    limiter.block({ user: 'u', ip: 'x' }, { limit: 'ip', for: '1m' })
    expect(limiter.consume({ user: 'v', ip: 'x' })).toMatchObject({ allowed: false, policy: 'ip', reason: 'blocked' })
    expect(limiter.consume({ user: 'u', ip: 'y' }).allowed).toBe(true)
  })
})
