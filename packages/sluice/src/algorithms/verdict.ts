/** A kernel's answer. Kernels write into one they are given, so that a decision allocates nothing but its result. */
export interface Verdict {
  allowed: boolean
  /** What is counted, in the units of the rule: after taking, if it was taken. `remainingOf` makes requests of it. */
  used: number
  /** The tick at which nothing is counted any more; now, where nothing is. */
  resetAt: number
  /** The first tick at which the same cost passes if nobody else consumes; 0 when allowed, `Infinity` when it never can. */
  retryAt: number
}

/** What turns units into requests: a bucket counts in fractions of a request, all others in whole ones. */
export interface Units {
  readonly limit: number
  /** The units one request of cost 1 weighs. */
  readonly perRequest: number
}

/** The largest cost that passes. Worked out when somebody asks: a division is a good part of a decision. */
export function remainingOf(used: number, { limit, perRequest }: Units): number {
  const free = limit * perRequest - used
  return free <= 0 ? 0 : Math.floor(free / perRequest)
}
