import type { LimitState } from '../../../decision.ts'
import { limitOfPolicy, type Policy } from '../../../policy.ts'
import { type Pace, paceOf, windowSeconds } from './pace.ts'
import { integer, printable, quoted } from './structured.ts'

/** The constant parts of one limit's headers, built once. */
export interface Description {
  readonly name: string
  readonly policy: Policy
  readonly pace: Pace
  /** `RateLimit-Policy` of draft 11: `"burst";q=100;w=60`. */
  readonly policyItem: string
  /** `RateLimit` of draft 11, up to the number: `"burst";r=`. */
  readonly remainingItem: string
  /** `RateLimit-Policy` of drafts 6 and 7: `100;w=60`. Empty without a window, which those drafts require. */
  readonly olderPolicy: string
  /** The opaque id of `X-RateLimit-Bucket`; empty if there is none. */
  readonly bucket: string
}

/** The changing parts, which `LimitState` has and, for a single limit, `Decision` too. */
export type Shown = Pick<LimitState, 'allowed' | 'limit' | 'remaining' | 'resetAt' | 'resetAfterMs' | 'retryAfterMs'>

export interface DescribeOptions {
  /** The id by which callers recognize the limit. Routes that share a limit share its id. */
  readonly bucket?: string
  /** What is counted: a name of the RateLimit Quota Units registry, or any other. Without one, callers assume requests. */
  readonly unit?: string
}

export function describe(name: string, policy: Policy, { bucket = '', unit }: DescribeOptions = {}): Description {
  const pace = paceOf(policy)
  const quota = integer(limitOfPolicy(policy))
  const seconds = windowSeconds(policy)
  const window = seconds === 0 ? '' : `;w=${seconds}`
  const counted = unit ?? (policy.kind === 'concurrency' ? 'concurrent-requests' : undefined)
  const quotaUnit = counted === undefined ? '' : `;qu=${quoted(counted)}`
  const burst = pace.frees === 'steadily' ? `;burst=${quota}` : ''
  const title = quoted(name)
  return {
    name,
    policy,
    pace,
    policyItem: `${title};q=${quota}${quotaUnit}${window}`,
    remainingItem: `${title};r=`,
    olderPolicy: window === '' ? '' : `${quota}${window}${burst}`,
    bucket: printable(bucket),
  }
}
