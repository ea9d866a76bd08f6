import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fractionBelow, gcd, mulDivCeil, mulDivFloor } from './exact.ts'

const floor = (a: number, b: number, d: number) => Number((BigInt(a) * BigInt(b)) / BigInt(d))
const ceil = (a: number, b: number, d: number) => Number((BigInt(a) * BigInt(b) + BigInt(d) - 1n) / BigInt(d))

/** Whole numbers of every size up to a bound, not only large ones. */
const upTo = (bound: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: Math.ceil(Math.log2(bound)) }), fc.maxSafeNat())
    .map(([bits, n]) => Math.min(bound, n % (2 ** bits + 1)))

/** A divisor and a factor no larger than it. */
const fractions = (bound: number) =>
  fc.tuple(upTo(bound - 1), fc.maxSafeNat()).map(([d, n]) => ({ b: n % (d + 2), d: d + 1 }))

function agrees(most: { a: number; d: number }): void {
  const exact = fc.property(upTo(most.a), fractions(most.d), (a, { b, d }) => {
    expect([mulDivFloor(a, b, d), mulDivCeil(a, b, d)]).toEqual([floor(a, b, d), ceil(a, b, d)])
  })
  // With d = g·m, b = k·m and a = g·q the quotient is q·k and nothing is left over, so that an error of any size shows.
  const even = fc.property(upTo(2 ** 24), fc.array(fc.maxSafeNat(), { minLength: 3, maxLength: 3 }), (n, [x, y, z]) => {
    const g = n + 1
    const m = 1 + (x! % Math.floor(most.d / g))
    const [q, k] = [y! % Math.floor(most.a / g), z! % (g + 1)]
    expect([mulDivFloor(g * q, k * m, g * m), mulDivCeil(g * q, k * m, g * m)]).toEqual([q * k, q * k])
  })
  fc.assert(exact, { numRuns: 3000 })
  fc.assert(even, { numRuns: 3000 })
}

describe('a × b ÷ d', () => {
  test('is exact for a count of any size and a share of up to a year of ticks', () =>
    agrees({ a: 2 ** 53 - 1, d: 366 * 86_400_000_000 }))

  // A sliding window asks it when it looks for the tick at which enough of a count has left.
  test('is exact for a year of ticks and a share of a count up to the largest limit', () =>
    agrees({ a: 366 * 86_400_000_000, d: 2 ** 48 }))

  test.each([
    [226_237_000, 190_318_999_307_094, 251_450_208_702_000, 171_235_489],
    [22_259_337_000, 124_029_698_974_175, 187_534_914_225_000, 14_721_625_991],
    [2 ** 53 - 1, 2 ** 44, 2 ** 44, 2 ** 53 - 1],
    [2 ** 53 - 1, 0, 1, 0],
    [0, 5, 7, 0],
    [94_906_267, 94_906_266, 94_906_267, 94_906_266],
  ])('%d × %d ÷ %d is %d, both ways', (a, b, d, quotient) => {
    expect([mulDivFloor(a, b, d), mulDivCeil(a, b, d)]).toEqual([quotient, quotient])
  })
})

test('gcd is what Euclid says', () => {
  expect([gcd(12, 18), gcd(18, 12), gcd(7, 0), gcd(999_983, 86_400_000_000), gcd(1_000_000, 1_000_000)]).toEqual([
    6, 6, 7, 1, 1_000_000,
  ])
})

describe('the largest fraction below a rate', () => {
  test('is the rate itself where its denominator fits', () => {
    expect(fractionBelow(7, 1_000_000, 1_000_000)).toEqual({ count: 7, period: 1_000_000 })
    expect(fractionBelow(14, 2_000_000, 1_000_000)).toEqual({ count: 7, period: 1_000_000 })
  })

  test('is the best there is: found by trying every denominator', () => {
    const best = fc.property(
      fc.integer({ min: 1, max: 10 ** 9 }),
      fc.integer({ min: 1, max: 10 ** 9 }),
      fc.integer({ min: 1, max: 300 }),
      (a, b, most) => {
        const [count, period] = [Math.min(a, b), Math.max(a, b)]
        let [c, p] = [0n, 1n]
        for (let q = 1n; q <= BigInt(most); q++) {
          const n = (BigInt(count) * q) / BigInt(period)
          if (n * p > c * q) [c, p] = [n, q]
        }
        const found = fractionBelow(count, period, most)
        expect(found.period).toBeLessThanOrEqual(most)
        expect(BigInt(found.count) * p).toBe(c * BigInt(found.period))
      },
    )
    fc.assert(best, { numRuns: 500 })
  })

  test('never exceeds the rate, up to the largest rates there are', () => {
    const below = fc.property(
      fc.integer({ min: 1, max: 366 * 86_400_000_000 }),
      fc.integer({ min: 1, max: 366 * 86_400_000_000 }),
      fc.integer({ min: 1, max: 2 ** 50 }),
      (a, b, most) => {
        const [count, period] = [Math.min(a, b), Math.max(a, b)]
        const found = fractionBelow(count, period, most)
        expect(found.period).toBeLessThanOrEqual(most)
        expect(BigInt(found.count) * BigInt(period) <= BigInt(count) * BigInt(found.period)).toBe(true)
      },
    )
    fc.assert(below, { numRuns: 2000 })
  })
})
