import type { Rate } from './duration.ts'
import { MAX_WINDOW_MS, MIN_WINDOW_MS, parseDuration } from './duration.ts'
import { expected } from './errors.ts'

/** Limits are counted in doubles. Up to this limit every sum a kernel makes is exact. */
export const MAX_LIMIT = 2 ** 48

export function limitOf(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_LIMIT) return value
  throw expected('SLUICE_BAD_LIMIT', `${what} as a whole number from 0 to 2^48`, value)
}

export function windowOf(value: unknown, what: string): number {
  return parseDuration(value, what, { min: MIN_WINDOW_MS, max: MAX_WINDOW_MS }, 'SLUICE_BAD_WINDOW')
}

const LONGEST_REFILL_MS = 2 ** 49 / 1000

export function bucketSize(value: unknown, what: string, rate: Rate): number {
  const size = limitOf(value, what)
  if (size * (rate.periodMs / rate.count) > LONGEST_REFILL_MS) {
    throw expected('SLUICE_BAD_LIMIT', `${what} that refills within 17 years at its rate`, size)
  }
  return size
}
