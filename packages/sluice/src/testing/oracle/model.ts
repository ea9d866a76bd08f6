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
  /** The first tick at which nothing is counted any more; any past tick if nothing is counted now. */
  wholeAt(): bigint
  /** Gives a charge made at `chargedAt` back, but lets no more through than if the request had not happened. */
  refund(at: bigint, cost: bigint, chargedAt: bigint): void
  /** An operator's credit: gives the cost back, up to a full limit. */
  credit(at: bigint, cost: bigint): void
  reset(): void
  /** Concurrency only: releases the n-th passing `charge`, counted from 0 across resets. False if it held no slot. */
  release?(at: bigint, acquisition: number): boolean
}

/** Converts the milliseconds of a policy, which may have a fraction, to whole microseconds. */
export const ticksOf = (ms: number): bigint => BigInt(Math.round(ms * 1000))

export const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
export const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)
/** For positive divisors and dividends of 0 or more: bigint division drops the fraction. */
export const ceilDiv = (a: bigint, b: bigint): bigint => (a + b - 1n) / b
