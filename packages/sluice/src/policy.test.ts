import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ErrorCode, SluiceError } from './errors.ts'
import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  limitOfPolicy,
  type Policy,
  policyOf,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from './policy.ts'
import { MAX_LIMIT } from './policy-options.ts'
import { limitOf } from './testing/oracle/oracle.ts'
import { random, randomPolicy } from './testing/trace.ts'

/** The options as a caller without types would pass them. */
type Options = Record<string, unknown> | null | undefined | string
type Make = (options: never) => unknown
/** What is passed, the code, and a part of the message. */
type Bad = readonly [options: Options, code: ErrorCode, part: string]

function complaint(make: () => unknown): SluiceError {
  try {
    make()
  } catch (error) {
    if (error instanceof SluiceError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const badLimits = (name: string, rest: Record<string, unknown>): Bad[] =>
  [-1, 1.5, NaN, Infinity, '100', undefined, null, 10n, MAX_LIMIT + 1, []].map(limit => [
    { ...rest, [name]: limit },
    'SLUICE_BAD_LIMIT',
    `${name} as a whole number from 0 to 2^48, got `,
  ])

const badRates = (name: string, rest: Record<string, unknown>): Bad[] => [
  ...[undefined, null, 10, '10', 'fast', '10/', '/s', '-1/s', '1.5/s', '1000001/s', '1/367d', {}, { count: 1 }].map(
    (rate): Bad => [{ ...rest, [name]: rate }, 'SLUICE_BAD_RATE', `${name} to be a rate from '1/366d' to '1000000/s'`],
  ),
  [{ ...rest, [name]: { count: 0, periodMs: 1000 } }, 'SLUICE_BAD_RATE', 'a rate of 0 never refills'],
  [{ ...rest, [name]: '0/s' }, 'SLUICE_BAD_RATE', 'a rate of 0 never refills'],
]

const badDurations = (name: string, code: ErrorCode, rest: Record<string, unknown>): Bad[] =>
  [undefined, null, 0, -1, 0.5, 1.0005, NaN, Infinity, '0s', '367d', '10', 'soon', '1w', 366 * 86_400_000 + 1].map(
    window => [{ ...rest, [name]: window }, code, `${name} to be a duration from 1ms to 366d`],
  )

const noOptions = (names: string): Bad[] => [
  [undefined, 'SLUICE_BAD_OPTION', `as { ${names} }, got undefined`],
  [null, 'SLUICE_BAD_OPTION', 'got null'],
  ['100/m', 'SLUICE_BAD_OPTION', "got '100/m'"],
  [{ other: 1 }, 'SLUICE_BAD_OPTION', `got 'other'; known are ${names}`],
]

const bucket = (size: string, rate: string): Bad[] => [
  ...noOptions(size === 'burst' ? `${rate}, ${size}` : `${size}, ${rate}`),
  ...badLimits(size, { [rate]: '10/s' }),
  ...badRates(rate, { [size]: 10 }),
  [{ [size]: 2 ** 40, [rate]: '1/d' }, 'SLUICE_BAD_LIMIT', `${size} that refills within 17 years at its rate, got`],
]

const BAD: readonly (readonly [name: string, make: Make, rows: readonly Bad[]])[] = [
  ['tokenBucket', tokenBucket, bucket('capacity', 'refill')],
  ['leakyBucket', leakyBucket, bucket('capacity', 'leak')],
  ['gcra', gcra, bucket('burst', 'rate')],
  [
    'fixedWindow',
    fixedWindow,
    [
      ...noOptions('limit, window, align, timeZone'),
      ...badLimits('limit', { window: '1m' }),
      ...badDurations('window', 'SLUICE_BAD_WINDOW', { limit: 1 }),
      ...['hour', '', null, 1, {}].map(
        (align): Bad => [{ limit: 1, window: '1m', align }, 'SLUICE_BAD_ALIGN', "align 'epoch', 'key', 'first', 'day'"],
      ),
      ...['day', 'week', 'month'].map(
        (align): Bad => [{ limit: 1, window: '1d', align }, 'SLUICE_BAD_WINDOW', `no window beside align '${align}'`],
      ),
      [{ limit: 1, window: '1d', timeZone: 'UTC' }, 'SLUICE_BAD_TIME_ZONE', "no timeZone beside align 'epoch'"],
      [{ limit: 1, window: '1d', align: 'key', timeZone: 'UTC' }, 'SLUICE_BAD_TIME_ZONE', "beside align 'key'"],
      [{ limit: 1, align: 'day', timeZone: 'Mars/Olympus' }, 'SLUICE_BAD_TIME_ZONE', 'Mars/Olympus'],
      [{ limit: 1, align: 'day', timeZone: 5 }, 'SLUICE_BAD_TIME_ZONE', 'got 5'],
    ],
  ],
  [
    'slidingWindow',
    slidingWindow,
    [
      ...noOptions('limit, window, buckets'),
      ...badLimits('limit', { window: '1m' }),
      ...badDurations('window', 'SLUICE_BAD_WINDOW', { limit: 1 }),
      ...[0, -1, 1.5, 257, NaN, '4', null].map(
        (buckets): Bad => [{ limit: 1, window: '1m', buckets }, 'SLUICE_BAD_BUCKETS', 'buckets from 1 to 256, got '],
      ),
      [{ limit: 1, window: '1ms', buckets: 3 }, 'SLUICE_BAD_BUCKETS', 'a window of 1 ms does not split into 3'],
    ],
  ],
  [
    'slidingLog',
    slidingLog,
    [
      ...noOptions('limit, window'),
      ...badLimits('limit', { window: '1m' }),
      ...badDurations('window', 'SLUICE_BAD_WINDOW', { limit: 1 }),
      [
        { limit: 2 ** 16 + 1, window: '1m' },
        'SLUICE_BAD_LIMIT',
        'a slidingLog limit up to 65536, got 65537; it keeps one time for each unit of cost: use slidingWindow with buckets, or tokenBucket',
      ],
    ],
  ],
  [
    'concurrency',
    concurrency,
    [
      ...noOptions('limit, ttl'),
      ...badLimits('limit', { ttl: '1m' }),
      ...badDurations('ttl', 'SLUICE_BAD_TTL', { limit: 1 }),
    ],
  ],
]

describe.each(BAD)('%s', (_, make, rows) => {
  test.each(rows)('%o is %s: %s', (options, code, part) => {
    const error = complaint(() => make(options as never))
    expect(error.message).toContain(part)
    expect(error.code).toBe(code)
  })
})

describe('what stands where a policy is expected', () => {
  test.each<[value: unknown, code: ErrorCode, part: string]>([
    [undefined, 'SLUICE_BAD_POLICY', 'got undefined'],
    [null, 'SLUICE_BAD_POLICY', 'got null'],
    [100, 'SLUICE_BAD_POLICY', 'got 100'],
    [{}, 'SLUICE_BAD_POLICY', "or '100/m', got an object with no properties"],
    [{ kind: 'bucket' }, 'SLUICE_BAD_POLICY', "a policy of a known kind, got 'bucket'"],
    [{ kind: '__proto__' }, 'SLUICE_BAD_POLICY', "a policy of a known kind, got '__proto__'"],
    [{ kind: 'tokenBucket' }, 'SLUICE_BAD_RATE', 'tokenBucket refill'],
    [{ kind: 'gcra', rate: '1/s' }, 'SLUICE_BAD_LIMIT', 'gcra burst'],
    [{ kind: 'fixedWindow', limit: 1, windowMs: 0, align: 'epoch' }, 'SLUICE_BAD_WINDOW', 'fixedWindow window'],
    [{ kind: 'fixedWindow', limit: 1, windowMs: 1, align: 'noon' }, 'SLUICE_BAD_ALIGN', "got 'noon'"],
    [{ kind: 'slidingWindow', limit: 1, windowMs: 1, buckets: 7 }, 'SLUICE_BAD_BUCKETS', 'got 7'],
    ['', 'SLUICE_BAD_RATE', 'policy to be a rate'],
    ['100', 'SLUICE_BAD_RATE', "write '100/s'"],
    ['0/s', 'SLUICE_BAD_RATE', 'set the limit or capacity to 0'],
  ])('%o is %s: %s', (value, code, part) => {
    const error = complaint(() => policyOf(value as Policy))
    expect(error.message).toContain(part)
    expect(error.code).toBe(code)
  })

  test('may be a rate: short for an exact log of few, and for a sliding window of many', () => {
    expect(policyOf('32/15m')).toEqual(slidingLog({ limit: 32, window: '15m' }))
    expect(policyOf('33/15m')).toEqual(slidingWindow({ limit: 33, window: '15m' }))
  })
})

describe('a policy', () => {
  test.each([
    [tokenBucket({ capacity: 100, refill: '10/s' }), { capacity: 100, refill: { count: 10, periodMs: 1000 } }],
    [leakyBucket({ capacity: 0, leak: '1/d' }), { capacity: 0, leak: { count: 1, periodMs: 86_400_000 } }],
    [gcra({ rate: '1000000/s', burst: 1 }), { burst: 1, rate: { count: 1_000_000, periodMs: 1000 } }],
    [fixedWindow({ limit: 5, window: '1h' }), { limit: 5, windowMs: 3_600_000, align: 'epoch' }],
    [fixedWindow({ limit: 5, align: 'month' }), { limit: 5, windowMs: 0, align: 'month', timeZone: 'UTC' }],
    [slidingWindow({ limit: MAX_LIMIT, window: '1ms' }), { limit: MAX_LIMIT, windowMs: 1, buckets: 1 }],
    [slidingLog({ limit: 2 ** 16, window: '366d' }), { limit: 2 ** 16, windowMs: 366 * 86_400_000 }],
    [concurrency({ limit: 3, ttl: '30s' }), { limit: 3, ttlMs: 30_000 }],
  ])('is plain data: %o', (policy, fields) => {
    expect(policy).toEqual({ kind: policy.kind, ...fields })
  })

  const anyPolicy = fc.integer().map(seed => randomPolicy(random(seed)))

  test('of any kind and size is accepted, frozen to the bottom, and states its limit', () => {
    const accepted = fc.property(anyPolicy, plain => {
      const policy = policyOf(plain)
      expect(policy).toEqual(plain)
      for (const part of [policy, ...Object.values(policy)]) expect(Object.isFrozen(part)).toBe(true)
      expect(limitOfPolicy(policy)).toBe(limitOf(plain))
    })
    fc.assert(accepted, { numRuns: 500 })
  })

  test('goes through JSON and comes back the same', () => {
    const same = fc.property(anyPolicy, plain => {
      const policy = policyOf(plain)
      expect(policyOf(JSON.parse(JSON.stringify(policy)))).toEqual(policy)
    })
    fc.assert(same, { numRuns: 300 })
  })
})
