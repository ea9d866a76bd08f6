// Numbers of a limiter may be Infinity or too large for the protocol. They are clamped to the nearest number that fits.

const MOST_UINT32 = 0xffff_ffff
/** About 10,000 years: the longest google.protobuf.Duration there is. */
const MOST_SECONDS = 315_576_000_000
const NANOS_PER_MS = 1e6

export function uint32(value: number): number {
  return value > 0 ? Math.min(Math.floor(value), MOST_UINT32) : 0
}

export interface WireDuration {
  readonly seconds: number
  readonly nanos: number
}

export function duration(ms: number): WireDuration {
  if (!(ms > 0)) return { seconds: 0, nanos: 0 }
  const seconds = Math.floor(ms / 1000)
  if (seconds >= MOST_SECONDS) return { seconds: MOST_SECONDS, nanos: 0 }
  // Never rounded up to a whole second: `nanos` must be less than that.
  return { seconds, nanos: Math.min(Math.round((ms - seconds * 1000) * NANOS_PER_MS), 999_999_999) }
}
