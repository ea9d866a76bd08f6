import fc from 'fast-check'
import { parseItem } from 'structured-headers'
import { expect, test } from 'vitest'
import { integer, isBase64, printable, quoted } from './structured.ts'

test.each([
  [0, 0],
  [-0, 0],
  [1, 1],
  [1.999, 1],
  [-1, 0],
  [NaN, 0],
  [-Infinity, 0],
  [999_999_999_999_999, 999_999_999_999_999],
  [1e15, 999_999_999_999_999],
  [2 ** 53, 999_999_999_999_999],
  [1e300, 999_999_999_999_999],
  [Infinity, 999_999_999_999_999],
])('%d is written as %d', (value, written) => {
  expect(integer(value)).toBe(written)
})

test.each([
  ['per-user', '"per-user"'],
  ['', '""'],
  ['a b', '"a b"'],
  ['say "hi"', '"say \\"hi\\""'],
  ['back\\slash', '"back\\\\slash"'],
  ['\\"', '"\\\\\\""'],
  ['~ 100%', '"~ 100%"'],
  ['café', '"caf%C3%A9"'],
  ['😀', '"%F0%9F%98%80"'],
  ['\ud800', '"%EF%BF%BD"'],
  ['a\r\nSet-Cookie: b', '"a%0D%0ASet-Cookie: b"'],
  ['\0\t\x1f\x7f', '"%00%09%1F%7F"'],
])('the string %j is written as %s', (text, written) => {
  expect(quoted(text)).toBe(written)
})

test('any string reads back as its printable form, and printable ASCII as itself', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' })), text => {
      expect(parseItem(quoted(text))[0]).toBe(printable(text))
      expect(printable(text)).toMatch(/^[ -~]*$/)
      if (/^[ -~]*$/.test(text)) expect(printable(text)).toBe(text)
    }),
  )
})

test.each([
  ['QXBwLTk5OQ==', true],
  ['QXBwLTk5', true],
  ['QXBwLTk=', true],
  ['+/AZ', true],
  ['az09', true],
  ['', false],
  ['QXBwLTk5OQ', false],
  ['QXBw-_k5', false],
  ['====', false],
  ['QX=wLTk5', false],
  ['QXB:LTk5', false],
  ['QXB"LTk5', false],
  ['QXBé', false],
  ['QX.w', false],
  ['QX@w', false],
  ['QX[w', false],
  ['QX`w', false],
  ['QX{w', false],
  ['QX*w', false],
  ['QX,w', false],
])('%j is base64: %s', (text, is) => {
  expect(isBase64(text)).toBe(is)
})
