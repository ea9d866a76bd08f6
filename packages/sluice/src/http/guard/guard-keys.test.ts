import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ask, type FakeRequest, type FakeView, heard, leftIn } from '../../fixtures/http/fake-exchange.ts'
import { fixedWindow } from '../../policy.ts'
import { fakeClock } from '../../testing/index.ts'
import { all, createGuard, type GuardLimit, type GuardOptions, ip, route } from '../index.ts'

const PLENTY = 1_000_000
const policy = fixedWindow({ limit: PLENTY, window: '1h' })

/** Limits whose keys the test tells by itself. */
const limits = {
  everybody: { policy },
  address: { policy, key: ip() },
  route: { policy, key: route() },
  both: { policy, key: all(ip(), route()) },
} satisfies Record<string, GuardLimit>

function tally() {
  const counts = new Map<string, number>()
  const count = (...key: readonly unknown[]) => {
    const text = JSON.stringify(key)
    counts.set(text, (counts.get(text) ?? 0) + 1)
    return PLENTY - counts.get(text)!
  }
  return ({ from, route = '' }: FakeRequest) => ({
    everybody: count('everybody'),
    address: count('address', from),
    route: count('route', route),
    both: count('both', from, route),
  })
}

function open(options: Partial<GuardOptions> = {}) {
  return createGuard({ limits, clock: fakeClock(), ...options } as GuardOptions)
}

describe('keys of address and route', () => {
  const request = fc.record({
    from: fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3'),
    route: fc.constantFrom('/a', '/b', '/ab', '192.0.2.1', '', undefined),
  })

  test('whoever asked before for whatever, each is counted where it belongs', () => {
    fc.assert(
      fc.property(fc.array(request, { minLength: 2, maxLength: 40 }), requests => {
        const guard = open()
        const expected = tally()
        for (const one of requests) expect(leftIn(ask(guard, one))).toEqual(expected(one))
      }),
    )
  })

  test('many callers on many routes', () => {
    const guard = open()
    const expected = tally()
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 3000; i++) {
        const one = { from: `10.0.${i >> 8}.${i & 255}`, route: `/${i % 7}` }
        expect(leftIn(ask(guard, one))).toEqual(expected(one))
      }
    }
  })

  test('behind a proxy the address is the one it names, request by request', () => {
    const guard = open({ trustProxy: ['192.0.2.1'] })
    const expected = tally()
    for (const from of ['198.51.100.1', '198.51.100.2', '198.51.100.1']) {
      const one = { from: '192.0.2.1', headers: { 'x-forwarded-for': from }, route: '/a' }
      expect(leftIn(ask(guard, one))).toEqual(expected({ from, route: '/a' }))
    }
  })

  test('a route that cannot be told is the address, as ever, and an event says so for every request', () => {
    const { onEvent, fallbacks } = heard()
    const guard = open({ onEvent })
    const broken = {
      get route(): string {
        throw new Error('on purpose')
      },
    }
    expect(leftIn(ask(guard, broken))).toMatchObject({ route: PLENTY - 1, both: PLENTY - 1 })
    expect(leftIn(ask(guard, broken))).toMatchObject({ route: PLENTY - 2, both: PLENTY - 2 })
    expect(fallbacks()).toEqual([
      ...['route key: the address', 'both key: the address'],
      ...['route key: the address', 'both key: the address'],
    ])
    expect(leftIn(ask(guard, { route: '/a' }))).toMatchObject({ route: PLENTY - 1, both: PLENTY - 1 })
  })
})

describe('no key is taken for another', () => {
  test('where a function of the user says who it is', () => {
    const guard = open({ limits: { ...limits, user: { policy, key: (r: FakeView) => r.user } } } as object)
    const left = ['ann', 'bob', 'ann'].map(user => leftIn(ask(guard, { route: '/a', user })).user)
    expect(left).toEqual([PLENTY - 1, PLENTY - 1, PLENTY - 2])
  })

  test('where a limit applies only sometimes', () => {
    const guard = open({
      limits: { ...limits, some: { policy, key: route(), when: (r: FakeView) => r.applies } },
    } as object)
    const left = [true, false, true].map(applies => leftIn(ask(guard, { route: '/a', applies })).some)
    expect(left).toEqual([PLENTY - 1, undefined, PLENTY - 2])
  })
})
