import { describe, expect, test } from 'vitest'
import { ask, headersOf, leftIn, statuses } from '../../fixtures/http/fake-exchange.ts'
import { codeOf } from '../../fixtures/limiter/misuse.ts'
import { RemoteMemory } from '../../fixtures/stores/remote-memory.ts'
import { fixedWindow } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type GuardOptions, ip } from '../index.ts'

const of = (limit: number) => fixedWindow({ limit, window: '1m' })

function guarded(options: Partial<GuardOptions> = {}) {
  return createGuard({
    limits: { caller: { policy: of(20), key: ip() } },
    clock: fakeClock(),
    ...options,
  } as GuardOptions)
}

describe('what a route has of its own', () => {
  test('a cost, counted in the same limit', () => {
    const guard = guarded()
    ask(guard.for('/search', { cost: 5 }))
    expect(leftIn(ask(guard))).toEqual({ caller: 14 })
    expect(leftIn(ask(guard.for('/search', { cost: 5 })))).toEqual({ caller: 9 })
  })

  test('a cost, but not for limits that have one', () => {
    const limits = { calls: { policy: of(20), key: ip(), cost: 1 }, units: { policy: of(20), key: ip() } }
    expect(leftIn(ask(guarded({ limits }).for('/search', { cost: 5 })))).toEqual({ calls: 19, units: 15 })
  })

  test('further limits, in one decision with the others', () => {
    const guard = guarded()
    const search = guard.for('/search', { limits: { search: { policy: of(2), key: ip() } } })
    expect(statuses(search, 4)).toEqual([200, 200, 429, 429])
    expect(leftIn(ask(search))).toEqual({ caller: 18, search: 0 })
    expect(leftIn(ask(guard))).toEqual({ caller: 17 })
  })

  test('others in place of those of the same name, which count for themselves', () => {
    const guard = guarded()
    const export_ = guard.for('/export', { limits: { caller: { policy: of(1), key: ip() } } })
    expect(statuses(export_, 2)).toEqual([200, 429])
    expect(leftIn(ask(guard))).toEqual({ caller: 19 })
  })

  test('a policy, short for a limit named default', () => {
    expect(leftIn(ask(guarded().for('/a', { policy: of(3) })))).toEqual({ caller: 19, default: 2 })
    const short = createGuard({ policy: of(20), clock: fakeClock() })
    expect(leftIn(ask(short.for('/a', { policy: of(3) })))).toEqual({ default: 2 })
    expect(leftIn(ask(short))).toEqual({ default: 19 })
  })

  test('limits and a cost', () => {
    const search = guarded().for('/search', { limits: { search: { policy: of(9), key: ip() } }, cost: 4 })
    expect(leftIn(ask(search))).toEqual({ caller: 16, search: 5 })
  })
})

describe('routes count apart', () => {
  const own = { limits: { own: { policy: of(3), key: ip() } } }

  test('unless they name the same bucket, and then have one id', () => {
    const guard = guarded({ headers: 'x-bucket' })
    const mail = { limits: { own: { policy: of(3), key: ip(), bucket: 'mail' } } }
    const [read, write, other] = [guard.for('/read', mail), guard.for('/write', mail), guard.for('/other', own)]
    const [a, b, c] = [read, write, other].map(one => ask(one))
    expect([leftIn(a).own, leftIn(b).own, leftIn(c).own]).toEqual([2, 1, 2])
    const [idA, idB, idC] = [a, b, c].map(outcome => headersOf(outcome)['X-RateLimit-Bucket'])
    expect(idA).toBe(idB)
    expect(idA).not.toBe(idC)
  })

  test('and the same route is the same guard', () => {
    const guard = guarded()
    expect(guard.for('/a', own)).toBe(guard.for('/a', own))
    expect(guard.for('/a', own)).not.toBe(guard.for('/b', own))
  })

  test('two of one name that say different things are two', () => {
    const guard = guarded()
    const [get, post] = [guard.for('/a', { cost: 1 }), guard.for('/a', { cost: 5 })]
    expect([leftIn(ask(get)), leftIn(ask(post))]).toEqual([{ caller: 19 }, { caller: 14 }])
  })
})

describe('the settings of a guard are those of its routes', () => {
  test('lists, trust, headers and hooks', () => {
    const seen: string[] = []
    const guard = guarded({
      allow: ['192.0.2.50'],
      trustProxy: ['10.0.0.0/8'],
      headers: 'draft-7',
      onDecision: (_, r) => void seen.push(r.ip),
    })
    const search = guard.for('/search', { cost: 5 })
    expect(ask(search, { from: '192.0.2.50' })).toBeUndefined()
    const outcome = ask(search, { from: '10.0.0.1', headers: { 'x-forwarded-for': '203.0.113.9' } })
    expect(headersOf(outcome).RateLimit).toBe('limit=20, remaining=15, reset=60')
    expect(seen).toEqual(['203.0.113.9'])
  })

  test('the kill switch, also of limits that only routes have, and of routes that come later', () => {
    const guard = guarded()
    const strict = { limits: { strict: { policy: of(0), key: ip() } } }
    const before = guard.for('/before', strict)
    guard.setMode('off', 'strict')
    const after = guard.for('/after', strict)
    expect([...statuses(before, 1), ...statuses(after, 1)]).toEqual([200, 200])
    guard.setMode(undefined, 'strict')
    expect([...statuses(before, 1), ...statuses(after, 1)]).toEqual([429, 429])
    guard.setMode('off')
    expect(ask(guard.for('/last', strict))).toBeUndefined()
    expect(ask(before)).toBeUndefined()
    guard.setMode(undefined)
    expect([...statuses(before, 1), ...statuses(guard.for('/last', strict), 1)]).toEqual([429, 429])
  })

  test('a route that comes when all are back as configured finds them so', () => {
    const guard = guarded({ limits: { trial: { policy: of(0), key: ip(), mode: 'shadow' } } })
    guard.setMode('off')
    guard.setMode('enforce', 'trial')
    expect(statuses(guard.for('/a', { cost: 2 }), 1)).toEqual([429])
    guard.setMode(undefined)
    expect(statuses(guard.for('/b', { cost: 2 }), 1)).toEqual([200])
  })

  test('a limit that neither the guard nor a route has cannot be switched', () => {
    const guard = guarded()
    guard.for('/a', { limits: { own: { policy: of(1), key: ip() } } })
    expect(codeOf(() => guard.setMode('off', 'nobody'))).toBe('SLUICE_UNKNOWN_LIMIT')
  })
})

test('closing a guard leaves a store alone that was passed in', async () => {
  const store = new RemoteMemory(fakeClock())
  const guard = createGuard({ policy: of(1), store })
  guard.for('/a', { cost: 5 })
  await guard.close()
  expect(store.closed).toBe(false)
})
