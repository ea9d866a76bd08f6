/** A kernel's answer. Kernels write into one they are given, so that a decision allocates nothing but its result. */
export interface Verdict {
  allowed: boolean
  /** The largest cost that passes now: after taking, if it was taken. */
  remaining: number
  /** The tick at which nothing is counted any more; now, where nothing is. */
  resetAt: number
  /** The first tick at which the same cost passes if nobody else consumes; 0 when allowed, `Infinity` when it never can. */
  retryAt: number
}
