import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { asking, descriptor, now } from '../../fixtures/descriptors/asking.ts'
import { readDescriptorFiles } from './descriptor-file.ts'
import { matchAll } from './matching.ts'
import { rls } from './rls.ts'

const per = (unit: string, requests_per_unit: number, more: object = {}) => ({
  rate_limit: { unit, requests_per_unit, ...more },
})

/** What a lone descriptor is limited to: `5/s`, or nothing. */
function limitOf(descriptors: unknown[], text: string): string {
  const level = readDescriptorFiles([{ domain: 'edge', descriptors }]).get('edge')!
  const [match] = matchAll(level, [descriptor(text)])
  const units = { 1: 's', 2: 'm', 3: 'h' } as Record<number, string>
  return match!.limits.map(({ current }) => `${current!.requestsPerUnit}/${units[current!.unit]}`).join() || 'none'
}

const nested = [
  {
    key: 'key1',
    value: 'value1',
    descriptors: [
      { key: 'subkey1', ...per('second', 5) },
      { key: 'subkey1', value: 'subvalue1', ...per('second', 10) },
    ],
  },
]
const flat = [
  { key: 'key2', ...per('minute', 20) },
  { key: 'key2', value: 'value2', ...per('minute', 30) },
  { key: 'key2', value: 'value3' },
]
const wild = [
  { key: 'wild', value: 'foo*', ...per('minute', 20) },
  { key: 'mid', value: '/a/*/c', ...per('minute', 1) },
  { key: 'mid', value: '/a/*', ...per('minute', 2) },
  { key: 'mid', value: '/a/b/c', ...per('minute', 3) },
  { key: 'mid', ...per('minute', 4) },
]

describe('the rule of a descriptor', () => {
  test.each([
    [nested, 'key1=value1', 'none'],
    [nested, 'key1=value1 subkey1=something', '5/s'],
    [nested, 'key1=value1 subkey1=subvalue1', '10/s'],
    [nested, 'key1=other subkey1=subvalue1', 'none'],
    [nested, 'subkey1=subvalue1', 'none'],
    [nested, 'key1=value1 subkey1=subvalue1 more=x', 'none'],
    [flat, 'key2=something', '20/m'],
    [flat, 'key2=value2', '30/m'],
    [flat, 'key2=value3', 'none'],
    [flat, 'key2=', '20/m'],
    [flat, 'key2_value2=', 'none'],
    [flat, 'KEY2=value2', 'none'],
    [wild, 'wild=foo1', '20/m'],
    [wild, 'wild=foo', '20/m'],
    [wild, 'wild=bar', 'none'],
    [wild, 'mid=/a/b/c', '3/m'],
    [wild, 'mid=/a/x/c', '1/m'],
    [wild, 'mid=/a/x', '2/m'],
    [wild, 'mid=/b', '4/m'],
  ])('%#: %s → %s', (descriptors, text, limit) => {
    expect(limitOf(descriptors, text)).toBe(limit)
  })

  test.each(['constructor', '__proto__', 'toString'])('names that every object has match nothing: %s', name => {
    expect(limitOf(flat, `${name}=x`)).toBe('none')
    expect(limitOf(flat, `key2=${name}`)).toBe('20/m')
  })

  test('a chosen rule is not given up for another that would lead further', () => {
    const rules = [
      { key: 'a', value: 'x', descriptors: [{ key: 'b', value: '1', ...per('minute', 1) }] },
      { key: 'a', descriptors: [{ key: 'b', ...per('minute', 2) }] },
    ]
    expect(limitOf(rules, 'a=x b=1')).toBe('1/m')
    expect(limitOf(rules, 'a=x b=2')).toBe('none')
    expect(limitOf(rules, 'a=y b=2')).toBe('2/m')
  })
})

interface Written {
  key: string
  value?: string
  rate_limit?: { unit: string; requests_per_unit: number }
  descriptors?: Written[]
}

/** The same from the words of the format's users, slowly: exact, then wildcards in order, then the bare key. */
function slowly(level: readonly Written[], [entry, ...rest]: readonly { key: string; value: string }[]): number[] {
  const here = level.filter(({ key }) => key === entry!.key)
  const asRegExp = (value: string) => new RegExp(`^${value.replaceAll('*', '.*')}$`)
  const chosen =
    here.find(({ value = '' }) => value !== '' && !value.includes('*') && value === entry!.value) ??
    here.find(({ value = '' }) => value.includes('*') && asRegExp(value).test(entry!.value)) ??
    here.find(({ value = '' }) => value === '')
  if (chosen === undefined) return []
  if (rest.length > 0) return slowly(chosen.descriptors ?? [], rest)
  return chosen.rate_limit === undefined ? [] : [chosen.rate_limit.requests_per_unit]
}

test('agrees with a slow reading of the format on any tree and request', { timeout: 60_000 }, () => {
  const value = fc.constantFrom('', 'a', 'ab', 'b', 'a*', '*b', '*', 'a*b')
  const { tree } = fc.letrec<{ tree: Written[] }>(tie => ({
    tree: fc.uniqueArray(
      fc.record(
        {
          key: fc.constantFrom('k', 'l'),
          value,
          rate_limit: fc.record({ unit: fc.constant('minute'), requests_per_unit: fc.nat(1e9) }),
          descriptors: fc.oneof({ depthSize: 'small' }, fc.constant([]), tie('tree')),
        },
        { requiredKeys: ['key'] },
      ),
      { selector: one => `${one.key} ${one.value ?? ''}`, maxLength: 6 },
    ) as fc.Arbitrary<Written[]>,
  }))
  const entry = fc.record({
    key: fc.constantFrom('k', 'l', 'm'),
    value: fc.constantFrom('', 'a', 'ab', 'b', 'aab', 'c'),
  })
  const entries = fc.array(entry, { minLength: 1, maxLength: 3 })
  fc.assert(
    fc.property(tree, entries, (descriptors, entries) => {
      const level = readDescriptorFiles([{ domain: 'edge', descriptors }]).get('edge')!
      const [match] = matchAll(level, [{ entries }])
      expect(match!.limits.map(({ current }) => current!.requestsPerUnit)).toEqual(slowly(descriptors, entries))
    }),
    { numRuns: 500 },
  )
})

describe('what metrics call the rule', () => {
  const descriptors = [
    { key: 'plain', ...per('minute', 1) },
    { key: 'told', detailed_metric: true, ...per('minute', 1) },
    { key: 'path', value: '/a/*', value_to_metric: true, descriptors: [{ key: 'user', ...per('minute', 1) }] },
    { key: 'exact', value: 'x', detailed_metric: true, ...per('minute', 1) },
  ]
  test.each([
    ['plain=secret', 'edge.plain'],
    ['told=me', 'edge.told_me'],
    ['path=/a/b user=secret', 'edge.path_/a/b.user'],
    ['exact=x', 'edge.exact_x'],
  ])('%s → %s', (text, rule) => {
    const { statuses } = now(rls([{ domain: 'edge', descriptors }]).shouldRateLimit(asking(text)))
    expect(statuses[0]).toMatchObject({ rule })
  })

  test('an override tells its keys, never its values', () => {
    const limit = { requestsPerUnit: 5, unit: 2 }
    const { statuses } = now(
      rls([{ domain: 'edge', descriptors }]).shouldRateLimit(asking(descriptor('a=1 b=2', { limit }))),
    )
    expect(statuses[0]).toMatchObject({ rule: 'edge.a.b' })
  })
})
