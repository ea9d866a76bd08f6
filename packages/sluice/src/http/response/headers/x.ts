import type { Description, Shown } from './description.ts'
import { effectiveMs } from './seconds.ts'
import { integer } from './structured.ts'

/** The headers that most services sent before there was a draft, with the reset in whole epoch seconds. */
export function writeX({ pace }: Description, state: Shown, at: number, out: string[]): void {
  writeCounts(state, out)
  const waitMs = effectiveMs(pace, state, at)
  if (waitMs !== undefined) out.push('X-RateLimit-Reset', `${integer(Math.ceil((at + waitMs) / 1000))}`)
}

/** Discord's headers: the reset to the millisecond, the same as a wait, and an id by which callers recognize a shared limit. */
export function writeXBucket({ pace, bucket }: Description, state: Shown, at: number, out: string[]): void {
  writeCounts(state, out)
  const waitMs = effectiveMs(pace, state, at)
  if (waitMs !== undefined) {
    out.push('X-RateLimit-Reset', decimalSeconds(at + waitMs), 'X-RateLimit-Reset-After', decimalSeconds(waitMs))
  }
  if (bucket !== '') out.push('X-RateLimit-Bucket', bucket)
}

function writeCounts(state: Shown, out: string[]): void {
  out.push('X-RateLimit-Limit', `${integer(state.limit)}`, 'X-RateLimit-Remaining', `${integer(state.remaining)}`)
}

/** Seconds to the millisecond, rounded up: `1470173023.123`. */
function decimalSeconds(ms: number): string {
  return `${integer(Math.ceil(ms)) / 1000}`
}
