import { expect, test } from 'vitest'
import { AT, fieldsOf, listOf, refused, shown } from '../../../fixtures/headers/read-back.ts'
import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../../policy.ts'
import { type DescribeOptions, type Description, describe, type Shown } from './description.ts'
import { writeDraft11 } from './draft-11.ts'

function written(descriptions: readonly Description[], states: readonly Shown[], partitions?: readonly string[]) {
  const out: string[] = []
  writeDraft11(descriptions, states, AT, out, partitions)
  return fieldsOf(out)
}

/** Both items of one limit, read back. */
function read(policy: Policy, state: Shown, options: DescribeOptions = {}, name = 'a') {
  const fields = written([describe(name, policy, options)], [state])
  return [...listOf(fields['RateLimit-Policy']), ...listOf(fields.RateLimit)]
}

test('the fields are written as the draft writes them', () => {
  const burst = describe('burst', fixedWindow({ limit: 100, window: '1m' }))
  const daily = describe('daily', fixedWindow({ limit: 1000, window: '1d' }))
  const states = [
    shown({ remaining: 99, resetAfterMs: 57_001 }),
    shown({ limit: 1000, remaining: 512, resetAfterMs: 4e7 }),
  ]
  expect(written([burst, daily], states)).toEqual({
    RateLimit: '"burst";r=99;t=58, "daily";r=512;t=40000',
    'RateLimit-Policy': '"burst";q=100;w=60, "daily";q=1000;w=86400',
  })
})

type Row = readonly [what: string, Policy, Shown, policy: Record<string, unknown>, limit: Record<string, unknown>]
const bucket = tokenBucket({ capacity: 100, refill: '10/s' })
const quick = slidingWindow({ limit: 100, window: '250ms' })
const month = fixedWindow({ limit: 100, align: 'month' })
const slots = concurrency({ limit: 10, ttl: '30s' })

const rows: readonly Row[] = [
  ['a token bucket', bucket, shown({ remaining: 93, resetAfterMs: 700 }), { q: 100, w: 10 }, { r: 93, t: 1 }],
  ['an empty token bucket', bucket, shown({ remaining: 0, resetAfterMs: 10_000 }), { q: 100, w: 10 }, { r: 0, t: 1 }],
  ['a refused token bucket', bucket, refused(3500), { q: 100, w: 10 }, { r: 0, t: 4 }],
  ['a cost too high', bucket, refused(Infinity, { remaining: 40 }), { q: 100, w: 10 }, { r: 40 }],
  [
    'a leaky bucket',
    leakyBucket({ capacity: 6, leak: '2/m' }),
    shown({ limit: 6, remaining: 4, resetAfterMs: 50_000 }),
    { q: 6, w: 180 },
    { r: 4, t: 20 },
  ],
  [
    'a GCRA',
    gcra({ burst: 20, rate: '5/s' }),
    shown({ limit: 20, remaining: 7, resetAfterMs: 2600 }),
    { q: 20, w: 4 },
    { r: 7, t: 1 },
  ],
  [
    'a fixed window',
    fixedWindow({ limit: 9, window: '1h' }),
    shown({ remaining: 3, resetAfterMs: 61_000 }),
    { q: 9, w: 3600 },
    { r: 3, t: 61 },
  ],
  [
    'a calendar window',
    month,
    shown({ remaining: 3, resetAfterMs: 2_678_400_000 }),
    { q: 100, w: 2_678_400 },
    { r: 3, t: 2_678_400 },
  ],
  [
    'a sliding window',
    slidingWindow({ limit: 100, window: '1m' }),
    shown({ remaining: 3 }),
    { q: 100, w: 60 },
    { r: 3, t: 60 },
  ],
  ['a window under a second', quick, shown({ remaining: 3, resetAfterMs: 400 }), { q: 100 }, { r: 3, t: 1 }],
  [
    'a sliding log',
    slidingLog({ limit: 5, window: '1m' }),
    shown({ remaining: 3, resetAfterMs: 60_000 }),
    { q: 5, w: 60 },
    { r: 3, t: 60 },
  ],
  ['slots', slots, shown({ remaining: 3, resetAfterMs: 30_000 }), { q: 10, qu: 'concurrent-requests' }, { r: 3 }],
  ['refused slots', slots, refused(30_000), { q: 10, qu: 'concurrent-requests' }, { r: 0, t: 30 }],
  [
    'a limit of none',
    fixedWindow({ limit: 0, window: '1m' }),
    refused(Infinity, { limit: 0 }),
    { q: 0, w: 60 },
    { r: 0 },
  ],
  [
    'the largest limit',
    slidingWindow({ limit: 2 ** 48, window: '1m' }),
    shown({ limit: 2 ** 48 }),
    { q: 2 ** 48, w: 60 },
    { r: 2 ** 48, t: 60 },
  ],
  [
    'a count that is none',
    bucket,
    shown({ remaining: NaN, limit: NaN, resetAfterMs: NaN }),
    { q: 100, w: 10 },
    { r: 0, t: 1 },
  ],
]

test.each(rows)('%s', (_, policy, state, policyParameters, limitParameters) => {
  expect(read(policy, state)).toEqual([
    ['a', policyParameters],
    ['a', limitParameters],
  ])
})

test('a quota unit is written as it is given, and none without it', () => {
  expect(read(bucket, shown(), { unit: 'content-bytes' })[0]).toEqual(['a', { q: 100, qu: 'content-bytes', w: 10 }])
  expect(read(bucket, shown(), { unit: 'requests' })[0]).toEqual(['a', { q: 100, qu: 'requests', w: 10 }])
  expect(read(bucket, shown())[0]).toEqual(['a', { q: 100, w: 10 }])
})

test.each([
  ['per user', 'per user'],
  ['"quoted" \\ slashed', '"quoted" \\ slashed'],
  ['größe', 'gr%C3%B6%C3%9Fe'],
  ['a\r\nX-Evil: 1', 'a%0D%0AX-Evil: 1'],
])('the name %j reads back as %j in both fields', (name, readName) => {
  expect(read(bucket, shown(), {}, name).map(([value]) => value)).toEqual([readName, readName])
})

test('a partition is in both items of its limit, and only in those', () => {
  const descriptions = ['a', 'b', 'c', 'd'].map(name => describe(name, bucket))
  const states = descriptions.map(() => shown({ remaining: 1 }))
  const fields = written(descriptions, states, ['QXBwLTk5OQ==', '', 'not base64!'])
  const partitions = (field: string | undefined) => listOf(field).map(([, { pk }]) => pk)
  expect(partitions(fields.RateLimit)).toEqual(['QXBwLTk5OQ==', undefined, undefined, undefined])
  expect(partitions(fields['RateLimit-Policy'])).toEqual(['QXBwLTk5OQ==', undefined, undefined, undefined])
})

test('a limit that is none is left out of both fields, and fields without items are not written', () => {
  const none = shown({ limit: Infinity, remaining: Infinity })
  const descriptions = ['a', 'b'].map(name => describe(name, bucket))
  const fields = written(descriptions, [none, shown()])
  expect([fields.RateLimit, fields['RateLimit-Policy']].map(field => listOf(field).map(([name]) => name))).toEqual([
    ['b'],
    ['b'],
  ])
  expect(written(descriptions, [none, none])).toEqual({})
  expect(written([], [])).toEqual({})
})
