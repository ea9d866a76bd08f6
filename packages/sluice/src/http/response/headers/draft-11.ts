import type { Description, Shown } from './description.ts'
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
    limits += separator + limitItem(description, state, at) + partition
    policies += separator + description.policyItem + partition
  }
  if (limits !== '') out.push('RateLimit', limits, 'RateLimit-Policy', policies)
}

function limitItem({ remainingItem, pace }: Description, state: Shown, at: number): string {
  const remaining = integer(state.remaining)
  const seconds = effectiveSeconds(pace, state, at)
  return remainingItem + remaining + (seconds === undefined ? '' : `;t=${seconds}`)
}

function partitionParameter(base64: string | undefined): string {
  return base64 !== undefined && isBase64(base64) ? `;pk=:${base64}:` : ''
}
