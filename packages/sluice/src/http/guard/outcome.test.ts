import { describe, expect, test } from 'vitest'
import { listOf } from '../../fixtures/headers/read-back.ts'
import { ask, headersOf, problemOf } from '../../fixtures/http/fake-exchange.ts'
import { createGuard, type GuardOptions } from '../index.ts'
import { besideOthers, type Outcome } from './outcome.ts'

/** The names in both fields of a response that these guards were asked for, one after the other. */
function names(...guards: readonly Partial<GuardOptions>[]): string[][] {
  const fields: Record<string, unknown> = {}
  for (const options of guards) {
    const outcome = ask(createGuard({ policy: '5/m', ...options } as GuardOptions))!
    Object.assign(fields, headersOf(besideOthers(outcome, name => fields[name])))
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
    const outcome = ask(createGuard({ policy: '5/m', headers: 'draft-7' }))!
    expect(besideOthers(outcome, () => 'limit=5, remaining=4')).toBe(outcome)
  })

  describe('in a refusal', () => {
    const refusedBy = (options: Partial<GuardOptions>): Outcome => {
      const guard = createGuard({ policy: '1/m', name: 'api', ...options } as GuardOptions)
      ask(guard)
      return ask(guard)!
    }
    const told = (outcome: Outcome, before: string) => problemOf(besideOthers(outcome, () => before))

    test('are named as in the fields', () => {
      expect(told(refusedBy({}), '"default";r=1')).toMatchObject({ 'violated-policies': ['api:default'] })
      expect(told(refusedBy({}), '"other";r=1')).toMatchObject({ 'violated-policies': ['default'] })
      expect(told(refusedBy({ headers: false }), '"default";r=1')).toMatchObject({ 'violated-policies': ['default'] })
    })

    test('are named so in a body that the user changed, which keeps all else', () => {
      const refuse: GuardOptions['refuse'] = ({ body }) => ({ body: { ...(body as object), help: 'default' } })
      const body = told(refusedBy({ refuse }), '"default";r=1')
      expect(body).toMatchObject({ 'violated-policies': ['api:default'], help: 'default', status: 429 })
      const own = refusedBy({ refuse: () => ({ body: 'later' }) })
      expect(besideOthers(own, () => '"default";r=1').refusal?.body).toBe('later')
    })
  })
})
