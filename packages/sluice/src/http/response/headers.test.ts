import { expect, describe as group, test } from 'vitest'
import { AT, fieldsOf, listOf, refused, shown } from '../../fixtures/headers/read-back.ts'
import { codeOf } from '../../fixtures/limiter/misuse.ts'
import { fixedWindow, slidingWindow, tokenBucket } from '../../policy.ts'
import { describe, exposedNames, type HeaderFamily, headerFamilies, type Shown, writeFields } from './headers.ts'

group('the option', () => {
  test.each([
    [undefined, ['draft-11']],
    [false, []],
    [[], []],
    ['x', ['x']],
    [
      ['draft-11', 'x-bucket'],
      ['draft-11', 'x-bucket'],
    ],
    [
      ['x', 'draft-6', 'draft-11'],
      ['x', 'draft-6', 'draft-11'],
    ],
    [
      ['draft-6', 'draft-7', 'x'],
      ['draft-6', 'draft-7', 'x'],
    ],
    [['x', 'x'], ['x']],
  ])('%j means %j', (option, families) => {
    expect(headerFamilies(option)).toEqual(families)
  })

  test.each([
    [null, 'got null'],
    [
      true,
      "headers as 'draft-11', 'draft-7', 'draft-6', 'x', 'x-bucket', several of them in an array, or false, got true",
    ],
    ['', "got ''"],
    ['draft-8', "got 'draft-8'"],
    ['toString', "got 'toString'"],
    [['draft-11', 'standard'], "got 'standard'"],
    [[['x']], 'got an array of 1'],
    [{ draft: 11 }, 'got an object with draft'],
    [['draft-7', 'draft-11'], 'both send RateLimit, each with a meaning of its own'],
    [['x-bucket', 'draft-11', 'x'], 'both send X-RateLimit-Reset, each with a meaning of its own'],
  ])('%j is refused', (option, message) => {
    expect(codeOf(() => headerFamilies(option))).toBe('SLUICE_BAD_OPTION')
    expect(() => headerFamilies(option)).toThrow(message)
  })
})

test.each<[HeaderFamily[], string]>([
  [[], 'Retry-After'],
  [['draft-11'], 'RateLimit, RateLimit-Policy, Retry-After'],
  [['draft-7'], 'RateLimit, RateLimit-Policy, Retry-After'],
  [['draft-6'], 'RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, RateLimit-Policy, Retry-After'],
  [['x'], 'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After'],
  [
    ['draft-11', 'x-bucket'],
    'RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-RateLimit-Reset-After, X-RateLimit-Bucket, Retry-After',
  ],
])('%j exposes %s', (families, names) => {
  expect(exposedNames(families)).toBe(names)
})

const bucket = describe('bucket', tokenBucket({ capacity: 100, refill: '10/s' }), { bucket: 'b1' })
const window = describe('window', fixedWindow({ limit: 9, window: '1m' }), { bucket: 'w1' })
const states = [shown({ remaining: 42, resetAfterMs: 5800 }), refused(1500, { limit: 9 })]

function written(families: readonly HeaderFamily[], binding = 1, of: readonly Shown[] = states) {
  const out: string[] = []
  writeFields(families, [bucket, window], of, binding, AT, out)
  return fieldsOf(out)
}

group('several families at once', () => {
  test('write all their fields', () => {
    expect(written(['draft-11', 'x-bucket'])).toEqual({
      RateLimit: '"bucket";r=42;t=1, "window";r=0;t=2',
      'RateLimit-Policy': '"bucket";q=100;w=10, "window";q=9;w=60',
      'X-RateLimit-Limit': '9',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '1790013601.624',
      'X-RateLimit-Reset-After': '1.5',
      'X-RateLimit-Bucket': 'w1',
    })
  })

  test.each<[HeaderFamily[], string]>([
    [['draft-6'], '9;w=60'],
    [['draft-7', 'draft-6'], '9;w=60'],
    [['draft-6', 'draft-7'], '9;w=60'],
    [['draft-6', 'draft-11'], '"bucket";q=100;w=10, "window";q=9;w=60'],
    [['draft-11', 'draft-6'], '"bucket";q=100;w=10, "window";q=9;w=60'],
  ])('%j write one RateLimit-Policy', (families, policy) => {
    expect(written(families)['RateLimit-Policy']).toBe(policy)
  })
})

group('where there is nothing to tell, nothing is written', () => {
  const every: readonly HeaderFamily[] = ['draft-11', 'draft-6', 'x-bucket']
  const none = shown({ limit: Infinity, remaining: Infinity })
  test.each<[string, readonly Shown[], number]>([
    ['no limit applied', [], -1],
    ['no limit applied, and the first is said to bind', [], 0],
    ['there is no limit', [none, none], 0],
  ])('%s', (_, of, binding) => {
    expect(written(every, binding, of)).toEqual({})
  })
  test('no family was asked for', () => {
    expect(written([])).toEqual({})
  })
})

test('what was in the list before stays', () => {
  const out = ['Vary', 'Origin']
  writeFields(['x'], [bucket, window], states, 0, AT, out)
  expect(out.slice(0, 4)).toEqual(['Vary', 'Origin', 'X-RateLimit-Limit', '100'])
})

test('a sliding window counts its sub-windows on the clock it is given', () => {
  const sliding = describe('s', slidingWindow({ limit: 10, window: '1m', buckets: 6 }))
  const at = (ms: number) => {
    const out: string[] = []
    writeFields(['draft-11'], [sliding], [shown({ limit: 10, remaining: 5 })], 0, ms, out)
    return listOf(fieldsOf(out).RateLimit)[0]![1].t
  }
  expect([0, 1, 9000, 9999.999, 10_000, 60_000].map(at)).toEqual([10, 10, 1, 1, 10, 10])
})
