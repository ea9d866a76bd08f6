import { expect, test } from 'vitest'
import { AT, dictionaryOf, fieldsOf, listOf, refused, shown } from '../../../fixtures/headers/read-back.ts'
import { concurrency, fixedWindow, gcra, type Policy, slidingLog, tokenBucket } from '../../../policy.ts'
import { describe, type Shown } from './description.ts'
import { writeDraft6, writeDraft7, writeOlderPolicy } from './older-drafts.ts'

function written(policy: Policy, state: Shown) {
  const [seven, six]: [string[], string[]] = [[], []]
  const description = describe('a', policy)
  writeDraft7(description, state, AT, seven)
  writeDraft6(description, state, AT, six)
  writeOlderPolicy(description, six)
  return { seven: fieldsOf(seven), six: fieldsOf(six) }
}

test('the fields are written as the drafts write them', () => {
  const { seven, six } = written(
    fixedWindow({ limit: 100, window: '1m' }),
    shown({ remaining: 50, resetAfterMs: 4001 }),
  )
  expect(seven).toEqual({ RateLimit: 'limit=100, remaining=50, reset=5' })
  expect(six).toEqual({
    'RateLimit-Limit': '100',
    'RateLimit-Remaining': '50',
    'RateLimit-Reset': '5',
    'RateLimit-Policy': '100;w=60',
  })
})

const window = fixedWindow({ limit: 100, window: '1m' })
const bucket = tokenBucket({ capacity: 100, refill: '10/s' })
const slots = concurrency({ limit: 10, ttl: '30s' })

type Row = readonly [what: string, Policy, Shown, numbers: Record<string, number>, policy: unknown[]]
const rows: readonly Row[] = [
  [
    'a window',
    window,
    shown({ remaining: 7, resetAfterMs: 900 }),
    { limit: 100, remaining: 7, reset: 1 },
    [[100, { w: 60 }]],
  ],
  ['a refusal', window, refused(12_345), { limit: 100, remaining: 0, reset: 13 }, [[100, { w: 60 }]]],
  ['a cost too high', window, refused(Infinity, { remaining: 9 }), { limit: 100, remaining: 9 }, [[100, { w: 60 }]]],
  [
    'a bucket',
    bucket,
    shown({ remaining: 95, resetAfterMs: 500 }),
    { limit: 100, remaining: 95, reset: 1 },
    [[100, { w: 10, burst: 100 }]],
  ],
  [
    'a GCRA',
    gcra({ burst: 3, rate: '1/m' }),
    refused(59_000, { limit: 3 }),
    { limit: 3, remaining: 0, reset: 59 },
    [[3, { w: 180, burst: 3 }]],
  ],
  [
    'a window under a second',
    slidingLog({ limit: 5, window: '9ms' }),
    shown({ limit: 5, remaining: 4, resetAfterMs: 9 }),
    { limit: 5, remaining: 4, reset: 1 },
    [],
  ],
  ['slots', slots, shown({ limit: 10, remaining: 4, resetAfterMs: 30_000 }), { limit: 10, remaining: 4 }, []],
  [
    'a limit at half its size',
    bucket,
    shown({ limit: 50, remaining: 50 }),
    { limit: 50, remaining: 50, reset: 0 },
    [[100, { w: 10, burst: 100 }]],
  ],
]

test.each(rows)('%s reads the same in both drafts', (_, policy, state, numbers, policies) => {
  const { seven, six } = written(policy, state)
  expect(dictionaryOf(seven.RateLimit)).toEqual(numbers)
  const apart = Object.entries(numbers).map(([key, value]) => [
    `RateLimit-${key[0]!.toUpperCase()}${key.slice(1)}`,
    value,
  ])
  const { 'RateLimit-Policy': policyField, ...rest } = six
  expect(Object.entries(rest).map(([name, value]) => [name, Number(value)])).toEqual(apart)
  expect(listOf(policyField)).toEqual(policies)
})
