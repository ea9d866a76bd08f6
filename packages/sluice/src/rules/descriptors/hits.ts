import type { DescriptorHit } from './hit-batch.ts'
import { type Match, metricName } from './matching.ts'
import type { RateLimit } from './rate-limit.ts'
import { hitsOf, type RlsRequest } from './request.ts'
import { type CounterRef, overrideCounter } from './rule-counters.ts'

/** Everything that a request is charged for, descriptor by descriptor. */
export function hitsFor(
  request: RlsRequest,
  matches: readonly Match[],
  refs: ReadonlyMap<RateLimit, CounterRef>,
): DescriptorHit[] {
  const hits: DescriptorHit[] = []
  for (const [index, match] of matches.entries()) {
    const { descriptor, limits, rules } = match
    const cost = hitsOf(descriptor, request)
    for (const limit of limits) {
      const { policy, current } = limit
      if (policy === undefined || current === undefined) continue
      const { counter, nth } = refs.get(limit) ?? overrideCounter(descriptor.entries)
      const rule = rules.at(-1)
      hits.push({
        counter,
        key: keyOf(request.domain, match, nth),
        policy,
        cost,
        effect: rule?.shadow === true ? 'shadow' : rule?.quota === true ? 'quota' : 'refuses',
        overdraw: rule?.overdraw,
        current,
        rule: metricName(request.domain, match),
        path: rule?.path,
        descriptors: [index],
      })
    }
  }
  return hits
}

/** The first value comes first, so that a cluster keeps all counts of one caller together. */
function keyOf(domain: string, match: Match, nth: number): string[] {
  const { entries } = match.descriptor
  const parts = [countedValue(match, 0), domain, entries[0]!.key]
  for (let i = 1; i < entries.length; i++) parts.push(entries[i]!.key, countedValue(match, i))
  if (nth > 0) parts.push(`${nth}`)
  return parts
}

function countedValue({ rules, descriptor }: Match, i: number): string {
  const rule = rules[i]
  return rule?.shared ? rule.value : descriptor.entries[i]!.value
}
