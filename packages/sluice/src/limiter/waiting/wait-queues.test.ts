import { describe, expect, test } from 'vitest'
import { flush, pass } from '../../fixtures/limiter/passing-time.ts'
import {
  concurrency,
  createLimiter,
  type Decision,
  fixedWindow,
  type Limiter,
  type LimitOptions,
  leakyBucket,
  memoryStore,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../index.ts'
import { type FakeClock, fakeClock } from '../../testing/index.ts'

type Outcome = number | 'waiting' | `refused ${string}`

/** Waits with each cost in turn and notes when it started, or for how long it was refused. */
function queue<S>(limiter: Limiter<S>, clock: FakeClock, subject: S, costs: readonly number[]): Outcome[] {
  const outcomes: Outcome[] = costs.map(() => 'waiting')
  costs.forEach((cost, i) => {
    void limiter.wait(subject, { cost }).then((d: Decision) => {
      outcomes[i] = d.allowed ? clock.now() : `refused ${d.retryAfterMs}`
    })
  })
  return outcomes
}

describe('windows serve who waits first come first served', () => {
  test.each<[Policy, costs: number[], outcomes: Outcome[]]>([
    [fixedWindow({ limit: 2, window: '1s' }), [1, 1, 1, 1, 1], [0, 0, 1000, 1000, 2000]],
    [slidingLog({ limit: 2, window: '1s' }), [1, 1, 1, 1, 1], [0, 0, 1000, 1000, 2000]],
    [slidingWindow({ limit: 2, window: '1s' }), [1, 1, 1, 1], [0, 0, 1500, 2000]],
    [fixedWindow({ limit: 5, window: '1s' }), [3, 5, 1, 1], [0, 1000, 2000, 2000]], // 1 fits at once, and waits
    [slidingLog({ limit: 5, window: '1s' }), [0, 5, 0], [0, 0, 0]],
    [fixedWindow({ limit: 2, window: '1s' }), [3], ['refused Infinity']],
    [slidingLog({ limit: 0, window: '1s' }), [1], ['refused Infinity']],
    [fixedWindow({ limit: 2, window: '1s' }), [2, 3, 1], [0, 'refused Infinity', 1000]],
  ])('%o: costs of %j start at %j', async (policy, costs, outcomes) => {
    const clock = fakeClock()
    const started = queue(createLimiter(policy, { clock }), clock, 'a', costs)
    await pass(clock, 5000)
    expect(started).toEqual(outcomes)
  })

  test('one that may not wait so long does not overtake one that may', async () => {
    const clock = fakeClock()
    const limiter = createLimiter(fixedWindow({ limit: 5, window: '1s' }), { clock })
    limiter.consume('a')
    const started = queue(limiter, clock, 'a', [5])
    const hurried = limiter.wait('a', { maxWait: '200ms' })
    await pass(clock, 3000)
    expect((await hurried).allowed).toBe(false)
    expect(started).toEqual([1000])
  })

  test('one behind others is refused at once where its wait is surely too long', async () => {
    const clock = fakeClock()
    const limiter = createLimiter(fixedWindow({ limit: 1, window: '1s' }), { clock })
    limiter.consume('a')
    queue(limiter, clock, 'a', [1])
    let refused: Decision | undefined
    void limiter.wait('a', { maxWait: '500ms' }).then(d => {
      refused = d
    })
    await flush()
    expect(refused).toMatchObject({ allowed: false })
    expect(refused!.retryAfterMs).toBeGreaterThanOrEqual(1000)
  })

  test('other keys stand in lines of their own', async () => {
    const clock = fakeClock()
    const limiter = createLimiter(fixedWindow({ limit: 1, window: '1s' }), { clock })
    queue(limiter, clock, 'a', [1, 1, 1])
    const other = queue(limiter, clock, 'b', [1])
    await flush()
    expect(other).toEqual([0])
  })
})

describe('concurrency', () => {
  const slots = () => {
    const clock = fakeClock()
    return { clock, limiter: createLimiter(concurrency({ limit: 1, ttl: '1m' }), { clock }) }
  }

  test('wakes the first in line on release', async () => {
    const { clock, limiter } = slots()
    const held = limiter.consume('a')
    const order: string[] = []
    const [first, second] = ['first', 'second'].map(async name => {
      const decision = await limiter.wait('a')
      order.push(`${name} at ${clock.now()}`)
      return decision
    })
    await pass(clock, 500)
    expect(order).toEqual([])
    held.release()
    await flush()
    expect(order).toEqual(['first at 500'])
    await pass(clock, 250)
    ;(await first!).release()
    await flush()
    expect(order).toEqual(['first at 500', 'second at 750'])
    ;(await second!).release()
    expect(limiter.peek('a').remaining).toBe(1)
  })

  test.each([0, 1, 2, 3, 5])('a release so soon after the wait began is not missed: %d turns', async turns => {
    const { clock, limiter } = slots()
    const held = limiter.consume('a')
    const started = queue(limiter, clock, 'a', [1])
    for (let i = 0; i < turns; i++) await Promise.resolve()
    held.release()
    await flush()
    expect(started).toEqual([0])
  })

  test('waits for a release as long as it may, though the slot would expire later', async () => {
    const { clock, limiter } = slots()
    const held = limiter.consume('a')
    const ends: string[] = []
    for (const [name, maxWait] of Object.entries({ first: '2s', second: '5s', third: '1s' } as const)) {
      void limiter.wait('a', { maxWait }).then(({ allowed, retryAfterMs }) => {
        ends.push(`${name} ${allowed ? 'starts' : `is refused for ${retryAfterMs}`} at ${clock.now()}`)
      })
    }
    await pass(clock, 3000)
    expect(ends).toEqual(['third is refused for 59000 at 1000', 'first is refused for 58000 at 2000'])
    held.release()
    await flush()
    expect(ends.at(-1)).toBe('second starts at 3000')
  })

  test('a cost above all slots is refused at once', async () => {
    const { limiter } = slots()
    expect(await limiter.wait('a', { cost: 2, maxWait: '5s' })).toMatchObject({ allowed: false })
  })

  test('wakes it when a holder dies and its slot expires', async () => {
    const { clock, limiter } = slots()
    limiter.consume('a')
    const started = queue(limiter, clock, 'a', [1])
    await pass(clock, 61_000, 1000)
    expect(started).toEqual([60_000])
  })

  test('wakes it when the reservation that holds the slot is settled', async () => {
    const { clock, limiter } = slots()
    const call = limiter.reserve('a', { cost: 1, ttl: '10s' })
    const started = queue(limiter, clock, 'a', [1])
    await pass(clock, 500)
    call.settle(1)
    await flush()
    expect(started).toEqual([500])
  })

  test('wakes it on a refund and on a reset', async () => {
    const { clock, limiter } = slots()
    const held = limiter.consume('a')
    const started = queue(limiter, clock, 'a', [1, 1])
    await flush()
    limiter.refund(held)
    await pass(clock, 250)
    limiter.reset('a')
    await flush()
    expect(started).toEqual([0, 250])
  })

  test('asks again for those who wait for that slot, not for everybody', async () => {
    const clock = fakeClock()
    const memory = memoryStore({ clock })
    let asked = 0
    const store = new Proxy(memory, {
      get(_, name) {
        const value = Reflect.get(memory, name)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          asked++
          return value.apply(memory, args)
        }
      },
    })
    const limiter = createLimiter(concurrency({ limit: 1, ttl: '1m' }), { store })
    const held = Array.from({ length: 100 }, (_, i) => limiter.consume(`key ${i}`))
    for (let i = 0; i < 100; i++) void limiter.wait(`key ${i}`)
    await flush()
    asked = 0
    held[50]!.release()
    await flush()
    expect(asked).toBeLessThan(5)
  })
})

describe('over several limits', () => {
  const several = (limits: Record<string, LimitOptions<object>>) => {
    const clock = fakeClock()
    return { clock, limiter: createLimiter<object>({ clock, limits }) }
  }
  const window = fixedWindow({ limit: 2, window: '5s' })
  const bucket = tokenBucket({ capacity: 1, refill: '1/s' })

  test('a wait starts when all of them pass, and takes nothing from any before', async () => {
    const { clock, limiter } = several({ window: { policy: window }, bucket: { policy: bucket } })
    const started = queue(limiter, clock, {}, [1, 1, 1])
    await pass(clock, 500)
    expect(limiter.peek({}).limits.map(({ remaining }) => remaining)).toEqual([1, 0])
    await pass(clock, 6000)
    expect(started).toEqual([0, 1000, 5000])
  })

  test('a shadow beside a bucket changes nothing: consume still cannot overtake', async () => {
    const { clock, limiter } = several({ bucket: { policy: bucket }, trial: { policy: window, mode: 'shadow' } })
    const started = queue(limiter, clock, {}, [1, 1])
    await flush()
    expect(limiter.consume({}).retryAfterMs).toBe(2000)
    await pass(clock, 2000)
    expect(started).toEqual([0, 1000])
  })

  test('a leaky bucket still starts one per 1/leak', async () => {
    const { clock, limiter } = several({
      leaky: { policy: leakyBucket({ capacity: 3, leak: '1/s' }) },
      wide: { policy: '100/m' },
    })
    const started = queue(limiter, clock, {}, [1, 1, 1])
    await pass(clock, 3000)
    expect(started).toEqual([0, 1000, 2000])
  })

  test('where nothing applies a wait starts at once', async () => {
    const { clock, limiter } = several({ none: { policy: bucket, key: () => undefined } })
    const started = queue(limiter, clock, {}, [1, 1])
    await flush()
    expect(started).toEqual([0, 0])
  })
})
