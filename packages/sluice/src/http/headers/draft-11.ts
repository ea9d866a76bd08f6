import type { Description, Shown } from './description.ts'
import type { Pace } from './pace.ts'
import { effectiveSeconds } from './seconds.ts'
import { integer, isBase64 } from './structured.ts'

/** The fields of draft-ietf-httpapi-ratelimit-headers from 08 to 11: lists with one item for each limit. */
export function writeDraft11(
  descriptions: readonly Description[],
  states: readonly Shown[],
  at: number,
  out: string[],
  partitions: readonly string[] | undefined,
): void {
  let limits = ''
  let policies = ''
  for (let i = 0; i < states.length; i++) {
    const state = states[i]!
    if (state.remaining === Infinity) continue
    const description = descriptions[i]!
    const partition = partitions === undefined ? '' : partitionParameter(partitions[i])
    const separator = limits === '' ? '' : ', '
    limits += separator + limitItem(description.remainingItem, description.pace, state, at) + partition
    policies += separator + description.policyItem + partition
  }
  if (limits !== '') out.push('RateLimit', limits, 'RateLimit-Policy', policies)
}

/** One item of `RateLimit`, from what stands before its first number. */
export function limitItem(head: string, pace: Pace, state: Shown, at: number): string {
  const remaining = integer(state.remaining)
  const seconds = effectiveSeconds(pace, state, remaining, at)
  const reset = seconds === undefined ? '' : `;t=${seconds}`
  return head + remaining + reset
}

function partitionParameter(base64: string | undefined): string {
  return base64 !== undefined && isBase64(base64) ? `;pk=:${base64}:` : ''
}
