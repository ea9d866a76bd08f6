import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sha256 } from './sha256.ts'

const theirs = (text: string) => new Uint8Array(createHash('sha256').update(text).digest())

test.each([0, 1, 3, 54, 55, 56, 57, 63, 64, 65, 119, 120, 1000])('a text of %i bytes', length => {
  const text = 'é'.repeat(length >> 1) + 'a'.repeat(length & 1)
  expect(sha256(text)).toEqual(theirs(text))
})

test('any text', () => {
  const same = (text: string) => {
    expect(sha256(text)).toEqual(theirs(text))
  }
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), same))
})
