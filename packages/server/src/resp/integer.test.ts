import { expect, test } from 'vitest'
import { clamp, readInteger } from './integer.ts'

const read = (text: string) => readInteger(Buffer.from(`x${text}9`, 'latin1'), 1, text.length + 1)

test.each([
  ['0', 0],
  ['-0', 0],
  ['+7', 7],
  ['007', 7],
  ['-15', -15],
  ['999999999999999', 999_999_999_999_999],
  ['9007199254740991', 9_007_199_254_740_991],
  ['9007199254740993', 9_007_199_254_740_993n],
  ['9223372036854775807', 2n ** 63n - 1n],
  ['-9223372036854775808', -(2n ** 63n)],
  [`-${'0'.repeat(60_000)}12`, -12],
])('%j is read as %s', (text, value) => {
  expect(read(text)).toBe(value)
})

test.each([
  ...['', '-', '+', '+-1', '1.5', '1e3', ' 1', '1 ', '0x1', 'x', '٣', '12345678901234567x'],
  ...['9223372036854775808', '-9223372036854775809', '9'.repeat(60_000)],
])('%j is no integer of 64 bits', text => {
  expect(read(text)).toBeUndefined()
})

test('a number that does not fit 64 bits is clamped to their range', () => {
  expect([clamp(5n), clamp(2n ** 80n), clamp(-(2n ** 80n))]).toEqual([5, 2n ** 63n - 1n, -(2n ** 63n)])
})
