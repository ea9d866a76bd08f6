/**
 * A kernel's answer. Kernels write into an object they are given, so that a decision allocates nothing but its result.
 */
export interface Verdict {
  allowed: boolean
  /**
   * What is counted, in the units of the rule, after the charge if it was taken. `remainingOf` turns it into requests.
   */
  used: number
  /** The tick at which nothing is counted any more; now if nothing is. */
  resetAt: number
  /** The first tick at which the same cost passes if nobody else consumes; 0 when allowed, `Infinity` when it never can. */
  retryAt: number
}

/** Turns units into requests: a bucket counts in fractions of a request, every other kind in whole ones. */
export interface Units {
  readonly limit: number
  /** The units of one request of cost 1. */
  readonly perRequest: number
}

/** The largest cost that passes. Computed only when read, because a division takes a good part of a decision's time. */
export function remainingOf(used: number, { limit, perRequest }: Units): number {
  const free = limit * perRequest - used
  return free <= 0 ? 0 : Math.floor(free / perRequest)
}
