import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FakeView, factsOf, serve } from '../../fixtures/http/fake-exchange.ts'
import { createGuard, loginLimits, tenant, user, username } from '../index.ts'

const keyOf = (body: object) => username().keyOf(factsOf({ body }))

describe('guesses at one name are counted together, however the name is sent', () => {
  const FORMS: Readonly<Record<string, (n: number) => object>> = {
    'after 1,024 spaces': n => ({ username: `${' '.repeat(1024 + n)}victim` }),
    'before 100,000 spaces': n => ({ username: `victim${'\u3000'.repeat(100_000 + n)}` }),
    'in an array': () => ({ username: ['victim'] }),
    'in arrays of other lengths': n => ({ username: Array.from({ length: n + 1 }, () => 'victim') }),
    'in an object': n => ({ username: { $eq: 'victim', n } }),
    'beside an empty name': n => ({ username: ' '.repeat(n), email: 'victim' }),
    'beside another name': n => ({ username: `nobody${n}`, email: 'victim' }),
    'as the other of two': n => ({ username: 'victim', email: `nobody${n}` }),
  }

  test.each(Object.keys(FORMS))('%s', form => {
    const guard = createGuard({ limits: loginLimits() })
    const passed = Array.from({ length: 900 }, (_, n) =>
      serve(guard, { from: `192.0.${n >> 8}.${n & 255}`, body: FORMS[form]!(n) }, 401),
    ).filter(status => status === 401)
    expect(passed).toHaveLength(20)
  })
})

test('spaces around a name, its case and its width never make another key', () => {
  const spaces = fc.string({ unit: fc.constantFrom(' ', '\t', '\n', '\u00a0', '\u3000', '\u2003'), maxLength: 3000 })
  const spelt = fc.tuple(...[...'victim'].map(letter => fc.constantFrom(letter, letter.toUpperCase(), wide(letter))))
  fc.assert(
    fc.property(spaces, spelt, spaces, (before, letters, after) => {
      expect(keyOf({ username: before + letters.join('') + after })).toBe('username:victim')
    }),
  )
})

function wide(letter: string): string {
  return String.fromCharCode(letter.charCodeAt(0) + 0xfee0)
}

describe('of what a helper reads', () => {
  class ObjectId {
    toString(): string {
      return '64b0'
    }
  }
  test.each([
    ['nothing', undefined, '192.0.2.1'],
    ['null', null, '192.0.2.1'],
    ['false', false, '192.0.2.1'],
    ['spaces', '  ', '192.0.2.1'],
    ['a number', 42, 'user:42'],
    ['a text', '42', 'user:42'],
    ['the id object of a database', new ObjectId(), 'user:64b0'],
    ['an array', ['42'], 'user?'],
    ['an object', { toString: () => '42' }, 'user?'],
    ['an object without prototype', Object.create(null), 'user?'],
    ['true', true, 'user?'],
    ['a fraction', 1.5, 'user?'],
    ['NaN', Number.NaN, 'user?'],
  ])('%s', (_, id, key) => {
    expect(user().keyOf(factsOf({ user: { id } }))).toBe(key)
    expect(tenant((r: FakeView) => r.user.id).keyOf(factsOf({ user: { id } }))).toBe(key.replace('user', 'tenant'))
  })
})
