import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wildcard } from './wildcard.ts'

test.each([
  ['foo*', 'foo', true],
  ['foo*', 'foobar', true],
  ['foo*', 'fo', false],
  ['*foo', 'barfoo', true],
  ['*foo', 'foobar', false],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['a*b*c', 'a--b--c', true],
  ['a*b*c', 'acb', false],
  ['a*b*b', 'ab', false],
  ['*b*b*', 'abb', true],
  ['*', '', true],
  ['**', 'x', true],
  ['foo', 'foo', true],
  ['foo', 'foobar', false],
  ['', '', true],
  ['.*', 'x', false],
  ['files/*.pdf', 'files/a/b.pdf', true],
  ['a*', 'A', false],
])('%j and %j: %s', (pattern, text, matches) => {
  expect(wildcard(pattern)(text)).toBe(matches)
})

test('agrees with a regular expression on any pattern and text', { timeout: 60_000 }, () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '.'), maxLength: 10 })
  const pattern = fc.array(text, { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(pattern, text, (pieces, value) => {
      const escaped = pieces.map(piece => piece.replaceAll('.', '\\.'))
      expect(wildcard(pieces.join('*'))(value)).toBe(new RegExp(`^${escaped.join('.*')}$`, 's').test(value))
    }),
    { numRuns: 1000 },
  )
})

test('a hostile text costs no more than its length', () => {
  const matches = wildcard(`${'a*'.repeat(50)}b`)
  expect(matches('a'.repeat(1_000_000))).toBe(false)
})
