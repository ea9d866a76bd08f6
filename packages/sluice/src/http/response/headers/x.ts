import type { Description, Shown } from './description.ts'
import type { Pace } from './pace.ts'
import { integer } from './structured.ts'

/** What most services sent before there was a draft: the reset as whole epoch seconds. */
export function writeX({ pace }: Description, state: Shown, at: number, out: string[]): void {
  writeCounts(state, out)
  if (resets(pace, state)) out.push('X-RateLimit-Reset', `${integer(Math.ceil(resetMs(state, at) / 1000))}`)
}

/** Discord's flavour: the reset to the millisecond, also as a wait, and the id by which callers know a shared limit. */
export function writeXBucket({ pace, bucket }: Description, state: Shown, at: number, out: string[]): void {
  writeCounts(state, out)
  if (resets(pace, state)) {
    const waitMs = state.allowed ? state.resetAfterMs : state.retryAfterMs
    out.push('X-RateLimit-Reset', decimalSeconds(resetMs(state, at)), 'X-RateLimit-Reset-After', decimalSeconds(waitMs))
  }
  if (bucket !== '') out.push('X-RateLimit-Bucket', bucket)
}

function writeCounts(state: Shown, out: string[]): void {
  out.push('X-RateLimit-Limit', `${integer(state.limit)}`, 'X-RateLimit-Remaining', `${integer(state.remaining)}`)
}

/** Is there a time to tell? Slots come free when somebody releases them, a limit of 0 never. */
function resets(pace: Pace, { allowed, limit, retryAfterMs }: Shown): boolean {
  return allowed ? pace.frees !== 'on release' && limit !== 0 : retryAfterMs !== Infinity
}

/** These families have one time for all: when a refused request passes, or else when the limit is full again. */
function resetMs({ allowed, resetAt, retryAfterMs }: Shown, at: number): number {
  return allowed ? resetAt : at + retryAfterMs
}

/** To the millisecond, rounded up: `1470173023.123`. */
function decimalSeconds(ms: number): string {
  return `${integer(Math.ceil(ms)) / 1000}`
}
