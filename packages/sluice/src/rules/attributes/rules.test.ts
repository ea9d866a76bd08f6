import { describe, expect, test } from 'vitest'
import { mistakesOf } from '../../fixtures/rules/mistakes-of.ts'
import { gcra, slidingWindow, tokenBucket } from '../../index.ts'
import { RulesError } from '../mistakes.ts'
import { readRules } from './rules.ts'

const RANGE = "from 1ms to 366d (such as '250ms', '10s', '15m', '1h', '30d')"

const IP = { key: 'ip', 'sliding-window': '60/1m' }
/** A file of one limit. */
const one = (limit: unknown) => ({ limits: { one: limit } })

test('a file says what it says', () => {
  const rules = readRules({
    store: 'redis://cache:6379',
    name: 'api',
    prefix: 'shop',
    trusted_proxies: ['10.0.0.0/8', 'loopback'],
    limits: {
      'per-ip': IP,
      'per-user': { key: 'user', 'token-bucket': { capacity: 100, refill: '10/s' }, on_outage: 'closed' },
      search: {
        key: ['user', 'route'],
        when: { route: '/search', method: ['GET', 'HEAD'] },
        gcra: { rate: '5/s', burst: 10 },
        mode: 'shadow',
        replaces: 'per-user',
        cost: 'tokens',
        block_for: { first: '1m', max: '1h' },
        quiet: true,
      },
    },
  })
  const { limits, ...top } = rules
  expect(top).toEqual({
    store: 'redis://cache:6379',
    allow: [],
    deny: [],
    name: 'api',
    prefix: 'shop',
    trustedProxies: ['10.0.0.0/8', 'loopback'],
    attributes: [],
  })
  expect(limits).toMatchObject([
    { name: 'per-ip', key: ['ip'], when: [], policy: slidingWindow({ limit: 60, window: '1m' }), mode: 'enforce' },
    { name: 'per-user', policy: tokenBucket({ capacity: 100, refill: '10/s' }), onOutage: 'closed' },
    {
      name: 'search',
      key: ['user', 'route'],
      when: [
        { attribute: 'route', values: ['/search'] },
        { attribute: 'method', values: ['GET', 'HEAD'] },
      ],
      policy: gcra({ rate: '5/s', burst: 10 }),
      mode: 'shadow',
      replaces: 'per-user',
      cost: 'tokens',
      blockFor: { first: '1m', max: '1h' },
      quiet: true,
    },
  ])
})

describe('every way to write a policy', () => {
  test.each([
    [{ 'sliding-window': { limit: 9, window: '1h', buckets: 6 } }, { kind: 'slidingWindow', buckets: 6 }],
    [{ 'token-bucket': { capacity: 9, refill: '1/s' } }, { kind: 'tokenBucket', capacity: 9 }],
    [{ 'leaky-bucket': { capacity: 9, leak: '1/s' } }, { kind: 'leakyBucket', capacity: 9 }],
    [{ gcra: { rate: '1/s', burst: 9 } }, { kind: 'gcra', burst: 9 }],
    [{ 'fixed-window': '9/1h' }, { kind: 'fixedWindow', limit: 9, windowMs: 3_600_000, align: 'epoch' }],
    [{ 'fixed-window': { limit: 9, window: '1h', align: 'key' } }, { kind: 'fixedWindow', align: 'key' }],
    [
      { 'fixed-window': { limit: 9, align: 'day', time_zone: 'Europe/Berlin' } },
      { kind: 'fixedWindow', align: 'day', timeZone: 'Europe/Berlin' },
    ],
    [{ 'sliding-log': '9/1h' }, { kind: 'slidingLog', limit: 9 }],
    [{ 'sliding-log': { limit: 9, window: '1h' } }, { kind: 'slidingLog', limit: 9 }],
    [{ concurrency: { limit: 9, ttl: '30s' } }, { kind: 'concurrency', ttlMs: 30_000 }],
  ])('%j', (policy, made) => {
    expect(readRules(one(policy)).limits[0]!.policy).toMatchObject(made)
  })
})

describe('plans', () => {
  const read = (plans: unknown) => readRules(one({ plans })).limits[0]!.policy

  test('are rates for a sliding window, or name their algorithm', () => {
    expect(read({ by: 'plan', free: '60/1m', pro: { gcra: { rate: '5/s', burst: 10 } } })).toMatchObject({
      by: 'plan',
      policies: new Map<string, unknown>([
        ['free', slidingWindow({ limit: 60, window: '1m' })],
        ['pro', gcra({ rate: '5/s', burst: 10 })],
      ]),
    })
  })

  test.each([
    [{ big: '1000/1m', small: '60/1m' }, { limit: 60 }],
    [{ day: '1000/1d', minute: '60/1m' }, { limit: 1000 }],
    [{ wide: { gcra: { rate: '1/s', burst: 50 } }, narrow: { gcra: { rate: '1/s', burst: 5 } } }, { burst: 5 }],
    [
      { daily: { 'fixed-window': { limit: 100, align: 'day' } }, monthly: { 'fixed-window': '1000/30d' } },
      { limit: 1000 },
    ],
    [{ some: '1/1d', none: { 'sliding-window': { limit: 0, window: '1s' } } }, { limit: 0 }],
    [{ some: '1/1d', none: { 'token-bucket': { capacity: 0, refill: '9/s' } } }, { capacity: 0 }],
    [{ two: { concurrency: { limit: 2, ttl: '1m' } }, nine: { concurrency: { limit: 9, ttl: '1m' } } }, { limit: 2 }],
  ])('%j: the strictest has %j', (plans, strictest) => {
    expect(read({ by: 'plan', ...plans })).toMatchObject({ strictest })
  })
})

describe('what is wrong is told, all of it', () => {
  test.each<[unknown, string[]]>([
    [null, ['the file: expected a rules file as a map, got null']],
    [[], ['the file: expected a rules file as a map, got an array of 0']],
    [{}, ['limits: expected a map of named limits, got undefined']],
    [{ limits: {} }, ['limits: expected at least one limit, got an object with no properties']],
    [{ limits: { '': IP } }, ["limits: expected a limit with a name, got ''"]],
    [{ limit: {}, limits: { ip: IP } }, ["the file: expected a known name, got 'limit'; write limits"]],
    [
      { domain: 'edge', descriptors: [] },
      [
        'the file: expected a rules file with limits, got an object with domain, descriptors; this one is for ' +
          'envoyproxy/ratelimit: load it as such',
      ],
    ],
    [
      { name: 7, prefix: '', trusted_proxies: [7, ''], limits: { ip: IP } },
      [
        "name: expected a name, got 7; put it in quotes: '7'",
        "prefix: expected a prefix, got ''",
        "trusted_proxies[0]: expected an address range such as '10.0.0.0/8', got 7; put it in quotes: '7'",
        "trusted_proxies[1]: expected an address range such as '10.0.0.0/8', got ''",
      ],
    ],
    [
      { trusted_proxies: true, limits: { ip: IP } },
      ['trusted_proxies: expected a list of address ranges, or how many proxies there are, got true'],
    ],
    [one(7), ['limits.one: expected a limit as a map, got 7']],
    [
      { limits: { a: { key: 'ip' }, b: { ...IP, rate: 7 } } },
      [
        'limits.a: expected a limit with one of sliding-window, token-bucket, leaky-bucket, gcra, fixed-window, ' +
          'sliding-log, concurrency, plans, got an object with key',
        'limits.b: expected one of key, when, cost, mode, replaces, on_outage, block_for, quiet, plans, ' +
          "sliding-window, token-bucket, leaky-bucket, gcra, fixed-window, sliding-log, concurrency, got 'rate'",
      ],
    ],
    [
      one({ key: 'ip', 'sliding-windw': '60/1m' }),
      ["limits.one: expected a known name, got 'sliding-windw'; write sliding-window"],
    ],
    [one({ ...IP, onOutage: 'open' }), ["limits.one: expected a known name, got 'onOutage'; write on_outage"]],
    [
      one({ ...IP, gcra: { rate: '1/s', burst: 1 } }),
      ["limits.one: expected one policy beside sliding-window, got 'gcra'; make a second limit: both will apply"],
    ],
    [
      one({ ...IP, key: ['ip', 7, 'ip'], when: {}, cost: 0, mode: false, on_outage: 'half', quiet: 'yes' }),
      [
        "limits.one.key[1]: expected an attribute, or a list of them, got 7; put it in quotes: '7'",
        'limits.one.key: expected each attribute once, got an array of 3',
        'limits.one.when: expected at least one attribute, got an object with no properties',
        'limits.one.cost: expected a whole number, 1 or more, or the attribute that says it, got 0; to count ' +
          'nothing, set mode: off',
        "limits.one.mode: expected one of 'enforce', 'shadow', 'off', got false; YAML of old reads off as false: write 'off'",
        "limits.one.on_outage: expected one of 'local', 'open', 'closed', got 'half'",
        "limits.one.quiet: expected true or false, got 'yes'",
      ],
    ],
    [
      one({ ...IP, when: { route: [], method: [null], '': 'x' } }),
      [
        'limits.one.when.route: expected text, a number, or a list of them, got an array of 0',
        'limits.one.when.method[0]: expected text, a number, or a list of them, got null',
        "limits.one.when: expected the name of an attribute, got ''",
      ],
    ],
    [
      { limits: { a: { ...IP, replaces: 'a' }, b: { ...IP, replaces: 'c' }, d: { ...IP, replaces: '' } } },
      [
        "limits.d.replaces: expected the name of another limit, got ''",
        "limits.a.replaces: expected the name of another limit, got 'a'",
        "limits.b.replaces: expected the name of another limit, got 'c'",
      ],
    ],
    [
      one({ 'token-bucket': { capacity: 'big', refill: '10 per second', size: 7 } }),
      [
        "limits.one.token-bucket: expected one of capacity, refill, got 'size'",
        "limits.one.token-bucket.capacity: expected a capacity as a whole number from 0 to 2^48, got 'big'",
        "limits.one.token-bucket.refill: expected refill to be a rate from '1/366d' to '1000000/s' (text such as " +
          "'10/s', '5000/h', '100/15m'), got '10 per second'",
      ],
    ],
    [
      one({ 'sliding-window': { limit: 60, window: 60 } }),
      [
        `limits.one.sliding-window.window: expected window to be a duration ${RANGE}, got 60; write '60s' for seconds or '60ms' for milliseconds`,
      ],
    ],
    [
      one({ 'sliding-window': 60 }),
      ["limits.one.sliding-window: expected a rate such as '60/1m' or a map of limit, window, buckets, got 60"],
    ],
    [
      one({ 'fixed-window': { limit: 9, window: '1d', align: 'day' } }),
      ["limits.one.fixed-window: expected no window beside align 'day', got '1d'; the calendar gives the length"],
    ],
    [one({ gcra: '5/s' }), ["limits.one.gcra: expected a map of rate, burst, got '5/s'"]],
    [
      one({ concurrency: { limit: 4 } }),
      [
        'limits.one.concurrency.ttl: expected ttl to be a duration from 1ms to 366d (such as ' +
          "'250ms', '10s', '15m', '1h', '30d'), got undefined",
      ],
    ],
    [
      one({ plans: { free: '60/1m' } }),
      ['limits.one.plans.by: expected the attribute that names the plan, got undefined'],
    ],
    [one({ plans: { by: 'plan' } }), ['limits.one.plans: expected at least one plan beside by, got an object with by']],
    [
      one({ plans: { by: 'plan', free: 7, pro: { gcra: 1, concurrency: 2 }, max: { rate: 1 } } }),
      [
        "limits.one.plans.free: expected a rate such as '60/1m' or a map of one algorithm, got 7",
        'limits.one.plans.pro: expected one algorithm, got an object with gcra, concurrency',
        'limits.one.plans.max: expected one of sliding-window, token-bucket, leaky-bucket, gcra, fixed-window, ' +
          "sliding-log, concurrency, got 'rate'",
      ],
    ],
    [
      one({ plans: { by: 'plan', free: '1/s', pro: { concurrency: { limit: 4, ttl: '1m' } } } }),
      [
        'limits.one.plans: expected plans that all count rates, or all count what is under way, got an object with ' +
          'by, free, pro; otherwise none is the strictest',
      ],
    ],
    [
      one({ ...IP, block_for: 15 }),
      [
        `limits.one.block_for: expected limit 'one' blockFor to be a duration ${RANGE}, got 15; write '15s' for seconds or '15ms' for milliseconds`,
      ],
    ],
    [
      one({ ...IP, block_for: { first: '1h', max: '1m' } }),
      ["limits.one.block_for: expected limit 'one' blockFor.max of at least blockFor.first, got '1m'"],
    ],
  ])('%j', (file, messages) => {
    expect(mistakesOf(() => readRules(file))).toEqual(messages)
  })

  test('in one error, with a code and a place for each', () => {
    const file = one({ 'sliding-window': { limit: -1, window: 'x' }, moed: 'off' })
    const error = (() => {
      try {
        return readRules(file)
      } catch (thrown) {
        return thrown
      }
    })() as RulesError
    expect(error).toBeInstanceOf(RulesError)
    expect(error).toMatchObject({ name: 'RulesError', code: 'SLUICE_BAD_RULES' })
    expect(error.mistakes.map(({ path, inName, code }) => [path.join('.'), inName, code])).toEqual([
      ['limits.one.moed', true, 'SLUICE_BAD_OPTION'],
      ['limits.one.sliding-window.limit', false, 'SLUICE_BAD_LIMIT'],
      ['limits.one.sliding-window.window', false, 'SLUICE_BAD_WINDOW'],
    ])
    expect(error.message.split('\n')).toHaveLength(3)
  })

  test.each([
    ['redis:/:hunter2@cache', "got 'redis:…'"],
    ['hunter2', "got '…'"],
    ['http://me:hunter2@x', "got 'http:…'"],
  ])('a store that is none is not shown, as it may hold a password: %s', (store, shown) => {
    const [message] = mistakesOf(() => readRules({ store, limits: { ip: IP } }))
    expect(message).toBe(`store: expected memory, redis://…, rediss://… or redis-cluster://…, ${shown}`)
  })
})

test('names that every object has are names like any other', () => {
  const names = ['__proto__', 'constructor', 'toString']
  const file = JSON.parse(`{"limits":{${names.map(name => `"${name}":{"gcra":{"rate":"1/s","burst":1}}`).join()}}}`)
  expect(readRules(file).limits.map(({ name }) => name)).toEqual(names)
})
