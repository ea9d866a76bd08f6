import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ruleOf } from '../../../algorithms/rule.ts'
import { concurrency, fixedWindow, gcra, type Policy, slidingLog, slidingWindow, tokenBucket } from '../../../index.ts'
import type { Key } from '../../../limiter/key.ts'
import { encodeKey } from '../../../limiter/key.ts'
import { Charge, ENFORCED } from '../../charge.ts'
import { tagOf } from '../client/tags.ts'
import { nameOf, prefixOf, RedisSpace } from './naming.ts'

const POLICIES = [
  tokenBucket({ capacity: 5, refill: '1/s' }),
  fixedWindow({ limit: 5, window: '1s' }),
  fixedWindow({ limit: 5, window: '10s' }),
  fixedWindow({ limit: 5, window: '1s', align: 'key' }),
  fixedWindow({ limit: 5, align: 'day', timeZone: 'Europe/Berlin' }),
  slidingWindow({ limit: 5, window: '1s' }),
  slidingWindow({ limit: 5, window: '1s', buckets: 10 }),
  slidingLog({ limit: 5, window: '1s' }),
]

/** Where a state belongs: prefix, limiter, limit, which policy, and key. */
type Place = [names: [string, string, string], policy: number, key: Key]

/** The bytes that a server sees. */
function bytesOf([names, policy, key]: Place): string {
  const space = new RedisSpace(encodeKey(names, ''), { localShare: 0.5 })
  const text = encodeKey(key, '')
  const charge = new Charge({ space, block: undefined, atOnce: false }, ruleOf(POLICIES[policy]!), text, 1, ENFORCED)
  return Buffer.from(nameOf(prefixOf(charge), text, tagOf(text, 128))).toString('hex')
}

/** Of the characters that names are put together with, few, so that accidents are likely. */
const tricky = fc.string({ unit: fc.constantFrom(...':;{}%~-0123 \u0000afdls🙂'), maxLength: 6 })
const broken = fc.string({
  unit: fc.constantFrom('%', 'd', '8', '0', '\ud800', '\ud801', '\udc00', '🙂'),
  maxLength: 6,
})
const keys: fc.Arbitrary<Key> = fc.oneof(
  tricky,
  broken,
  fc.array(fc.oneof(tricky, broken), { minLength: 1, maxLength: 3 }),
)
const names = fc.oneof(tricky, broken)
const places: fc.Arbitrary<Place> = fc.tuple(fc.tuple(names, names, names), fc.nat(POLICIES.length - 1), keys)

describe('names', () => {
  test('of different places differ, and of the same one do not', () => {
    fc.assert(
      fc.property(places, places, (a, b) => {
        expect(bytesOf(a) === bytesOf(b)).toBe(JSON.stringify(a) === JSON.stringify(b))
      }),
      { numRuns: 2000 },
    )
  })

  test('of different keys in one place differ, however broken they are', () => {
    const pairs = fc.tuple(fc.oneof(tricky, broken), fc.oneof(tricky, broken)).filter(([a, b]) => a !== b)
    fc.assert(
      fc.property(places, pairs, ([names, policy], [a, b]) => {
        expect(bytesOf([names, policy, a])).not.toBe(bytesOf([names, policy, b]))
      }),
      { numRuns: 5000 },
    )
  })

  test.each([
    ['\ud800', '\ud801'],
    ['\ud800', '%d800'],
    ['\ud800%', '\ud800%%'],
    ['\udc00\ud800', '\ud800\udc00'],
    ['\ud800', '\ufffd'],
    ['%', '%%'],
    ['A', 'a'],
    ['é', 'e\u0301'],
    ['a', 'a '],
    ['', '\0'],
  ])('%j and %j are different keys', (a, b) => {
    expect(bytesOf([['', '', ''], 0, a])).not.toBe(bytesOf([['', '', ''], 0, b]))
  })

  test('say what they are of, for whoever looks at a server', () => {
    const name = (limit: string) => Buffer.from(bytesOf([['app', 'api', limit], 1, 'user:42']), 'hex').toString()
    expect(name('per-user')).toMatch(/^\{\d+\}app:api:per-user:fixed-1s:user:42$/)
    expect(name('per user')).toMatch(/^\{\d+\}~3:app3:api8:per user:fixed-1s:user:42$/)
  })
})

describe('the kind and window in a name', () => {
  const kindOf = (policy: Policy) =>
    new RedisSpace('a', { localShare: 0.5 }).prefixOf(ruleOf(policy)).text.replace('~a:', '')

  test.each<[Policy, string]>([
    [tokenBucket({ capacity: 5, refill: '1/s' }), 'bucket'],
    [gcra({ rate: '1/s', burst: 5 }), 'bucket'],
    [fixedWindow({ limit: 5, window: '1h' }), 'fixed-1h'],
    [fixedWindow({ limit: 5, window: '90m' }), 'fixed-90m'],
    [fixedWindow({ limit: 5, window: '1h', align: 'first' }), 'fixed-1h-first'],
    [fixedWindow({ limit: 5, window: '1h', align: 'key' }), 'fixed-1h-key'],
    [fixedWindow({ limit: 5, align: 'day', timeZone: 'Europe/Berlin' }), 'fixed-day-Europe/Berlin'],
    [slidingWindow({ limit: 5, window: '1m' }), 'sliding-1m'],
    [slidingWindow({ limit: 5, window: '1m', buckets: 6 }), 'sliding-1m-6'],
    [slidingLog({ limit: 5, window: '30d' }), 'log-30d'],
    [concurrency({ limit: 5, ttl: '1m' }), 'slots'],
  ])('of %j is %s', (policy, text) => {
    expect(kindOf(policy)).toBe(text)
  })

  test('is shared by those whose states have one shape, and by no others', () => {
    const windows = [1, 1.001, 1.01, 10, 999, 1000, 1001, 60_000, 61_000, 90_000, 3_600_000, 86_400_000]
    const policies = windows.flatMap((window): Policy[] => [
      tokenBucket({ capacity: 5, refill: `1/${window}ms` }),
      ...(['epoch', 'first', 'key'] as const).map(align => fixedWindow({ limit: 5, window: `${window}ms`, align })),
      ...[1, 2, 3, 6].map(buckets => slidingWindow({ limit: 5, window: `${window * 6}ms`, buckets })),
      slidingLog({ limit: 5, window: `${window}ms` }),
      slidingLog({ limit: 50, window: `${window}ms` }),
    ])
    const names = new Map<string, Set<string>>()
    for (const policy of policies) {
      const rule = ruleOf(policy)
      const shape = rule.kind === 'bucket' ? 'bucket' : rule.shape
      names.set(shape, (names.get(shape) ?? new Set()).add(kindOf(policy)))
    }
    expect([...names.values()].every(({ size }) => size === 1)).toBe(true)
    expect(new Set([...names.values()].flatMap(texts => [...texts])).size).toBe(names.size)
  })
})
