/**
 * Whole-number arithmetic that stays exact in doubles.
 *
 * A quotient of two whole numbers below 2^53 rounds to a whole number only when it is one, so `Math.floor` and
 * `Math.ceil` of it are exact. Only a product can leave that range; it is then divided digit by digit.
 */
const EXACT = 2 ** 53

/** ⌊a × b ÷ d⌋ for whole a < 2^53 and b ≤ d ≤ 2^48 (the largest limit; a year of ticks is less): never more than a. */
export function mulDivFloor(a: number, b: number, d: number): number {
  const product = a * b
  return product < EXACT ? Math.floor(product / d) : long(a, b, d, 0)
}

/** ⌈a × b ÷ d⌉, on the same terms. */
export function mulDivCeil(a: number, b: number, d: number): number {
  const product = a * b
  return product < EXACT ? Math.ceil(product / d) : long(a, b, d, 1)
}

const DIGIT = 16

/** School division with the digits of `a` in base 16: remainder × 16 + digit × b stays below 2^53. */
function long(a: number, b: number, d: number, roundUp: 0 | 1): number {
  let quotient = 0
  let remainder = 0
  for (let unit = DIGIT ** 13; unit >= 1; unit /= DIGIT) {
    const part = remainder * DIGIT + (Math.floor(a / unit) % DIGIT) * b
    const step = Math.floor(part / d)
    quotient = quotient * DIGIT + step
    remainder = part - step * d
  }
  return remainder > 0 ? quotient + roundUp : quotient
}

export function gcd(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b]
  return a
}

/**
 * The largest fraction ≤ count/period whose denominator is at most `most`. It stands for a rate whose exact form would
 * leave the doubles, and is too low by at most 1 in `most`. Stern–Brocot search, in BigInt: once per policy.
 */
export function fractionBelow(count: number, period: number, most: number): { count: number; period: number } {
  const c = BigInt(count)
  const p = BigInt(period)
  const limit = BigInt(Math.floor(most))
  let low = { c: 0n, p: 1n }
  let high = { c: 1n, p: 0n }
  for (;;) {
    // Goes as far towards the goal as the far bound allows, from below, then from above.
    const up = steps(c * low.p - p * low.c, p * high.c - c * high.p, limit - low.p, high.p)
    low = { c: low.c + up * high.c, p: low.p + up * high.p }
    if (low.c * p === c * low.p) break
    const down = steps(p * high.c - c * high.p - 1n, c * low.p - p * low.c, limit - high.p, low.p)
    high = { c: high.c + down * low.c, p: high.p + down * low.p }
    if (up === 0n && down === 0n) break
  }
  return { count: Number(low.c), period: Number(low.p) }
}

function steps(gap: bigint, stride: bigint, room: bigint, cost: bigint): bigint {
  const byGap = stride === 0n ? 0n : gap / stride
  const byRoom = cost === 0n ? byGap : room / cost
  return byGap < byRoom ? byGap : byRoom
}
