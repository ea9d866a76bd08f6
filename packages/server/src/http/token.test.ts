import { describe, expect, test } from 'vitest'
import { isLoopback, Token } from './token.ts'

describe('a token', () => {
  const token = new Token('s3cret')

  test.each<[header: string | undefined, opens: boolean]>([
    ['Bearer s3cret', true],
    ['bearer s3cret', true],
    ['BEARER   s3cret', true],
    [undefined, false],
    ['', false],
    ['s3cret', false],
    ['Bearer', false],
    ['Bearer ', false],
    ['Bearer s3cre', false],
    ['Bearer s3crets', false],
    ['Bearer S3cret', false],
    ['Bearer s3cret s3cret', false],
    ['Bearer s3cret,', false],
    ['Basic s3cret', false],
    ['Bearers3cret', false],
    [' Bearer s3cret', false],
    [`Bearer ${'x'.repeat(16_000)}`, false],
  ])('%j opens: %s', (header, opens) => {
    expect(token.opens(header)).toBe(opens)
  })

  test('none of ten thousand guesses opens', () => {
    const guesses = Array.from({ length: 10_000 }, (_, i) => `Bearer s3cret${i}`)
    expect(guesses.filter(guess => token.opens(guess))).toEqual([])
  })
})

test.each<[address: string | undefined, isHere: boolean]>([
  ['127.0.0.1', true],
  ['127.255.255.254', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['::FFFF:127.8.0.1', true],
  ['128.0.0.1', false],
  ['10.0.0.1', false],
  ['192.168.127.1', false],
  ['0.0.0.0', false],
  ['::', false],
  ['::ffff:10.0.0.1', false],
  ['fe80::1', false],
  ['127.0.0.1.example.com', false],
  ['127.1', false],
  ['localhost', false],
  ['', false],
  [undefined, false],
])('%j is this machine: %s', (address, isHere) => {
  expect(isLoopback(address)).toBe(isHere)
})
