import { describe, expect, test } from 'vitest'
import { ask, headersOf, leftIn, statuses } from '../../fixtures/http/fake-exchange.ts'
import type { Any } from '../../fixtures/limiter/misuse.ts'
import { fixedWindow } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, ip, loginLimits } from '../index.ts'
import { GUARD_LIMIT_OPTIONS } from './guard-limit.ts'

const policy = fixedWindow({ limit: 2, window: '1h' })
const SETTINGS = [
  ...['name', 'prefix', 'store', 'clock', 'headers', 'partitionSecret', 'skip', 'lookupDeadline', 'allow', 'deny'],
  ...['preflight', 'refuse', 'onDecision', 'onEvent', 'trustProxy', 'addressFrom', 'ipv6Prefix', 'routes', 'limits'],
]
const nothing = (names: readonly string[]) => Object.fromEntries(names.map(name => [name, undefined])) as Any

/** What two addresses are answered, and with which fields. */
function answers(guard: ReturnType<typeof createGuard>) {
  const found = ['192.0.2.1', '192.0.2.2'].map(from => statuses(guard, 3, { from }))
  return [found, Object.keys(headersOf(ask(guard)))]
}

describe('options that are undefined are as left out', () => {
  test('of a guard with one limit', () => {
    const given = { ...nothing([...SETTINGS, ...GUARD_LIMIT_OPTIONS]), policy }
    expect(answers(createGuard(given))).toEqual(answers(createGuard({ policy })))
  })

  test('of a guard with several, and of each limit', () => {
    const limits = { caller: { ...nothing([...GUARD_LIMIT_OPTIONS, 'store']), policy, key: ip() } }
    const given = { ...nothing(SETTINGS), policy: undefined, limits }
    expect(answers(createGuard(given))).toEqual(answers(createGuard({ limits: { caller: { policy, key: ip() } } })))
  })

  test('of a route: its limit counts for itself, by address, and the cost of the guard holds', () => {
    const clock = fakeClock()
    const guard = createGuard({
      limits: { all: { policy: fixedWindow({ limit: 100, window: '1h' }), key: ip(), cost: 7 } },
      clock,
    })
    const own = { limits: { caller: { ...nothing(GUARD_LIMIT_OPTIONS), policy, key: ip() } }, cost: undefined } as Any
    expect(leftIn(ask(guard.for('/a', own)))).toEqual({ all: 93, caller: 1 })
    expect(leftIn(ask(guard.for('/b', { ...own })))).toEqual({ all: 86, caller: 1 })
    expect(leftIn(ask(guard.for('/c', { ...nothing(GUARD_LIMIT_OPTIONS), policy } as Any)))).toEqual({
      all: 79,
      default: 1,
    })
  })

  test.each<[what: string, own: Any, left: Record<string, number>]>([
    ['limits beside a policy', { limits: undefined, policy }, { all: 93, default: 1 }],
    [
      'a policy beside limits',
      { policy: undefined, limits: { caller: { policy, key: ip() } } },
      { all: 93, caller: 1 },
    ],
    ['both beside a cost', { limits: undefined, policy: undefined, cost: 5 }, { all: 95 }],
  ])('of a route: %s', (_, own, left) => {
    const all = { policy: fixedWindow({ limit: 100, window: '1h' }), key: ip() }
    const cost = 'cost' in own ? {} : { cost: 7 }
    const guard = createGuard({ limits: { all: { ...all, ...cost } }, clock: fakeClock() })
    expect(leftIn(ask(guard.for('/a', own)))).toEqual(left)
  })

  test('of the login limits', () => {
    const names = ['ip', 'username', 'pair', 'perAddress', 'perUsername', 'total', 'failed', 'succeeded']
    expect(Object.keys(loginLimits(nothing(names)))).toEqual(Object.keys(loginLimits()))
  })
})

test.each([
  ['keyGenerator', 'key'],
  ['windowMs', 'policy'],
  ['max', 'policy'],
  ['points', 'policy'],
  ['standardHeaders', 'headers'],
  ['message', 'refuse'],
  ['throttlers', 'limits'],
  ['skipFailedRequests', 'countWhen'],
  ['trustproxy', 'trustProxy'],
])('%s is refused, and %s is said to be meant', (foreign, ours) => {
  const options = ours === 'limits' ? { limits: { a: { policy } } } : { policy }
  expect(() => createGuard({ ...options, [foreign]: 1 } as Any)).toThrow(`write ${ours}`)
})

describe('a response that was cut off', () => {
  const cutOff = (options: object, status = 200) => {
    const guard = createGuard({ policy, clock: fakeClock(), ...options })
    ask(guard)?.ended?.(status, 0, true)
    return leftIn(ask(guard)).default
  }

  test.each<[string, object, number]>([
    ['counts', {}, 0],
    ['counts for a limit that settles', { settle: () => 1, unit: 'x' }, 0],
    ['does not count if the limit says so', { countAborted: false }, 1],
    ['does not count then, whatever it settles for', { countAborted: false, settle: () => 2, unit: 'x' }, 1],
  ])('%s', (_, options, left) => {
    expect(cutOff(options)).toBe(left)
  })

  test('before it was answered is never free, unless the limit says so', () => {
    const countWhen = () => false
    expect([cutOff({ countWhen }), cutOff({ countWhen }, 499)]).toEqual([1, 0])
    expect([cutOff({ settle: 'bytes' }), cutOff({ settle: 'bytes' }, 499)]).toEqual([1, 0])
    expect(cutOff({ countWhen, countAborted: false }, 499)).toBe(1)
  })
})
