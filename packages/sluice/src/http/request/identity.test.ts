import { describe, expect, test } from 'vitest'
import { ask, type FakeRequest, type FakeView, factsOf } from '../../fixtures/http/fake-exchange.ts'
import { type Any, codeOf } from '../../fixtures/limiter/misuse.ts'
import { fixedWindow } from '../../index.ts'
import {
  all,
  apiKey,
  createGuard,
  firstOf,
  header,
  type Identity,
  ip,
  route,
  session,
  tenant,
  user,
  userAgent,
  username,
} from '../index.ts'

const HOME = '192.0.2.1'
const yes = () => true
const NOTHING = fixedWindow({ limit: 0, window: '1m' })

function keyOf(identity: Identity<FakeView>, request: FakeRequest = {}): string {
  return identity.keyOf(factsOf({ from: HOME, ...request }))
}

describe('what each helper finds', () => {
  test.each<[string, Identity<FakeView>, FakeRequest, string]>([
    ['ip', ip(), {}, HOME],
    ['user.id', user(), { user: { id: 'ann' } }, 'user:ann'],
    ['auth.userId', user(), { auth: { userId: 7 } }, 'user:7'],
    ['a user of its own', user(r => r.who), { who: 12n }, 'user:12'],
    ['tenant.id', tenant(), { tenant: { id: 'acme' } }, 'tenant:acme'],
    ['auth.tenantId', tenant(), { auth: { tenantId: 'acme' } }, 'tenant:acme'],
    ['session.id', session(), { session: { id: 's1' }, headers: { cookie: 'sid=s%3As1.signed' } }, 'session:s1'],
    ['sessionID', session(), { sessionID: 's2', headers: { cookie: 'sid=s2' } }, 'session:s2'],
    ['body.username', username(), { body: { username: 'Ann' } }, 'username:ann'],
    ['body.email', username(), { body: { email: 'ANN@example.com' } }, 'username:ann@example.com'],
    ['agent', userAgent(), { headers: { 'user-agent': 'curl/8' } }, 'agent:curl/8'],
    ['route', route(), { route: '/orders/:id', path: '/orders/17' }, 'route:/orders/:id'],
    ['no route', route(), { path: '/nowhere' }, 'route:'],
    ['header', header('X-Tenant', { verify: yes }), { headers: { 'x-tenant': 'acme' } }, 'header x-tenant:acme'],
  ])('%s', (_name, identity, request, key) => {
    expect(keyOf(identity, request)).toBe(key)
  })
})

describe('what is missing falls back to the address', () => {
  test.each<[string, Identity, FakeRequest]>([
    ['nobody has logged in', user(), {}],
    ['a user without an id', user(), { user: {} }],
    ['an empty id', user(), { user: { id: '' } }],
    ['no tenant', tenant(), { auth: { userId: 'ann' } }],
    ['no session', session(), {}],
    ['no body', username(), {}],
    ['a name of spaces', username(), { body: { username: ' \u00a0 ' } }],
    ['no agent', userAgent(), {}],
    ['no header', header('x-tenant', { verify: yes }), {}],
    ['an empty header', header('x-tenant', { verify: yes }), { headers: { 'x-tenant': '' } }],
    ['no API key', apiKey({ verify: yes }), {}],
    [
      'a scheme without a key',
      apiKey({ header: 'authorization', verify: yes }),
      { headers: { authorization: 'Bearer ' } },
    ],
  ])('%s', (_name, identity, request) => {
    expect(keyOf(identity, request)).toBe(HOME)
  })

  test('a session that the server has only just made is nobody yet: else leaving the cookie out would be fresh quota', () => {
    const made = (id: string): FakeRequest => ({ session: { id }, sessionID: id })
    expect(keyOf(session(), made('new'))).toBe(HOME)
    expect(keyOf(session(), { ...made('new'), headers: { cookie: 'sid=s%3Aexpired.signed' } })).toBe(HOME)
  })
})

describe('a header is no proof', () => {
  const invented = ['a', 'b', 'c'].map((value): FakeRequest => ({ headers: { 'x-api-key': value } }))

  test.each<[string, Identity]>([
    ['header() without verify', header('x-api-key')],
    ['header() that is not verified', header('x-api-key', { verify: () => false })],
    ['apiKey() without verify', apiKey()],
    ['apiKey() that is not verified', apiKey({ verify: () => false })],
    ['verify that says something else', apiKey({ verify: (() => undefined) as Any })],
  ])('%s shares the limit of the address', (_name, identity) => {
    for (const request of invented) expect(keyOf(identity, request)).toBe(HOME)
  })

  test('verify sees the value and the request', () => {
    const verify = (value: string, r: Any) => value === 'k' && r.ip === HOME && r.plan === 'pro'
    const key = keyOf(apiKey({ verify }), { headers: { 'x-api-key': 'k' }, plan: 'pro' })
    expect(key).toMatch(/^key#[0-9a-f]{40}$/)
    expect(keyOf(apiKey({ verify }), { headers: { 'x-api-key': 'k' }, plan: 'free' })).toBe(HOME)
  })

  test('an API key is the same with and without its scheme, and another one is another', () => {
    const identity = apiKey({ header: 'Authorization', verify: yes })
    const sent = (authorization: string) => keyOf(identity, { headers: { authorization } })
    expect(sent('Bearer abc')).toBe(sent('bearer  abc'))
    expect(sent('Bearer abc')).toBe(sent('abc'))
    expect(sent('Bearer abc')).not.toBe(sent('Bearer abd'))
  })

  test('what a store is handed of an API key is its hash', () => {
    const guard = createGuard({
      limits: {
        now: { policy: '9/m', key: ip() },
        keys: { policy: NOTHING, key: apiKey({ verify: yes }), mode: 'shadow' },
      },
    })
    ask(guard, { headers: { 'x-api-key': 'sk_live_secret' } })
    const [trial] = guard.limiter.shadows()
    expect(trial!.top.map(({ key }) => key)).toEqual([expect.stringMatching(/^key#[0-9a-f]{40}$/)])
    expect(JSON.stringify(trial)).not.toContain('secret')
  })
})

describe('firstOf', () => {
  const chosen = firstOf(user(), apiKey({ verify: value => value === 'good' }), all(ip(), userAgent()), ip())

  test.each<[string, FakeRequest, RegExp]>([
    ['the user', { user: { id: 'ann' }, headers: { 'x-api-key': 'good', 'user-agent': 'curl' } }, /^user:ann$/],
    ['else the key', { headers: { 'x-api-key': 'good', 'user-agent': 'curl' } }, /^key#/],
    [
      'else address and agent',
      { headers: { 'x-api-key': 'bad', 'user-agent': 'curl' } },
      /^&9:192\.0\.2\.110:agent:curl$/,
    ],
  ])('%s', (_name, request, key) => {
    expect(keyOf(chosen, request)).toMatch(key)
  })

  test('else the address', () => {
    expect(keyOf(firstOf(user(), apiKey(), ip()))).toBe(HOME)
    expect(keyOf(firstOf(user(), apiKey()))).toBe(HOME)
  })
})

describe('the address', () => {
  const BEHIND = { trustProxy: ['10.0.0.0/8'] }
  const LIMIT = fixedWindow({ limit: 100, window: '1m' })

  test.each([
    ['192.0.2.7', '::ffff:192.0.2.7'],
    ['192.0.2.7', '::ffff:c000:207'],
    ['2001:db8::1', '2001:db8:0:0:ffff::2'],
    ['2001:db8::1', '2001:0DB8::0001%eth0'],
  ])('%s and %s are one client', (one, other) => {
    expect(keyOf(ip(), { from: one })).toBe(keyOf(ip(), { from: other }))
  })

  test('is what trusted proxies say, and nobody else', () => {
    const seen: string[] = []
    const guard = createGuard({ policy: LIMIT, ...BEHIND, onDecision: (_, r) => void seen.push(r.ip) })
    const headers = { 'x-forwarded-for': '203.0.113.9' }
    ask(guard, { from: '10.1.2.3', headers })
    ask(guard, { from: '198.51.100.4', headers })
    expect(seen).toEqual(['203.0.113.9', '198.51.100.4'])
  })
})

test.each<[string, () => unknown, string]>([
  ['a header without a name', () => header(''), "expected header() with a name, got ''"],
  ['a user that is no function', () => user('id' as Any), "expected user() with a function of the request, got 'id'"],
  ['all of nothing', () => all(), 'expected all() of identity helpers such as ip() and user(), got undefined'],
  ['a helper that was not called', () => firstOf(user as Any), 'expected firstOf() of identity helpers'],
  ['a function of its own in all()', () => all(ip(), (() => 'x') as Any), 'expected all() of identity helpers'],
])('%s is refused when it is made', (_name, make, message) => {
  expect(codeOf(make)).toBe('SLUICE_BAD_OPTION')
  expect(make).toThrow(message)
})
