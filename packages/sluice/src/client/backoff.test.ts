import fc from 'fast-check'
import { expect, test } from 'vitest'
import { backoff } from './index.ts'

const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const attempt = fc.nat({ max: 2000 })

test('full jitter lies between 0 and the doubled base, and never above the cap', () => {
  fc.assert(
    fc.property(attempt, unit, (n, random) => {
      const ms = backoff(n, { base: '100ms', cap: '10s', random: () => random })
      expect(ms).toBeGreaterThanOrEqual(0)
      expect(ms).toBeLessThanOrEqual(Math.min(10_000, 100 * 2 ** n))
    }),
  )
})

test('equal jitter keeps half, decorrelated lies between the base and three times the one before', () => {
  fc.assert(
    fc.property(attempt, unit, fc.nat({ max: 100_000 }), (n, random, previousMs) => {
      const options = { base: '100ms', cap: '10s', random: () => random } as const
      expect(backoff(n, { ...options, jitter: 'equal' })).toBeGreaterThanOrEqual(Math.min(10_000, 100 * 2 ** n) / 2)
      const ms = backoff(n, { ...options, jitter: 'decorrelated', previousMs })
      expect(ms).toBeGreaterThanOrEqual(100)
      expect(ms).toBeLessThanOrEqual(Math.min(10_000, 3 * Math.max(100, previousMs)))
    }),
  )
})

test.each([[-1], [1.5], [NaN]])('an attempt of %d is refused', n => {
  expect(() => backoff(n)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
})
