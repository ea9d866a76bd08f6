import { describe, expect, test } from 'vitest'
import { listOf } from '../../fixtures/headers/read-back.ts'
import { ask, headersOf } from '../../fixtures/http/fake-exchange.ts'
import { createGuard, type GuardOptions } from '../index.ts'
import { joined } from './outcome.ts'

/** The names in both fields of a response that these guards were asked for, one after the other. */
function names(...guards: readonly Partial<GuardOptions>[]): string[][] {
  const fields: Record<string, unknown> = {}
  for (const options of guards) {
    const outcome = ask(createGuard({ policy: '5/m', ...options } as GuardOptions))!
    for (const [name, value] of Object.entries(headersOf(outcome))) {
      fields[name] = joined(fields[name], value, outcome.guard)
    }
  }
  return ['RateLimit', 'RateLimit-Policy'].map(name => listOf(String(fields[name])).map(([item]) => String(item)))
}

describe('limits of several guards on one response', () => {
  const limits = { limits: { default: { policy: '5/m' }, other: { policy: '9/m' } }, policy: undefined } as object

  test.each<[string, Partial<GuardOptions>[], string[]]>([
    ['without names', [{}, {}, {}], ['default', '2:default', '3:default']],
    ['with names', [{ name: 'site' }, { name: 'api' }], ['default', 'api:default']],
    ['with one name', [{ name: 'api' }, { name: 'api' }, { name: 'api' }], ['default', 'api:default', 'api 2:default']],
    ['with a quote in it', [{}, { name: 'a "b"' }], ['default', 'a "b":default']],
    ['of which one is taken', [{}, limits], ['default', '2:default', '2:other']],
  ])('%s have a name each, the same in both fields', (_, guards, expected) => {
    expect(names(...guards)).toEqual([expected, expected])
  })

  test('that are named apart keep their names', () => {
    expect(names(limits, { policy: undefined, limits: { third: { policy: '5/m' } } } as object)[0]).toEqual([
      ...['default', 'other', 'third'],
    ])
  })

  test('any other field is that of the last', () => {
    expect(joined('limit=5, remaining=4', 'limit=9, remaining=8', '')).toBe('limit=9, remaining=8')
    expect(joined(undefined, '"a";r=1', '')).toBe('"a";r=1')
  })
})
