import { readDescriptorFiles, readRules } from 'sluice/rules'
import { describe, expect, test } from 'vitest'
import { descriptorWarnings, ruleWarnings } from './warnings.ts'

const codes = (limits: object) => ruleWarnings(readRules({ limits })).map(({ code, limit }) => [code, limit])
const user = { key: 'user', 'sliding-window': '60/1m' }

test('a file that is well written has none', () => {
  expect(codes({ ip: { key: 'ip', 'sliding-window': '60/1m' }, user })).toEqual([])
})

describe('a lone fixed window', () => {
  const daily = { key: ['user', 'route'], 'fixed-window': '1000/1d' }
  test.each<[object, unknown[]]>([
    [{ user, daily }, [['lone-fixed-window', 'daily']]],
    [{ daily, smooth: { key: ['route', 'user'], gcra: { rate: '1/s', burst: 9 } } }, []],
    [{ daily, part: { ...user, key: ['route', 'user'], when: { a: 'b' } } }, [['lone-fixed-window', 'daily']]],
    [{ daily, dark: { ...user, key: ['user', 'route'], mode: 'shadow' } }, [['lone-fixed-window', 'daily']]],
    [
      { user, plans: { key: 'team', plans: { by: 'p', a: { 'fixed-window': '9/1h' } } } },
      [['lone-fixed-window', 'plans']],
    ],
    [{ user, dark: { ...daily, mode: 'shadow' } }, []],
  ])('%j: %j', (limits, found) => {
    expect(codes(limits)).toEqual(found)
  })
})

describe('an address-only key', () => {
  const by = (key: string | string[]) => ({ key, 'sliding-window': '60/1m' })
  test.each<[object, unknown[]]>([
    [{ ip: by('ip') }, [['address-only-key', 'ip']]],
    [{ a: by('client_ip'), b: by(['remote_address', 'ip']) }, ['a', 'b'].map(limit => ['address-only-key', limit])],
    [{ ip: by('ip'), all: { 'sliding-window': '60/1m' } }, [['address-only-key', 'ip']]],
    [{ ip: by('ip'), user: by('user') }, []],
    [{ ip: by(['ip', 'username']) }, []],
    [{ trip: by('trip') }, []],
  ])('%j: %j', (limits, found) => {
    expect(codes(limits)).toEqual(found)
  })
})

describe('one limit over login and health', () => {
  const over = (route: unknown, more: object = {}) => ({ one: { ...user, when: { route }, ...more } })
  const found = [['login-and-health', 'one']]
  test.each<[object, unknown[]]>([
    [over(['/login', '/healthz']), found],
    [over('/*'), found],
    [over('/api/*'), []],
    [over('/login'), []],
    [over(['/health*']), []],
    [over('/*', { key: ['user', 'route'] }), []],
    [over('/*', { mode: 'off' }), []],
  ])('%j: %j', (limits, warned) => {
    expect(codes(limits)).toEqual(warned)
  })
})

test.each([
  [{ replicas: 3 }, undefined, true],
  [{ replicas: 3 }, 'memory', true],
  [{ replicas: 3 }, 'redis://cache', false],
  [{ replicas: 3, store: 'redis://cache' }, 'memory', false],
  [{ replicas: 3, store: 'memory' }, 'redis://cache', true],
  [{ replicas: 1 }, 'memory', false],
  [{}, 'memory', false],
])('%j with store %s counts in the memory of several replicas: %s', (context, store, warned) => {
  const rules = readRules({ ...(store !== undefined && { store }), limits: { user } })
  expect(ruleWarnings(rules, context).map(({ code }) => code)).toEqual(warned ? ['memory-with-replicas'] : [])
})

test('every warning says what happens and what to do', () => {
  const limits = { one: { key: 'ip', when: { route: '/*' }, 'fixed-window': '60/1m' } }
  expect(ruleWarnings(readRules({ limits }), { replicas: 2 }).map(({ message }) => message)).toEqual([
    'each of 2 replicas counts by itself in its memory, so up to 2 times every limit passes; use a Redis store',
    "'one' counts by address, and nothing counts by user or API key: a crowd behind one address shares it, and an " +
      'attacker has thousands of them',
    "'one' counts in fixed windows alone: around the end of a window up to twice the limit passes; use a sliding " +
      'window, or a bucket beside it',
    "'one' is one limit over logins and health checks (route /*); give each its own",
  ])
})

describe('files for envoyproxy/ratelimit', () => {
  const rate_limit = { unit: 'minute', requests_per_unit: 5 }
  const warned = (descriptors: unknown[], context = {}) =>
    descriptorWarnings(readDescriptorFiles([{ domain: 'd', descriptors }]), context)

  test('warn once of all their fixed windows', () => {
    const descriptors = ['a', 'b', 'c'].map(key => ({ key, rate_limit }))
    expect(warned(descriptors)).toMatchObject([
      { code: 'lone-fixed-window', message: expect.stringMatching(/^3 rules count, 'd.a' first, in fixed windows/) },
    ])
    expect(warned(descriptors.slice(0, 1))).toMatchObject([{ code: 'lone-fixed-window', limit: 'd.a' }])
  })

  test('do not warn of rules that are smoothed, unlimited or a shadow', () => {
    const smooth = { ...rate_limit, algorithm: 'sliding-log' }
    expect(
      warned([
        { key: 'a', rate_limit: smooth },
        { key: 'b', rate_limits: [rate_limit, smooth] },
        { key: 'c', rate_limit: { unlimited: true } },
        { key: 'e', rate_limit, shadow_mode: true },
      ]),
    ).toEqual([])
  })

  const smooth = { rate_limit: { ...rate_limit, algorithm: 'gcra' } }
  test.each<[unknown[], string[]]>([
    [[{ key: 'remote_address', ...smooth }], ['d.remote_address']],
    [
      [
        { key: 'remote_address', ...smooth },
        { key: 'user', ...smooth },
      ],
      [],
    ],
    [[{ key: 'user', descriptors: [{ key: 'remote_address', ...smooth }] }], []],
    [[{ key: 'g', value: 'x', descriptors: [{ key: 'remote_address', ...smooth }] }], ['d.g_x.remote_address']],
    [[{ key: 'g', value: 'x', ...smooth }], []],
    [
      [
        { key: 'path', value: '/*', ...smooth },
        { key: 'remote_address', ...smooth },
      ],
      [],
    ],
  ])('%j count by nothing but addresses: %j', (descriptors, limits) => {
    expect(warned(descriptors)).toMatchObject(limits.map(limit => ({ code: 'address-only-key', limit })))
  })

  test('warn of replicas, too', () => {
    expect(warned([], { replicas: 2 })).toMatchObject([{ code: 'memory-with-replicas' }])
    expect(warned([], { replicas: 2, store: 'rediss://cache' })).toEqual([])
  })
})

describe('a small sliding window', () => {
  const of = (limit: object) => ({ user, few: { key: 'user', ...limit } })
  const found = [['small-sliding-window', 'few']]
  test.each<[object, unknown[]]>([
    [of({ 'sliding-window': '32/1m' }), found],
    [of({ 'sliding-window': '33/1m' }), []],
    [of({ 'sliding-log': '5/1m' }), []],
    [of({ plans: { by: 'plan', free: { 'sliding-window': '5/1m' }, pro: '600/1m' } }), found],
    [of({ 'sliding-window': '5/1m', mode: 'shadow' }), []],
  ])('%j: %j', (limits, warned) => {
    expect(codes(limits)).toEqual(warned)
  })
})

test('metadata for Envoy is warned of once, however many rules have it', () => {
  const rule = (key: string) => ({ key, metadata: { a: 1 }, rate_limit: { unit: 'hour', requests_per_unit: 100 } })
  const found = (...descriptors: object[]) =>
    descriptorWarnings(readDescriptorFiles([{ domain: 'd', descriptors }])).filter(
      ({ code }) => code === 'metadata-not-sent',
    )
  expect(found({ key: 'user', rate_limit: { unit: 'hour', requests_per_unit: 100 } })).toEqual([])
  expect(found(rule('user'))).toMatchObject([{ limit: 'd.user' }])
  const [warning, ...more] = found({ key: 'path', descriptors: [rule('a')] }, rule('user'))
  expect(warning?.message).toBe(
    "2 rules, 'd.path.a' first, have metadata, which is left aside: Envoy gets no dynamic metadata",
  )
  expect(more).toEqual([])
})
