import type { Description, Shown } from './description.ts'
import { effectiveSeconds } from './seconds.ts'
import { integer } from './structured.ts'

// Both drafts show one limit: the binding one. Both require the reset. If no time would be true, it is left out anyway,
// although a strict reader then ignores the whole field.

/** Draft 7: one dictionary. */
export function writeDraft7({ pace }: Description, state: Shown, at: number, out: string[]): void {
  const remaining = integer(state.remaining)
  const seconds = effectiveSeconds(pace, state, at)
  const reset = seconds === undefined ? '' : `, reset=${seconds}`
  out.push('RateLimit', `limit=${integer(state.limit)}, remaining=${remaining}${reset}`)
}

/** Draft 6 and before: a field for each number. */
export function writeDraft6({ pace }: Description, state: Shown, at: number, out: string[]): void {
  const remaining = integer(state.remaining)
  const seconds = effectiveSeconds(pace, state, at)
  out.push('RateLimit-Limit', `${integer(state.limit)}`, 'RateLimit-Remaining', `${remaining}`)
  if (seconds !== undefined) out.push('RateLimit-Reset', `${seconds}`)
}

/** The same in both drafts. */
export function writeOlderPolicy({ olderPolicy }: Description, out: string[]): void {
  if (olderPolicy !== '') out.push('RateLimit-Policy', olderPolicy)
}
