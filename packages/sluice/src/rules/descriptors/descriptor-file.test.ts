import { describe, expect, test } from 'vitest'
import { mistakesOf } from '../../fixtures/rules/mistakes-of.ts'
import { fixedWindow, gcra, leakyBucket, slidingLog, slidingWindow, tokenBucket } from '../../index.ts'
import { readDescriptorFiles } from './descriptor-file.ts'
import { rulesOf } from './tree.ts'

const RANGE = "from 1ms to 366d (such as '250ms', '10s', '15m', '1h', '30d')"

const MINUTE = { unit: 'minute', requests_per_unit: 20 }
const file = (descriptor: unknown) => ({ domain: 'edge', descriptors: [descriptor] })
const limited = (rate_limit: unknown) => file({ key: 'k', rate_limit })
const limitOf = (rate_limit: unknown) => {
  const [rule] = rulesOf(readDescriptorFiles([limited(rate_limit)]).get('edge')!)
  return rule!.limits[0]!
}

test.each([
  ['second', 1000, 1],
  ['MINUTE', 60_000, 2],
  ['Hour', 3_600_000, 3],
  ['day', 86_400_000, 4],
  ['week', 604_800_000, 7],
  ['month', 2_592_000_000, 5],
  ['year', 31_536_000_000, 6],
])('unit %s is a window of %d ms from the epoch on', (unit, window, number) => {
  expect(limitOf({ unit, requests_per_unit: 9, name: 'n' })).toEqual({
    policy: fixedWindow({ limit: 9, window: `${window}ms` }),
    current: { requestsPerUnit: 9, unit: number, name: 'n' },
    name: 'n',
    replaces: [],
    onOutage: 'local',
  })
})

describe('what envoyproxy/ratelimit does not have', () => {
  const rate = { count: 20, periodMs: 60_000 }
  test.each([
    [{ algorithm: 'sliding-window' }, slidingWindow({ limit: 20, window: '1m' })],
    [{ algorithm: 'sliding-log' }, slidingLog({ limit: 20, window: '1m' })],
    [{ algorithm: 'token-bucket' }, tokenBucket({ capacity: 20, refill: rate })],
    [{ algorithm: 'token-bucket', burst: 5 }, tokenBucket({ capacity: 5, refill: rate })],
    [{ algorithm: 'leaky-bucket', burst: 5 }, leakyBucket({ capacity: 5, leak: rate })],
    [{ algorithm: 'gcra', burst: 5 }, gcra({ rate, burst: 5 })],
  ])('%j', (more, policy) => {
    expect(limitOf({ ...MINUTE, ...more })).toMatchObject({ policy, current: { requestsPerUnit: 20, unit: 2 } })
  })

  test.each([
    ['30s', 0],
    ['60s', 2],
    ['7d', 7],
  ])('a period of %s is told as unit %d', (period, unit) => {
    expect(limitOf({ period, requests_per_unit: 9 })).toMatchObject({
      policy: fixedWindow({ limit: 9, window: period as '30s' }),
      current: { requestsPerUnit: 9, unit },
    })
  })

  test('a time zone makes a unit a day, week or month of the calendar there', () => {
    expect(limitOf({ unit: 'DAY', requests_per_unit: 9, time_zone: 'Europe/Berlin' })).toMatchObject({
      policy: fixedWindow({ limit: 9, align: 'day', timeZone: 'Europe/Berlin' }),
      current: { requestsPerUnit: 9, unit: 4 },
    })
  })

  test('several limits on one descriptor, each with its own on_outage', () => {
    const descriptor = { key: 'k', rate_limits: [MINUTE, { ...MINUTE, unit: 'day', on_outage: 'closed' }] }
    const [rule] = rulesOf(readDescriptorFiles([file(descriptor)]).get('edge')!)
    expect(rule!.limits).toMatchObject([
      { policy: { windowMs: 60_000 }, onOutage: 'local' },
      { policy: { windowMs: 86_400_000 }, onOutage: 'closed' },
    ])
  })
})

test('rules are known by their composite keys', () => {
  const descriptors = [
    { key: 'key1', value: 'value1', descriptors: [{ key: 'subkey1' }, { key: 'subkey1', value: 'a*' }] },
    { key: 'status', value: 404, metadata: { anything: [{ goes: 'here' }] } },
    { key: 'empty', value: null, descriptors: null },
  ]
  const level = readDescriptorFiles([{ domain: 'edge', descriptors }]).get('edge')!
  expect([...rulesOf(level)].map(({ name }) => name).sort()).toEqual([
    'edge.empty',
    'edge.key1_value1',
    'edge.key1_value1.subkey1',
    'edge.key1_value1.subkey1_a*',
    'edge.status_404',
  ])
})

test('a file may have no rules yet, and files may be none', () => {
  expect([...readDescriptorFiles([{ domain: 'edge', descriptors: [] }, { domain: 'other' }]).keys()]).toEqual([
    'edge',
    'other',
  ])
  expect(readDescriptorFiles([]).size).toBe(0)
})

describe('what is wrong is told, all of it', () => {
  test.each<[unknown, string[]]>([
    [null, ['the file: expected a file with domain and descriptors, got null']],
    [{ domain: '', descriptors: [] }, ["domain: expected a domain that is not empty, got ''"]],
    [{ descriptors: [] }, ['domain: expected a domain that is not empty, got undefined']],
    [{ domain: 'a', limits: {} }, ["the file: expected one of domain, descriptors, got 'limits'"]],
    [
      { domain: 'a', descriptors: {} },
      ['descriptors: expected a list of descriptors, got an object with no properties'],
    ],
    [{ domain: 'a', descriptors: ['k'] }, ["descriptors[0]: expected a descriptor as a map, got 'k'"]],
    [file({ value: 'x' }), ['descriptors[0].key: expected a key that is not empty, got undefined']],
    [file({ key: '' }), ["descriptors[0].key: expected a key that is not empty, got ''"]],
    [
      file({ key: 'k', value: {}, shadow_mode: 'yes', metadata: 7, ratelimit: {} }),
      [
        "descriptors[0]: expected a known name, got 'ratelimit'; write rate_limit",
        'descriptors[0].value: expected a value as text, got an object with no properties',
        'descriptors[0].metadata: expected a map, got 7',
        "descriptors[0].shadow_mode: expected true or false, got 'yes'",
      ],
    ],
    [
      { domain: 'edge', descriptors: [{ key: 'a' }, { key: 'a' }, { key: 'b', value: 'x' }, { key: 'b', value: 'x' }] },
      [
        "descriptors[1].key: expected a composite key once (duplicate composite key), got 'edge.a'",
        "descriptors[3].value: expected a composite key once (duplicate composite key), got 'edge.b_x'",
      ],
    ],
    [
      file({
        key: 'k',
        descriptors: [
          { key: 'w', value: 'a*' },
          { key: 'w', value: 'a*' },
        ],
      }),
      [
        "descriptors[0].descriptors[1].value: expected a composite key once (duplicate composite key), got 'edge.k.w_a*'",
      ],
    ],
    [
      file({ key: 'k', value: 'plain', share_threshold: true }),
      ["descriptors[0]: expected share_threshold only beside a value with a wildcard *, got 'share_threshold'"],
    ],
    [limited(null), ['descriptors[0].rate_limit: expected a rate limit as a map, got null']],
    [
      limited({ unit: 'fortnight', requests_per_unit: -1 }),
      [
        'descriptors[0].rate_limit.requests_per_unit: expected requests_per_unit as a whole number from 0 to ' +
          '4294967295, got -1',
        'descriptors[0].rate_limit.unit: expected a rate limit unit: second, minute, hour, day, month, year, week, ' +
          "got 'fortnight'",
      ],
    ],
    [
      limited({}),
      [
        'descriptors[0].rate_limit.requests_per_unit: expected requests_per_unit as a whole number from 0 to ' +
          '4294967295, got undefined',
        'descriptors[0].rate_limit.unit: expected a rate limit unit: second, minute, hour, day, month, year, week, ' +
          'got undefined',
      ],
    ],
    [
      limited({ unlimited: true, unit: 'second' }),
      ["descriptors[0].rate_limit: expected no such thing beside unlimited: true, got 'unit'"],
    ],
    [
      limited({ ...MINUTE, name: 'a', replaces: [{ name: 'a' }, { name: '' }, {}, 'b', { nme: 'b' }] }),
      [
        "descriptors[0].rate_limit.replaces[0].name: expected the name of another rule, got 'a'",
        "descriptors[0].rate_limit.replaces[1].name: expected the name of a rule, got ''",
        'descriptors[0].rate_limit.replaces[2].name: expected the name of a rule, got undefined',
        "descriptors[0].rate_limit.replaces[3]: expected a list of { name }, got 'b'",
        "descriptors[0].rate_limit.replaces[4]: expected a known name, got 'nme'; write name",
        'descriptors[0].rate_limit.replaces[4].name: expected the name of a rule, got undefined',
      ],
    ],
    [
      limited({ ...MINUTE, period: '30s', algorithm: 'leaky', on_outage: 'no' }),
      [
        "descriptors[0].rate_limit.on_outage: expected one of 'local', 'open', 'closed', got 'no'",
        "descriptors[0].rate_limit: expected a period or a unit, not both, got 'period'",
        "descriptors[0].rate_limit.algorithm: expected one of 'fixed-window', 'sliding-window', 'sliding-log', " +
          "'token-bucket', 'leaky-bucket', 'gcra', got 'leaky'",
      ],
    ],
    [
      limited({ period: 30, requests_per_unit: 1 }),
      [
        `descriptors[0].rate_limit.period: expected period to be a duration ${RANGE}, got 30; write '30s' for seconds or '30ms' for milliseconds`,
      ],
    ],
    [
      limited({ ...MINUTE, burst: 5 }),
      [
        "descriptors[0].rate_limit: expected no burst beside algorithm fixed-window, got 'burst'; choose one of " +
          'token-bucket, leaky-bucket, gcra',
      ],
    ],
    [
      limited({ ...MINUTE, time_zone: 'Europe/Berlin' }),
      [
        'descriptors[0].rate_limit: expected a time_zone only beside unit day, week, month and the algorithm ' +
          "fixed-window, got 'time_zone'",
      ],
    ],
    [
      limited({ unit: 'day', requests_per_unit: 1, time_zone: 'Europe/Berln' }),
      ["descriptors[0].rate_limit.time_zone: expected an IANA time zone such as 'Europe/Berlin', got 'Europe/Berln'"],
    ],
    [
      file({ key: 'k', rate_limit: MINUTE, rate_limits: [MINUTE] }),
      ["descriptors[0]: expected rate_limit or rate_limits, not both, got 'rate_limits'"],
    ],
  ])('%j', (one, messages) => {
    expect(mistakesOf(() => readDescriptorFiles([one]))).toEqual(messages)
  })

  test('of every file, and of one domain in two of them', () => {
    const read = () => readDescriptorFiles([file({ key: 'k' }), limited({}), file({ key: 'j' })])
    try {
      read()
    } catch (error) {
      expect(error).toMatchObject({
        mistakes: [
          { file: 1, path: ['descriptors', 0, 'rate_limit', 'requests_per_unit'] },
          { file: 1, path: ['descriptors', 0, 'rate_limit', 'unit'] },
          { file: 1, message: "domain: expected a domain of its own (duplicate domain), got 'edge'" },
          { file: 2, message: "domain: expected a domain of its own (duplicate domain), got 'edge'" },
        ],
      })
    }
    expect(read).toThrow()
  })

  test('of a file that holds itself too', () => {
    const descriptor: Record<string, unknown> = { key: 'k' }
    descriptor.descriptors = [descriptor]
    const [message] = mistakesOf(() => readDescriptorFiles([file(descriptor)]))
    expect(message).toMatch(/expected at most 64 levels of descriptors/)
  })
})
