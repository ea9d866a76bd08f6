/**
 * The rules of one algorithm; `oracle.ts` turns them into verdicts. Everything is a bigint, in whole ticks and units,
 * so nothing is rounded. `at` never runs backwards from one call to the next.
 *
 * `passes` only reads. It can be asked about any later tick as if nothing were consumed until then. Without consumption
 * the count only shrinks, so a cost that passes goes on passing. The searches in `oracle.ts` rely on that.
 */
export interface Model {
  passes(at: bigint, cost: bigint): boolean
  /** Takes a cost that passes. Cost 0 must leave no trace. */
  charge(at: bigint, cost: bigint): void
  /** The first tick at which nothing is counted any more; any tick of the past if nothing is. */
  wholeAt(): bigint
  /** Gives back what law 12 allows for a charge made at `chargedAt`. */
  refund(at: bigint, cost: bigint, chargedAt: bigint): void
  /** An operator's credit, clamped at full. */
  credit(at: bigint, cost: bigint): void
  reset(): void
  /** Concurrency only: ends the n-th passing `charge`, counted from 0 over resets; false if it no longer held anything. */
  release?(at: bigint, acquisition: number): boolean
}

/** Policies speak milliseconds, possibly with a fraction down to a microsecond. */
export const ticksOf = (ms: number): bigint => BigInt(Math.round(ms * 1000))

export const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)
/** For positive divisors and dividends of 0 or more: bigint division drops the fraction. */
export const ceilDiv = (a: bigint, b: bigint): bigint => (a + b - 1n) / b
