import { describe, expect, test } from 'vitest'
import {
  ask,
  askLater,
  type FakeRequest,
  headersOf,
  leftIn,
  serve,
  statuses,
} from '../../fixtures/http/fake-exchange.ts'
import { type Any, codeOf } from '../../fixtures/limiter/misuse.ts'
import { farMemory } from '../../fixtures/stores/far-memory.ts'
import { fixedWindow } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import {
  all,
  apiKey,
  createGuard,
  firstOf,
  type GuardLimit,
  header,
  ip,
  loginLimits,
  plans,
  route,
  user,
  userAgent,
  username,
} from '../index.ts'
import { hashOf } from '../request/sha256.ts'

const of = (limit: number) => fixedWindow({ limit, window: '1h' })
const verify = () => true
const LONG = 'x'.repeat(999)

function guarded(limits: Record<string, GuardLimit<Any>>) {
  return createGuard({ limits, clock: fakeClock() } as Any)
}

describe('a key is written as the limit gives it', () => {
  const rows: [string, GuardLimit<Any>['key'], FakeRequest, Any][] = [
    ['an address', ip(), { from: '203.0.113.7' }, '203.0.113.7'],
    ['another spelling of it', ip(), { from: '203.0.113.7' }, '::ffff:203.0.113.7'],
    ['an address of IPv6', ip(), { from: '2001:db8::1' }, '2001:db8:0:0::7'],
    ['its network', ip(), { from: '2001:db8::1' }, '2001:db8::/64'],
    ['a user', user(), { user: { id: 42 } }, 'user:42'],
    ['nobody', user(), { from: '203.0.113.7' }, '203.0.113.7'],
    ['a name in any spelling', username(), { body: { username: 'Ann' } }, 'username: ANN '],
    ['a long name', user(), { user: { id: 'x'.repeat(999) } }, `user:${'x'.repeat(999)}`],
    ['a route', route(), { route: '/a/:id' }, 'route:/a/:id'],
    ['a header', header('X-Team', { verify }), { headers: { 'x-team': 'red' } }, 'header x-team:red'],
    ['an API key', apiKey({ verify }), { headers: { 'x-api-key': 'secret' } }, 'key:secret'],
    ['with its scheme', apiKey({ verify }), { headers: { 'x-api-key': 'Bearer secret' } }, 'key:Bearer secret'],
    ['one like a hash', apiKey({ verify }), { headers: { 'x-api-key': 'a1'.repeat(20) } }, `key:${'a1'.repeat(20)}`],
    ['its hash', apiKey({ verify }), { headers: { 'x-api-key': 'secret' } }, `key#${hashOf('secret')}`],
    ['a long agent by its hash', userAgent(), { headers: { 'user-agent': LONG } }, `agent#${hashOf(LONG)}`],
    ['what is no text', user(), { user: { id: [] } }, 'user?'],
    ['parts', all(ip(), route()), { from: '203.0.113.7', route: '/a' }, ['203.0.113.7', 'route:/a']],
    ['parts as events have them', all(user(), route()), { user: { id: 7 }, route: '/a' }, '&6:user:78:route:/a'],
    ['the first', firstOf(user(), ip()), { user: { id: 42 } }, 'user:42'],
    ['the last', firstOf(user(), ip()), { from: '203.0.113.7' }, '203.0.113.7'],
    ['what a function gives', r => r.name, { name: 'ann' }, 'ann'],
    ['a number of a function', r => r.account, { account: 7 }, 7],
    ['parts of a function', r => [r.name, 'x'], { name: 'ann' }, ['ann', 'x']],
    ['none', undefined, {}, undefined],
  ]

  test.each(rows)('%s', (_, own, request, key) => {
    const guard = guarded({
      caller: { policy: of(5), ...(own !== undefined && { key: own }) },
      other: { policy: of(9) },
    })
    ask(guard, request)
    ask(guard, request)
    const target = { limit: 'caller', ...(key !== undefined && { key }) }
    expect(guard.peek(target)).toMatchObject({ name: 'caller', remaining: 3 })
    expect(guard.inspect(target)).toMatchObject({ name: 'caller', used: 2 })
    guard.penalize({ ...target, cost: 2 })
    expect(leftIn(ask(guard, request))).toEqual({ caller: 0, other: 6 })
    guard.set({ ...target, remaining: 4 })
    expect(leftIn(ask(guard, request))).toEqual({ caller: 3, other: 5 })
    guard.block({ ...target, for: '1h' })
    expect(ask(guard, request)?.decision).toMatchObject({ allowed: false, reason: 'blocked' })
    guard.block({ ...target, for: 'forever' })
    expect(headersOf(ask(guard, request))).not.toHaveProperty('Retry-After')
    expect(headersOf(ask(guard, request)).RateLimit).toMatch(/^"caller";r=0,/)
    guard.unblock(target)
    expect(leftIn(ask(guard, request))).toMatchObject({ caller: 2 })
    guard.reset(target)
    expect(leftIn(ask(guard, request))).toMatchObject({ caller: 4 })
  })
})

describe('what does not exist is an error, never a success', () => {
  const limits = {
    caller: { policy: of(5), key: user() },
    address: { policy: of(5), key: ip() },
    all: { policy: of(9) },
    apps: { policy: of(5), key: apiKey({ verify }) },
    both: { policy: of(5), key: all(ip(), route()) },
  }

  test.each<[string, Any, string]>([
    ['a limit', { limit: 'calller', key: 'user:42' }, "(SLUICE_UNKNOWN_LIMIT) 'caller', 'address', 'all'"],
    ['no limit', {}, '(SLUICE_UNKNOWN_LIMIT)'],
    ['a form of key', { limit: 'caller', key: '42' }, "(SLUICE_BAD_KEY) 'user:…' or an address"],
    ['no key', { limit: 'caller' }, '(SLUICE_BAD_KEY)'],
    ['an empty key', { limit: 'caller', key: '' }, '(SLUICE_BAD_KEY)'],
    ['an address', { limit: 'address', key: '203.0.113' }, '(SLUICE_BAD_KEY) an address such as'],
    ['a key of a limit without', { limit: 'all', key: 'user:42' }, '(SLUICE_BAD_KEY)'],
    ['an option', { limit: 'caller', key: 'user:42', polcy: '5/m' }, '(SLUICE_BAD_OPTION) write policy'],
    ['a policy beside that of the limit', { limit: 'all', policy: '5/m' }, '(SLUICE_BAD_OPTION)'],
    ['a route', { limit: 'caller', key: 'user:42', route: '/a' }, '(SLUICE_UNKNOWN_LIMIT)'],
    ['a blank user', { limit: 'caller', key: 'user: ' }, '(SLUICE_BAD_KEY)'],
    ['a hash that is none', { limit: 'caller', key: 'user#42' }, '(SLUICE_BAD_KEY)'],
    ['a user in a list', { limit: 'caller', key: ['user:42'] }, "(SLUICE_BAD_KEY) got '['user:42']'"],
    ['a range', { limit: 'address', key: '203.0.113.0/24' }, '(SLUICE_BAD_KEY) an address such as'],
    ['a network of another size', { limit: 'address', key: '2001:db8::1/56' }, '(SLUICE_BAD_KEY)'],
    ['an API key without a value', { limit: 'apps', key: 'key:Bearer ' }, '(SLUICE_BAD_KEY)'],
    ['parts with a wrong length', { limit: 'both', key: '&11:203.0.113.799:route:/a' }, '(SLUICE_BAD_KEY)'],
    ['null', { limit: 'caller', key: null }, "(SLUICE_BAD_KEY) 'user:…' or an address"],
    ['a name that every object has', { limit: 'constructor', key: 'user:42' }, '(SLUICE_UNKNOWN_LIMIT)'],
  ])('%s', (_, target, said) => {
    const guard = guarded(limits)
    const [, code, text] = /^\((\w+)\) ?(.*)$/.exec(said)!
    for (const call of ['reset', 'peek', 'inspect', 'unblock'] as const) {
      expect(codeOf(() => guard[call](target))).toBe(code)
      expect(() => guard[call](target)).toThrow(text || 'expected')
    }
  })
})

test.each<[string, GuardLimit<Any>['cost']]>([
  ['a number', 5],
  ['a table', { '/a': 5 }],
  ['a function', () => 5],
])('the cost of the call counts, also if the limit has %s of its own', (_, cost) => {
  const guard = guarded({ caller: { policy: of(9), cost: cost!, unit: 'points' } })
  guard.penalize({ limit: 'caller', cost: 2 })
  expect(guard.inspect({ limit: 'caller' })).toMatchObject({ used: 2 })
  const passes = (given: number | undefined) => guard.peek({ limit: 'caller', cost: given } as Any)
  expect([undefined, 7, 8].map(given => passes(given))).toMatchObject([
    { allowed: true, remaining: 7 },
    { allowed: true },
    { allowed: false },
  ])
})

test('a state under any plan is forgotten, and other calls ask for the policy', () => {
  const policy = plans({ anonymous: of(2), pro: fixedWindow({ limit: 9, window: '1d' }) }, (r: Any) => r.plan)
  const guard = guarded({ caller: { policy: policy as Any, key: ip() } })
  const target = { limit: 'caller', key: '192.0.2.1' }
  expect(leftIn(ask(guard, { plan: 'pro' }))).toEqual({ caller: 8 })
  expect(codeOf(() => guard.peek(target))).toBe('SLUICE_BAD_POLICY')
  expect(guard.peek({ ...target, policy: fixedWindow({ limit: 9, window: '1d' }) })).toMatchObject({ remaining: 8 })
  guard.reset(target)
  expect(leftIn(ask(guard, { plan: 'pro' }))).toEqual({ caller: 8 })
})

test('limits of routes are found, by the name of the route if several have them', () => {
  const guard = createGuard({ policy: of(9), clock: fakeClock() })
  const exports = guard.for('/exports', {
    limits: { exports: { policy: of(1), key: ip() }, big: { policy: of(1), key: ip() } },
  })
  guard.for('/reports', { limits: { big: { policy: of(1), key: ip() } } })
  const key = '192.0.2.1'
  expect(statuses(exports, 2)).toEqual([200, 429])
  guard.reset({ limit: 'exports', key })
  expect(codeOf(() => guard.reset({ limit: 'big', key }))).toBe('SLUICE_UNKNOWN_LIMIT')
  guard.reset({ limit: 'big', key, route: '/exports' })
  expect(statuses(exports, 2)).toEqual([200, 429])
})

test('over a store across a network the answer is a promise', async () => {
  const clock = fakeClock()
  const guard = createGuard({ policy: of(1), store: farMemory(clock) })
  const target = { limit: 'default', key: '192.0.2.1' }
  await askLater(guard)
  expect(await guard.peek(target)).toMatchObject({ allowed: false })
  await guard.reset(target)
  expect(await guard.inspect(target)).toMatchObject({ used: 0 })
})

test('a name in a login form is let in again', () => {
  const guard = createGuard({ limits: loginLimits({ perUsername: of(1) }), clock: fakeClock() })
  const form = (from: string) => ({ from, body: { username: 'Ann' } })
  expect([serve(guard, form('192.0.2.1'), 401), serve(guard, form('192.0.2.2'), 401)]).toEqual([401, 429])
  guard.reset({ limit: 'login-username', key: 'username:ann' })
  expect(serve(guard, form('192.0.2.2'), 401)).toBe(401)
})
