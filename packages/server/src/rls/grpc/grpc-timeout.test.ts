import { expect, test } from 'vitest'
import { timeoutMs } from './grpc-timeout.ts'

test.each([
  [undefined, Infinity],
  ['20m', 20],
  ['19999u', 19.999],
  ['1000000n', 1],
  ['5S', 5000],
  ['2M', 120_000],
  ['1H', 3_600_000],
  ['0n', 0],
  ['99999999H', 359_999_996_400_000],
])('%j is %d ms', (header, expected) => {
  expect(timeoutMs(header)).toBe(expected)
})

test.each(['', 'm', '20', '20s', '-1m', '1.5S', '123456789m', '20m, 30m', ' 20m'])('%j is refused', header => {
  expect(() => timeoutMs(header)).toThrow(`got ${header}`)
})
