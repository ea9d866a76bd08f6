import { describe, expect, test } from 'vitest'
import { readRateLimit } from '../index.ts'
import type { RateLimitInfo } from './rate-limit-info.ts'

/** Wed, 18 Nov 2026 10:00:00.400 GMT, with an answer dated in the same second. */
const NOW = Date.parse('2026-11-18T10:00:00.400Z')
const DATE = 'Wed, 18 Nov 2026 10:00:00 GMT'
const at = (iso: string) => Date.parse(`2026-11-18T${iso}Z`)
const inMs = (ms: number) => NOW + ms

const read = (headers: Record<string, string>) => readRateLimit({ headers: new Headers(headers) }, { now: NOW })

/** What the providers document, or send. */
const SAMPLES: readonly [who: string, headers: Record<string, string>, told: Partial<RateLimitInfo>][] = [
  [
    'IETF draft 11, two policies',
    {
      'RateLimit-Policy': '"burst";q=100;w=60,"daily";q=1000;w=86400',
      RateLimit: '"burst";r=99;t=58,"daily";r=12;t=40211',
    },
    {
      ...{ limit: 1000, remaining: 12, resetAt: inMs(40_211_000) },
      policies: [
        { name: 'burst', limit: 100, windowMs: 60_000, remaining: 99, resetAt: inMs(58_000) },
        { name: 'daily', limit: 1000, windowMs: 86_400_000, remaining: 12, resetAt: inMs(40_211_000) },
      ],
    },
  ],
  [
    'IETF draft 11, unit and partition',
    {
      'RateLimit-Policy': '"peruser";q=65535;qu="content-bytes";w=10;pk=:QXBwLTk5OQ==:',
      RateLimit: '"peruser";r=30000;t=4;pk=:QXBwLTk5OQ==:',
    },
    {
      policies: [
        {
          ...{ name: 'peruser', limit: 65_535, windowMs: 10_000, remaining: 30_000, resetAt: inMs(4000) },
          ...{ unit: 'content-bytes', partition: 'QXBwLTk5OQ==' },
        },
      ],
    },
  ],
  ['the proposed names a and w', { RateLimit: '"default";a=7;w=30' }, { remaining: 7, resetAt: inMs(30_000) }],
  [
    'IETF draft 7',
    { RateLimit: 'limit=100, remaining=50, reset=5', 'RateLimit-Policy': '100;w=60;burst=100' },
    { limit: 100, remaining: 50, resetAt: inMs(5000), policies: [expect.objectContaining({ windowMs: 60_000 })] },
  ],
  [
    'IETF draft 6',
    {
      ...{ 'RateLimit-Limit': '100, 100;w=60', 'RateLimit-Remaining': '0', 'RateLimit-Reset': '7' },
      'RateLimit-Policy': '100;w=60',
    },
    { limit: 100, remaining: 0, resetAt: inMs(7000), policies: [expect.objectContaining({ windowMs: 60_000 })] },
  ],
  [
    'GitHub',
    {
      ...{ 'x-ratelimit-limit': '5000', 'x-ratelimit-remaining': '4987', 'x-ratelimit-used': '13' },
      ...{ 'x-ratelimit-reset': `${at('10:42:17') / 1000}`, 'x-ratelimit-resource': 'core' },
    },
    { limit: 5000, remaining: 4987, resetAt: at('10:42:17'), bucket: 'core' },
  ],
  [
    'Discord',
    {
      ...{ 'X-RateLimit-Limit': '5', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '1470173023.123' },
      ...{ 'X-RateLimit-Reset-After': '64.57', 'X-RateLimit-Bucket': 'abcd1234', 'X-RateLimit-Scope': 'shared' },
      'Retry-After': '65',
    },
    { limit: 5, remaining: 0, resetAt: inMs(64_570), bucket: 'abcd1234', scope: 'shared', retryAt: inMs(65_000) },
  ],
  ['Discord, global', { 'X-RateLimit-Global': 'true', 'Retry-After': '1' }, { scope: 'global', retryAt: inMs(1000) }],
  [
    'X',
    { 'x-rate-limit-limit': '900', 'x-rate-limit-remaining': '899', 'x-rate-limit-reset': `${at('10:15:00') / 1000}` },
    { limit: 900, remaining: 899, resetAt: at('10:15:00') },
  ],
  [
    'OpenAI',
    {
      ...{ 'x-ratelimit-limit-requests': '60', 'x-ratelimit-limit-tokens': '150000' },
      ...{ 'x-ratelimit-remaining-requests': '59', 'x-ratelimit-remaining-tokens': '149984' },
      ...{ 'x-ratelimit-reset-requests': '1s', 'x-ratelimit-reset-tokens': '6m0s' },
      ...{ 'retry-after': '2', 'retry-after-ms': '1250' },
    },
    {
      ...{ limit: 60, remaining: 59, resetAt: inMs(1000), retryAt: inMs(1250) },
      policies: [
        { name: 'requests', limit: 60, remaining: 59, resetAt: inMs(1000) },
        { name: 'tokens', limit: 150_000, remaining: 149_984, resetAt: inMs(360_000) },
      ],
    },
  ],
  [
    'Anthropic',
    {
      ...{ 'anthropic-ratelimit-requests-limit': '50', 'anthropic-ratelimit-requests-remaining': '49' },
      ...{
        'anthropic-ratelimit-requests-reset': '2026-11-18T10:00:01Z',
        'anthropic-ratelimit-input-tokens-limit': '40000',
      },
      ...{
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': '2026-11-18T10:00:31Z',
      },
    },
    { limit: 40_000, remaining: 0, resetAt: at('10:00:31') },
  ],
  [
    'Shopify',
    { 'X-Shopify-Shop-Api-Call-Limit': '32/40', 'Retry-After': '2.0' },
    { limit: 40, remaining: 8, resetAt: undefined, retryAt: inMs(2000) },
  ],
  [
    'Reddit',
    { 'X-Ratelimit-Used': '3', 'X-Ratelimit-Remaining': '597.0', 'X-Ratelimit-Reset': '412' },
    { limit: undefined, remaining: 597, resetAt: inMs(412_000) },
  ],
  [
    'Linear',
    {
      ...{ 'X-RateLimit-Requests-Limit': '1500', 'X-RateLimit-Requests-Remaining': '1499' },
      'X-RateLimit-Requests-Reset': `${at('11:00:00')}`,
    },
    { limit: 1500, remaining: 1499, resetAt: at('11:00:00') },
  ],
  [
    'Gravitee',
    { 'X-Rate-Limit-Limit': '10', 'X-Rate-Limit-Remaining': '9', 'X-Rate-Limit-Reset': `${at('10:00:05.250')}` },
    { limit: 10, remaining: 9, resetAt: at('10:00:05.250') },
  ],
  [
    'Atlassian',
    { 'X-RateLimit-Limit': '350', 'X-RateLimit-Remaining': '349', 'X-RateLimit-Reset': '2026-11-18T11:00Z' },
    { limit: 350, remaining: 349, resetAt: at('11:00:00') },
  ],
  [
    'Atlassian, its trial of the draft',
    {
      'Beta-RateLimit-Policy': '"global-app-quota";q=65000;w=3600',
      'Beta-RateLimit': '"global-app-quota";r=41000;t=1200',
    },
    { limit: 65_000, remaining: 41_000, resetAt: inMs(1_200_000) },
  ],
  ['Stripe', { 'Stripe-Rate-Limited-Reason': 'endpoint-rate' }, { scope: 'endpoint-rate', policies: [] }],
  ['a date to retry at', { 'Retry-After': 'Wed, 18 Nov 2026 10:02:00 GMT' }, { retryAt: at('10:02:00') }],
  ['a date of RFC 850', { 'Retry-After': 'Wednesday, 18-Nov-26 10:02:00 GMT' }, { retryAt: at('10:02:00') }],
  ['a date of asctime', { 'Retry-After': 'Wed Nov 18 10:02:00 2026' }, { retryAt: at('10:02:00') }],
  ['a date that has passed means now', { 'Retry-After': 'Wed, 18 Nov 2026 09:00:00 GMT' }, { retryAt: NOW }],
]

test.each(SAMPLES)('reads %s', (_, headers, told) => {
  expect(read({ Date: DATE, ...headers })).toMatchObject(told)
})

const UNKNOWN = { limit: undefined, remaining: undefined, resetAt: undefined, retryAt: undefined, policies: [] }

test.each<[what: string, headers: Record<string, string>]>([
  ['nothing', {}],
  ['a negative reset', { 'X-RateLimit-Reset': '-1' }],
  ['an exponent', { 'X-RateLimit-Reset': '1e3', 'Retry-After': '1e3' }],
  ['hexadecimal', { 'X-RateLimit-Reset': '0x10', 'X-RateLimit-Remaining': '0x10' }],
  ['no number', { 'X-RateLimit-Remaining': 'NaN', 'Retry-After': 'NaN', 'X-RateLimit-Limit': 'Infinity' }],
  ['a negative wait', { 'Retry-After': '-5', 'retry-after-ms': '-5' }],
  ['an unfinished string', { RateLimit: '"default;r=5;t=1' }],
  ['a trailing comma', { RateLimit: '"default";r=5;t=1,' }],
  ['a negative count', { RateLimit: '"default";r=-5;t=1' }],
  ['a fraction for a count', { RateLimit: '"default";r=5.5;t=1' }],
  ['an inner list', { RateLimit: '("default");r=5;t=1' }],
  ['10,000 policies', { RateLimit: Array.from({ length: 10_000 }, (_, i) => `"p${i}";r=0;t=9`).join(',') }],
  ['a date of no month', { 'X-RateLimit-Reset': 'Wed, 18 Foo 2026 10:02:00 GMT' }],
])('ignores %s', (_, headers) => {
  expect(read(headers)).toMatchObject(UNKNOWN)
})

test('one malformed field leaves the others alone', () => {
  const told = read({ RateLimit: '"default";r=5;t=1,', 'X-RateLimit-Remaining': '3', 'Retry-After': '2' })
  expect(told).toMatchObject({ remaining: 3, retryAt: inMs(2000) })
})

test('a cached response tells nothing but when to retry', () => {
  const told = read({ Age: '0', RateLimit: '"default";r=0;t=60', 'X-RateLimit-Bucket': 'b', 'Retry-After': '2' })
  expect(told).toMatchObject({ ...UNKNOWN, bucket: undefined, retryAt: inMs(2000) })
})

test('reads plain objects, as Node and got give them', () => {
  expect(readRateLimit({ headers: { 'X-RateLimit-Remaining': ['4'], Vary: undefined } }, { now: NOW }).remaining).toBe(
    4,
  )
})

test('a bare number can be told to be milliseconds', () => {
  const told = { headers: { 'x-ratelimit-reset': '1500' } }
  expect(readRateLimit(told, { now: NOW }).resetAt).toBe(inMs(1_500_000))
  expect(readRateLimit(told, { now: NOW, resetUnit: 'ms' }).resetAt).toBe(inMs(1500))
})

describe('a clock that is wrong', () => {
  const reset = { 'x-ratelimit-reset': `${at('10:01:00') / 1000}`, 'Retry-After': 'Wed, 18 Nov 2026 10:01:00 GMT' }
  test.each([-3_600_000, -5000, 5000, 3_600_000])('by %d ms is put right by Date, and never early', skewMs => {
    const now = NOW + skewMs
    const { resetAt, retryAt } = readRateLimit({ headers: { ...reset, Date: DATE } }, { now })
    // The server's own time was between 10:00:00 and 10:00:01.
    expect([resetAt! - now, retryAt! - now]).toEqual([60_000, 60_000])
  })

  test('by less than a second is taken as it is', () => {
    expect(readRateLimit({ headers: { ...reset, Date: DATE } }, { now: NOW + 300 }).resetAt).toBe(at('10:01:00'))
  })
})
