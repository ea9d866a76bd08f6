/** One limit as a server reports it. Times are epoch milliseconds of this machine. */
export interface ToldLimit {
  /** The server's name for it: `'burst'`, `'tokens'`; empty if it has none. */
  readonly name: string
  readonly limit?: number
  readonly remaining?: number
  /** When the limit is full again, or when there will be more: servers differ. */
  readonly resetAt?: number
  readonly windowMs?: number
  /** What is counted, if not requests: `'content-bytes'`. */
  readonly unit?: string
  /** The partition key, in base64. */
  readonly partition?: string
}

export interface RateLimitInfo {
  /** `limit`, `remaining` and `resetAt` are those of the limit with the least left, then the latest reset. */
  readonly limit: number | undefined
  readonly remaining: number | undefined
  readonly resetAt: number | undefined
  /** When to ask again, if the server says so: `Retry-After`, never earlier. */
  readonly retryAt: number | undefined
  /** Every limit the server reports. */
  readonly policies: readonly ToldLimit[]
  /** What the server calls the limit that counts this route: Discord's bucket, GitHub's resource. */
  readonly bucket: string | undefined
  /** Which callers the limit counts, or why it refused: Discord's scope, Stripe's reason. */
  readonly scope: string | undefined
}

/** The fields of a response that say something about limits, by lower-case name. */
export type Fields = ReadonlyMap<string, string>
