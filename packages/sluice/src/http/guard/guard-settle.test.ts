import { describe, expect, test } from 'vitest'
import { ask, type FakeView, headersOf, leftIn, serve, statuses } from '../../fixtures/http/fake-exchange.ts'
import { fixedWindow, type Policy, slidingLog, slidingWindow, tokenBucket } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type GuardLimit, type GuardOptions, ip } from '../index.ts'

const of = (limit: number) => fixedWindow({ limit, window: '1h' })

describe('settle', () => {
  test('charges the milliseconds that a response took', () => {
    const clock = fakeClock()
    const guard = createGuard({ policy: of(1000), settle: 'ms', cost: 100, clock })
    const { ended } = ask(guard)!
    clock.advance(249.2)
    ended!(200, 0, false)
    expect(leftIn(ask(guard))).toEqual({ default: 1000 - 250 - 100 })
  })

  test('charges the bytes that were sent', () => {
    const guard = createGuard({ policy: of(1000), settle: 'bytes', cost: 200, clock: fakeClock() })
    serve(guard, {}, 200, 50)
    serve(guard, {}, 200, 400)
    expect(leftIn(ask(guard))).toEqual({ default: 1000 - 50 - 400 - 200 })
  })

  test('charges whatever a function of the response says, and nothing for nothing', () => {
    const settle: GuardLimit<FakeView>['settle'] = ({ status }, r) => (status === 304 ? 0 : r.tokens)
    const guard = createGuard({ policy: of(1000), settle, cost: 100, clock: fakeClock() })
    serve(guard, { tokens: 7 }, 304)
    serve(guard, { tokens: 7 }, 200)
    expect(leftIn(ask(guard))).toEqual({ default: 1000 - 7 - 100 })
  })

  test('what was set aside keeps others out meanwhile, and comes back in full', () => {
    const clock = fakeClock()
    const policy = tokenBucket({ capacity: 10, refill: '1/s' })
    const guard = createGuard({ policy, settle: () => 2, cost: 10, clock })
    const { ended } = ask(guard)!
    clock.advance(5000)
    expect(statuses(guard, 1)).toEqual([429])
    ended!(200, 0, false)
    clock.advance(2000)
    expect(statuses(guard, 2)).toEqual([200, 429])
  })

  /** The times a caller is told after 4 of 10 were set aside, and when 9 are refused then, 12.5 s into a window. */
  test.each<[string, Policy, passed: string, refused: string]>([
    ['a bucket', tokenBucket({ capacity: 10, refill: '1/s' }), '"default";r=6;t=1', '"default";r=6;t=3'],
    ['a fixed window', fixedWindow({ limit: 10, window: '1m' }), '"default";r=6;t=48', '"default";r=6;t=48'],
    [
      'a window of a day',
      fixedWindow({ limit: 10, align: 'day', timeZone: 'UTC' }),
      '"default";r=6;t=86388',
      '"default";r=6;t=86388',
    ],
    ['a sliding window', slidingWindow({ limit: 10, window: '1m' }), '"default";r=6;t=48', '"default";r=6;t=108'],
    ['a sliding log', slidingLog({ limit: 10, window: '1m' }), '"default";r=6;t=60', '"default";r=6;t=60'],
  ])(
    'while it is set aside, the times told of %s are those that follow if it is charged now',
    (_, policy, passed, refused) => {
      const clock = fakeClock(12_500)
      const guard = createGuard({
        policy,
        key: ip(),
        cost: r => (r.method === 'PUT' ? 9 : 4),
        unit: 'points',
        settle: () => 2,
        clock,
      })
      expect(headersOf(ask(guard)).RateLimit).toBe(passed)
      const told = headersOf(ask(guard, { method: 'PUT' }))
      expect(told).toMatchObject({ RateLimit: refused, 'Retry-After': refused.split('t=')[1] })
    },
  )

  test('the time of a block, and that a cost never fits, stay as they are', () => {
    const options: GuardOptions<FakeView> = {
      policy: tokenBucket({ capacity: 10, refill: '1/s' }),
      cost: r => r.cost,
      settle: () => 2,
      blockFor: '1h',
    }
    const guard = createGuard({ ...options, unit: 'points', clock: fakeClock() })
    const waits = [11, 10, 10].map(cost => headersOf(ask(guard, { cost }))['Retry-After'])
    expect(waits).toEqual([undefined, undefined, '3600'])
  })

  test('what was used beyond the estimate is charged, too', () => {
    const guard = createGuard({ policy: of(10), settle: 'bytes', clock: fakeClock() })
    expect(serve(guard, {}, 200, 15)).toBe(200)
    expect(statuses(guard, 1)).toEqual([429])
  })

  test('a response that was cut off costs what was sent until then', () => {
    const guard = createGuard({ policy: of(10), settle: 'bytes', cost: 4, clock: fakeClock() })
    serve(guard, {}, 200, 1, true)
    expect(leftIn(ask(guard))).toEqual({ default: 5 })
  })

  test('each limit is settled for what it counts', () => {
    const limits: Record<string, GuardLimit> = {
      calls: { policy: of(100), key: ip() },
      bytes: { policy: of(100), key: ip(), settle: 'bytes', cost: 10 },
      tokens: { policy: of(100), key: ip(), settle: () => 3, cost: 20 },
      fails: { policy: of(100), key: ip(), countWhen: ({ status }) => status === 401, cost: 5 },
    }
    const guard = createGuard({ limits, clock: fakeClock() })
    serve(guard, {}, 200, 30)
    expect(leftIn(ask(guard))).toEqual({ calls: 98, bytes: 60, tokens: 77, fails: 95 })
  })

  test.each([
    [{ settle: 'bytes' }, '"default";q=1000;qu="content-bytes";w=3600'],
    [{ settle: 'ms', unit: 'cpu-ms' }, '"default";q=1000;qu="cpu-ms";w=3600'],
    [{ settle: 'bytes', unit: 'kB "net"' }, '"default";q=1000;qu="kB \\"net\\"";w=3600'],
    [{ unit: 'requests' }, '"default";q=1000;qu="requests";w=3600'],
    [{}, '"default";q=1000;w=3600'],
  ] as const)('tells callers what is counted, as it is written: %j', (options, policy) => {
    const guard = createGuard({ policy: of(1000), clock: fakeClock(), ...options })
    expect(headersOf(ask(guard))['RateLimit-Policy']).toBe(policy)
  })

  test('only then the bytes of a response are measured', () => {
    expect(ask(createGuard({ policy: of(10), settle: 'bytes' }))?.measures).toBe(true)
    expect(ask(createGuard({ policy: of(10) }))?.measures).toBe(false)
  })
})
