import { describe, expect, test } from 'vitest'
import {
  ask,
  type FakeRequest,
  type FakeView,
  heard,
  leftIn,
  serve,
  statuses,
} from '../../fixtures/http/fake-exchange.ts'
import type { Any } from '../../fixtures/limiter/misuse.ts'
import { concurrency, fixedWindow } from '../../index.ts'
import { policyOf } from '../../policy.ts'
import { fakeClock } from '../../testing/index.ts'
import { all, apiKey, createGuard, firstOf, type GuardOptions, header, ip, route, user } from '../index.ts'

const of = (limit: number) => fixedWindow({ limit, window: '1m' })
const throws = () => {
  throw new Error('broken')
}
const rejects = () => Promise.reject(new Error('late'))

/** A guard of these limits, and what it tells. */
function guarded(limits: Record<string, Any>, options: Partial<GuardOptions> = {}) {
  const told = heard()
  return {
    ...told,
    guard: createGuard({ limits, clock: fakeClock(), onEvent: told.onEvent, ...options } as GuardOptions),
  }
}

describe('a key that is none is the address, and an event says so', () => {
  test.each<[string, Any]>([
    ['throws', throws],
    ['undefined', () => undefined],
    ['null', () => null],
    ['empty', () => ''],
    ['no parts', () => []],
    ['a part missing', (r: Any) => ['a', r.nothing]],
    ['an empty part', () => ['a', '']],
    ['NaN', () => Number.NaN],
    ['a fraction', () => 0.5],
    ['an object', () => ({})],
    ['a helper that was not called', user],
    ['a helper whose function throws', user((r: FakeView) => r.session.user.id)],
    ['a part that throws', all(user(throws), route())],
    ['a choice that throws', firstOf(user(throws), ip())],
    ['verify throws', apiKey({ verify: throws })],
    ['verify answers a promise', apiKey({ verify: (async () => true) as Any })],
    ['verify answers what is neither', header('x-api-key', { verify: (() => 'yes') as Any })],
  ])('%s', (_name, key) => {
    const { guard, fallbacks } = guarded({ caller: { policy: of(1), key } })
    const request = { headers: { 'x-api-key': 'k' } }
    expect(statuses(guard, 2, request)).toEqual([200, 429])
    expect(statuses(guard, 2, { ...request, from: '192.0.2.2' })).toEqual([200, 429])
    expect(fallbacks()).toEqual(Array(4).fill('caller key: the address'))
  })
})

describe('a cost that is none counts as 1, and an event says so', () => {
  test.each<[string, Any]>([
    ['throws', throws],
    ['undefined', () => undefined],
    ['NaN', () => Number.NaN],
    ['negative', () => -5],
    ['a fraction', () => 0.9],
    ['Infinity', () => Infinity],
    ['a text', () => '5'],
  ])('%s', (_name, cost) => {
    const { guard, fallbacks } = guarded({ caller: { policy: of(3), key: ip(), cost } })
    expect(leftIn(ask(guard))).toEqual({ caller: 2 })
    expect(fallbacks()).toEqual(['caller cost: 1'])
  })
})

describe('a policy function that fails', () => {
  const nonsense: [string, Any][] = [
    ['throws', throws],
    ['undefined', () => undefined],
    ['a number', () => 100],
    ['a text that is no rate', () => 'fast'],
    ['an unknown kind', () => ({ kind: 'magic' })],
    ['a limit of NaN', () => ({ kind: 'fixedWindow', limit: Number.NaN, windowMs: 1000, align: 'epoch' })],
  ]

  test.each(nonsense)('%s: the strictest configured one is used, and an event says so', (_name, policy) => {
    const { guard, fallbacks } = guarded({
      caller: { policy, key: ip() },
      lax: { policy: of(90), key: ip() },
      strict: { policy: of(2), key: ip(), when: () => false },
      flight: { policy: concurrency({ limit: 1, ttl: '1d' }), key: ip(), when: () => false },
    })
    expect(statuses(guard, 3)).toEqual([200, 200, 429])
    expect(fallbacks()).toEqual(Array(3).fill(`caller policy: ${JSON.stringify(of(2))}`))
  })

  test.each(nonsense)('%s: with nothing else configured it is one a second', (_name, policy) => {
    const { guard, fallbacks } = guarded({ caller: { policy, key: ip() } })
    expect(statuses(guard, 2)).toEqual([200, 429])
    expect(fallbacks()[0]).toBe(`caller policy: ${JSON.stringify(policyOf('1/s'))}`)
  })

  test('one that works again is used again', () => {
    let down = true
    const { guard } = guarded({ caller: { policy: () => (down ? throws() : of(9)), key: ip() } })
    expect(ask(guard)?.decision?.limit).toBe(1)
    down = false
    expect(ask(guard)?.decision?.limit).toBe(9)
  })
})

describe('a question that is not answered with true or false', () => {
  const neither: [string, Any][] = [
    ['throws', throws],
    ['a text', () => 'no'],
    ['0', () => 0],
  ]
  const promises: [string, Any][] = [
    ['a promise', () => Promise.resolve(false)],
    ['a promise that rejects', rejects],
  ]

  test.each([...neither, ['undefined', () => undefined] as [string, Any]])(
    'when (%s): the limit applies',
    (_name, when) => {
      const { guard, fallbacks } = guarded({ caller: { policy: of(1), key: ip(), when } })
      expect(statuses(guard, 2)).toEqual([200, 429])
      expect(fallbacks()).toEqual(Array(2).fill('caller when: true'))
    },
  )

  test.each([...neither, ...promises, ['undefined', () => undefined] as [string, Any]])(
    'countWhen (%s): it counts',
    (_name, countWhen) => {
      const { guard, fallbacks } = guarded({ caller: { policy: of(1), key: ip(), countWhen } })
      expect([serve(guard, {}), serve(guard, {})]).toEqual([200, 429])
      expect(fallbacks()).toEqual(['caller countWhen: true'])
    },
  )

  test.each([...neither, ...promises])('resetWhen (%s): nothing is forgiven', (_name, resetWhen) => {
    const { guard, fallbacks } = guarded({ caller: { policy: of(1), key: ip(), resetWhen } })
    expect([serve(guard, {}), serve(guard, {})]).toEqual([200, 429])
    expect(fallbacks()).toEqual(['caller resetWhen: false'])
  })

  test.each(neither)('skip (%s): nobody is skipped', (_name, skip) => {
    const { guard, fallbacks } = guarded({ caller: { policy: of(1), key: ip() } }, { skip })
    expect(statuses(guard, 2)).toEqual([200, 429])
    expect(fallbacks()).toEqual(Array(2).fill(' skip: false'))
  })
})

test.each<[string, Any]>([
  ['throws', throws],
  ['a word that is none', () => 'on'],
  ['undefined', () => undefined],
  ['a promise that rejects', rejects],
])('a mode that is none is enforced: %s', (_name, mode) => {
  const { guard, fallbacks } = guarded({ caller: { policy: of(1), key: ip(), mode } })
  expect(statuses(guard, 2)).toEqual([200, 429])
  expect(fallbacks()).toEqual(Array(2).fill("caller mode: 'enforce'"))
})

test.each<[string, Any]>([
  ['throws', throws],
  ['NaN', () => Number.NaN],
  ['negative', () => -1],
  ['undefined', () => undefined],
  ['a promise that rejects', rejects],
])('what is settled for nonsense stays at what was set aside: %s', (_name, settle) => {
  const { guard, fallbacks } = guarded({ caller: { policy: of(5), key: ip(), cost: 2, settle } })
  serve(guard, {})
  expect(leftIn(ask(guard))).toEqual({ caller: 1 })
  expect(fallbacks()).toEqual(['caller settle: what was set aside'])
})

describe('who listens does not change what is answered', () => {
  test('an onDecision that throws', () => {
    const { guard, fallbacks } = guarded({ caller: { policy: of(1), key: ip() } }, { onDecision: throws })
    expect(statuses(guard, 2)).toEqual([200, 429])
    expect(fallbacks()).toEqual(Array(2).fill(' onDecision: nothing'))
  })

  test('an onEvent that throws', () => {
    const limits = { caller: { policy: of(1), key: throws }, never: { policy: of(1), when: throws } }
    const { guard } = guarded(limits, { onEvent: throws, onDecision: throws })
    expect(statuses(guard, 2)).toEqual([200, 429])
  })
})

test('a giant key is kept as its hash, and stays apart from others', () => {
  const key = (r: Any) => (r.parts ? ['a', r.name] : r.name)
  const { guard } = guarded({ caller: { policy: of(0), key, mode: 'shadow' } })
  const giant = 'x'.repeat(100_000)
  for (const name of [giant, `${giant}y`]) for (const parts of [true, false]) ask(guard, { name, parts })
  const keys = guard.limiter.shadows()[0]!.top.map(({ key }) => key)
  expect(new Set(keys).size).toBe(4)
  for (const one of keys) expect(one.length).toBeLessThan(64)
})

test('giant and strange requests are answered like any other', () => {
  const giant = 'x'.repeat(100_000)
  const { guard } = guarded(
    { caller: { policy: of(3), key: firstOf(apiKey({ verify: () => true }), ip()), cost: { '/a': 2 } } },
    { trustProxy: ['10.0.0.0/8'], routes: ['/a', '/b/:id'] },
  )
  const strange: FakeRequest[] = [
    { headers: { 'x-api-key': giant, 'x-forwarded-for': giant, 'user-agent': giant } },
    { from: '10.0.0.1', headers: { 'x-forwarded-for': `${'9,'.repeat(50_000)}::` } },
    { from: '\u0000', path: `/b/${giant}` },
    { method: '', path: '' },
    { path: '/%E0%A4%A' },
  ]
  for (const request of strange) expect(ask(guard, request)?.decision?.allowed).toBe(true)
})
