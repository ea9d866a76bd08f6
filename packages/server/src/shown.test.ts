import { expect, test } from 'vitest'
import { shown } from './shown.ts'

const deep = (open: string, close: string) => JSON.parse(open.repeat(100_000) + close.repeat(100_000))

test.each([
  ['text', '"text"'],
  [-1, '-1'],
  [Number.NaN, 'NaN'],
  [Number.POSITIVE_INFINITY, 'Infinity'],
  [null, 'null'],
  [undefined, 'undefined'],
  [{ id: [1] }, '{"id":[1]}'],
  ['x'.repeat(40), `"${'x'.repeat(38)}…`],
])('%j is shown as %s', (value, text) => {
  expect(shown(value)).toBe(text)
})

test('a value that is nested too deeply is named', () => {
  expect(shown(deep('[', ']'))).toBe('a deep array')
  expect(shown({ a: deep('[', ']') })).toBe('a deep object')
})
