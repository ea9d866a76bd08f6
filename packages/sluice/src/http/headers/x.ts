import { TICKS_PER_MS, toTicks } from '../../clock.ts'
import type { Description, Shown } from './description.ts'
import { TICKS_PER_SECOND } from './pace.ts'
import { resetTick } from './seconds.ts'
import { integer } from './structured.ts'

/** What most services sent before there was a draft: the reset as whole epoch seconds. */
export function writeX({ pace }: Description, state: Shown, at: number, out: string[]): void {
  writeCounts(state, out)
  const reset = resetTick(pace, state, at)
  if (reset !== undefined) out.push('X-RateLimit-Reset', `${integer(Math.ceil(reset / TICKS_PER_SECOND))}`)
}

/** Discord's flavour: the reset to the millisecond, also as a wait, and the id by which callers know a shared limit. */
export function writeXBucket({ pace, bucket }: Description, state: Shown, at: number, out: string[]): void {
  writeCounts(state, out)
  const reset = resetTick(pace, state, at)
  if (reset !== undefined) {
    out.push('X-RateLimit-Reset', decimalSeconds(reset), 'X-RateLimit-Reset-After', decimalSeconds(reset - toTicks(at)))
  }
  if (bucket !== '') out.push('X-RateLimit-Bucket', bucket)
}

function writeCounts(state: Shown, out: string[]): void {
  out.push('X-RateLimit-Limit', `${integer(state.limit)}`, 'X-RateLimit-Remaining', `${integer(state.remaining)}`)
}

/** To the millisecond, rounded up: `1470173023.123`. */
function decimalSeconds(ticks: number): string {
  return `${integer(Math.ceil(ticks / TICKS_PER_MS)) / 1000}`
}
