/** A signed 64-bit whole number: a number where doubles are exact, a bigint only beyond. */
export type Integer = number | bigint

const PLUS = 0x2b
const MINUS = 0x2d
const ZERO = 0x30

const LEAST = -(2n ** 63n)
const MOST = 2n ** 63n - 1n

/** Every number of so many digits is exact as a double. */
const SAFE_DIGITS = 15

/** Reads an optional sign and digits, nothing else; undefined if it is not that or does not fit 64 bits. */
export function readInteger(bytes: Buffer, start: number, end: number): Integer | undefined {
  const isNegative = bytes[start] === MINUS
  let at = isNegative || bytes[start] === PLUS ? start + 1 : start
  if (at >= end) return undefined
  if (end - at > SAFE_DIGITS) return readLong(bytes, at, end, isNegative)
  let value = 0
  for (; at < end; at++) {
    const digit = bytes[at]! - ZERO
    if (digit < 0 || digit > 9) return undefined
    value = value * 10 + digit
  }
  return isNegative ? 0 - value : value
}

function readLong(bytes: Buffer, at: number, end: number, isNegative: boolean): Integer | undefined {
  // Skip leading zeros first: the rest is then short, or too large.
  while (at < end - 1 && bytes[at] === ZERO) at++
  const digits = end - at > 19 ? '' : bytes.toString('latin1', at, end)
  if (!/^\d+$/.test(digits)) return undefined
  const value = isNegative ? -BigInt(digits) : BigInt(digits)
  return value < LEAST || value > MOST ? undefined : narrow(value)
}

export function narrow(value: bigint): Integer {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** RESP carries 64 bits. Larger numbers are clamped to that range. */
export function clamp(value: bigint): Integer {
  return narrow(value < LEAST ? LEAST : value > MOST ? MOST : value)
}
