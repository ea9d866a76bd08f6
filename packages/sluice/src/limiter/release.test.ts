import { describe, expect, test } from 'vitest'
import { concurrency, createLimiter, fixedWindow } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

function slots(limit: number) {
  const clock = fakeClock()
  return { clock, limiter: createLimiter(concurrency({ limit, ttl: '1m' }), { clock }) }
}

describe('release', () => {
  test('gives the slot back, once', () => {
    const { limiter } = slots(2)
    const [first, second] = [limiter.consume('a'), limiter.consume('a')]
    expect(limiter.consume('a')).toMatchObject({ allowed: false, reason: 'limited', retryAfterMs: 60_000 })
    first.release()
    first.release()
    first.release()
    expect(limiter.peek('a').remaining).toBe(1)
    second.release()
    expect(limiter.peek('a').remaining).toBe(2)
  })

  test('gives back as many slots as the decision took', () => {
    const { limiter } = slots(5)
    const decision = limiter.consume('a', { cost: 3 })
    expect(decision.remaining).toBe(2)
    decision.release()
    expect(limiter.peek('a').remaining).toBe(5)
  })

  test('is what leaving a using block does', () => {
    const { limiter } = slots(1)
    const decision = limiter.consume('a')
    decision[Symbol.dispose]()
    expect(limiter.peek('a').remaining).toBe(1)
    limiter.consume('a')
    decision[Symbol.dispose]()
    decision.release()
    expect(limiter.peek('a').remaining).toBe(0)
  })

  test('after the slot expired takes nobody elses', () => {
    const { clock, limiter } = slots(1)
    const decision = limiter.consume('a')
    clock.advance(60_000)
    expect(limiter.consume('a').allowed).toBe(true)
    decision.release()
    expect(limiter.peek('a').remaining).toBe(0)
  })

  test('after a reset takes nobody elses', () => {
    const { limiter } = slots(1)
    const decision = limiter.consume('a')
    limiter.reset('a')
    limiter.consume('a')
    decision.release()
    expect(limiter.peek('a').remaining).toBe(0)
  })

  test('of a refusal, of a look and of a limit without slots does nothing', () => {
    const { limiter } = slots(1)
    limiter.consume('a')
    limiter.consume('a').release()
    limiter.peek('a').release()
    limiter.consume('a', { cost: 0 }).release()
    expect(limiter.peek('a').remaining).toBe(0)
    const window = createLimiter(fixedWindow({ limit: 2, window: '1m' }), { clock: fakeClock() })
    window.consume('a').release()
    expect(window.peek('a').remaining).toBe(1)
  })

  test('gives the slots of all limits back and leaves the counts of the others', () => {
    const limiter = createLimiter<object>({
      clock: fakeClock(),
      limits: {
        mine: { policy: concurrency({ limit: 1, ttl: '1m' }) },
        rate: { policy: fixedWindow({ limit: 9, window: '1m' }) },
        all: { policy: concurrency({ limit: 4, ttl: '1m' }) },
        trial: { policy: concurrency({ limit: 7, ttl: '1m' }), mode: 'shadow' },
      },
    })
    const decision = limiter.consume({})
    const left = () => limiter.peek({}).limits.map(({ remaining }) => remaining)
    expect(left()).toEqual([0, 8, 3, 6])
    decision.release()
    expect(left()).toEqual([1, 8, 4, 7])
  })
})
