import { describe, expect, test } from 'vitest'
import {
  ask,
  type FakeRequest,
  type FakeView,
  headersOf,
  heard,
  leftIn,
  statuses,
} from '../../fixtures/http/fake-exchange.ts'
import { concurrency, fixedWindow, tokenBucket } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type GuardLimit, ip, user } from '../index.ts'

const of = (limit: number) => fixedWindow({ limit, window: '1m' })
const clock = () => fakeClock(60_000)

describe('one limit', () => {
  test('is by client address, and named default', () => {
    const guard = createGuard({ policy: of(2), clock: clock() })
    expect(statuses(guard, 3)).toEqual([200, 200, 429])
    expect(statuses(guard, 1, { from: '192.0.2.2' })).toEqual([200])
    expect(headersOf(ask(guard, { from: '192.0.2.3' }))).toEqual({
      RateLimit: '"default";r=1;t=60',
      'RateLimit-Policy': '"default";q=2;w=60',
    })
  })

  test.each<[string, GuardLimit<FakeView>['key'], FakeRequest, FakeRequest]>([
    ['an identity helper', user(), { user: { id: 'a' } }, { user: { id: 'b' } }],
    ['a function of the request', r => r.user.name, { user: { name: 'a' } }, { user: { name: 'b' } }],
    ['a function that answers a number', r => r.account, { account: 1 }, { account: 2 }],
    ['a function that answers several parts', r => [r.org, r.team], { org: 'a', team: 'bc' }, { org: 'ab', team: 'c' }],
  ])('is by whatever key says: %s', (_name, key, one, other) => {
    const guard = createGuard({ policy: of(1), key: key!, clock: clock() })
    expect(statuses(guard, 2, one)).toEqual([200, 429])
    expect(statuses(guard, 2, other)).toEqual([200, 429])
  })

  test('passes again when the window is over', () => {
    const time = clock()
    const guard = createGuard({ policy: of(1), clock: time })
    expect(statuses(guard, 2)).toEqual([200, 429])
    time.advance(60_000)
    expect(statuses(guard, 2)).toEqual([200, 429])
  })
})

describe('several limits', () => {
  test('are one decision: a refused request consumes nothing in any of them', () => {
    const guard = createGuard({ limits: { ip: { policy: of(5), key: ip() }, all: { policy: of(2) } }, clock: clock() })
    expect(statuses(guard, 4)).toEqual([200, 200, 503, 503])
    expect(leftIn(ask(guard))).toEqual({ ip: 3, all: 0 })
  })

  test('are told in declared order, each with what is left of it', () => {
    const guard = createGuard({
      limits: { b: { policy: of(5), key: ip() }, a: { policy: of(9), key: ip() } },
      clock: clock(),
    })
    expect(headersOf(ask(guard)).RateLimit).toBe('"b";r=4;t=60, "a";r=8;t=60')
  })

  test('may be of rates and of slots in one: in-flight requests count until they end', () => {
    const flight = concurrency({ limit: 2, ttl: '1m' })
    const guard = createGuard({
      limits: { rate: { policy: of(5), key: ip() }, flight: { policy: flight, key: ip() } },
      clock: clock(),
    })
    const flying = [ask(guard), ask(guard)]
    expect(leftIn(ask(guard))).toEqual({ rate: 3, flight: 0 })
    flying[0]!.ended!(200, 0, false)
    flying[0]!.ended!(200, 0, true)
    expect(statuses(guard, 2)).toEqual([200, 429])
    flying[1]!.ended!(200, 0, true)
    expect(leftIn(ask(guard))).toEqual({ rate: 1, flight: 0 })
  })
})

describe('when', () => {
  const search: GuardLimit = { policy: of(1), key: ip(), when: r => r.route === '/search' }

  test('false means that the limit does not apply', () => {
    const guard = createGuard({ limits: { every: { policy: of(9), key: ip() }, search }, clock: clock() })
    expect(leftIn(ask(guard, { route: '/home' }))).toEqual({ every: 8 })
    expect(leftIn(ask(guard, { route: '/search' }))).toEqual({ every: 7, search: 0 })
    expect(statuses(guard, 2, { route: '/search' })).toEqual([429, 429])
    expect(headersOf(ask(guard, { route: '/home' })).RateLimit).toBe('"every";r=6;t=60')
  })

  test('a request that no limit touched is let alone', () => {
    const { events, onEvent } = heard()
    const guard = createGuard({ limits: { search }, clock: clock(), onEvent })
    expect(ask(guard, { route: '/home' })).toBeUndefined()
    expect(events).toEqual([{ type: 'nothing-applied', limiter: 'default' }])
  })

  test('goes with a limit of everybody, too', () => {
    const guard = createGuard({ limits: { busy: { policy: of(1), when: r => r.method === 'POST' } }, clock: clock() })
    expect(statuses(guard, 2)).toEqual([200, 200])
    expect(statuses(guard, 2, { method: 'POST' })).toEqual([200, 503])
  })
})

describe('each function of the user is called once a request', () => {
  test('also where another limit does not apply', () => {
    const calls: string[] = []
    const bucket = tokenBucket({ capacity: 9, refill: '1/s' })
    const noted = <T>(name: string, answer: T) => {
      calls.push(name)
      return answer
    }
    const guard = createGuard({
      limits: {
        a: { policy: of(9), key: () => noted('key', 'k') },
        b: { policy: () => noted('policy', of(9)), key: ip(), cost: () => noted('cost', 1) },
        c: { policy: of(9), key: ip(), when: () => noted('when', false) },
        d: { policy: of(9), key: () => noted('rollout', 'k'), rollout: 50 },
      },
      clock: clock(),
    })
    ask(guard)
    expect(calls.sort()).toEqual(['cost', 'key', 'policy', 'rollout', 'when'])
    const lean = createGuard({
      limits: {
        a: { policy: bucket, key: () => noted('key', 'k') },
        c: { policy: bucket, key: ip(), when: () => noted('when', false) },
      },
      clock: clock(),
    })
    calls.length = 0
    ask(lean)
    expect(calls.sort()).toEqual(['key', 'when'])
  })
})

test('every decision is told, with the request it was made for', () => {
  const { decisions, onDecision } = heard()
  const seen: unknown[] = []
  const guard = createGuard({
    policy: of(1),
    clock: clock(),
    onDecision: (decision, r: FakeView) => {
      onDecision(decision)
      seen.push(r.user)
    },
  })
  statuses(guard, 2, { user: 'ann' })
  expect(decisions.map(({ allowed }) => allowed)).toEqual([true, false])
  expect(seen).toEqual(['ann', 'ann'])
})
