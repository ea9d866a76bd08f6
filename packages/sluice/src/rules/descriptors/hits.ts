import type { Policy } from '../../policy.ts'
import { overrideSeat, type Seat } from './lanes.ts'
import { type Match, metricName } from './matching.ts'
import type { CurrentLimit, RateLimit } from './rate-limit.ts'
import { hitsOf, invalid, type RlsRequest } from './request.ts'

/** One limit that a request is charged for. */
export interface Hit {
  readonly lane: string
  readonly key: readonly string[]
  readonly policy: Policy
  readonly cost: number
  /** What it does where it is over: a quota refuses if all quotas of the request are, a shadow never. */
  readonly effect: 'refuses' | 'quota' | 'shadow'
  readonly current: CurrentLimit
  readonly rule: string
  /** The places of the descriptors that it answers. */
  readonly descriptors: readonly number[]
}

/** The hits of one call to the limiter, by lane: each stands for one charge there. */
export type Wave = Map<string, Hit>

/** All that a request is charged for, descriptor by descriptor. */
export function hitsFor(request: RlsRequest, matches: readonly Match[], seats: ReadonlyMap<RateLimit, Seat>): Hit[] {
  const hits: Hit[] = []
  for (const [place, match] of matches.entries()) {
    const { descriptor, limits, rules } = match
    const cost = hitsOf(descriptor, request)
    for (const limit of limits) {
      const { policy, current } = limit
      if (policy === undefined || current === undefined) continue
      const { lane, nth } = seats.get(limit) ?? overrideSeat(descriptor.entries)
      const rule = rules.at(-1)
      hits.push({
        lane,
        key: keyOf(request.domain, match, nth),
        policy,
        cost,
        effect: rule?.shadow === true ? 'shadow' : rule?.quota === true ? 'quota' : 'refuses',
        current,
        rule: metricName(request.domain, match),
        descriptors: [place],
      })
    }
  }
  return hits
}

/**
 * As few calls as can be, since a lane can be asked once in a call: nearly always one. The same limit asked twice for
 * the same key is one hit of both costs.
 */
export function wavesOf(hits: readonly Hit[]): Wave[] {
  const first: Wave = new Map()
  const waves = hits.length === 0 ? [] : [first]
  for (const hit of hits) {
    if (!first.has(hit.lane)) first.set(hit.lane, hit)
    else addToOthers(waves, hit)
  }
  return waves
}

function addToOthers(waves: Wave[], hit: Hit): void {
  const { lane } = hit
  const twin = waves.find(wave => isSame(wave.get(lane), hit))
  const free = waves.find(wave => !wave.has(lane))
  if (twin !== undefined) twin.set(lane, merged(twin.get(lane)!, hit))
  else if (free !== undefined) free.set(lane, hit)
  else waves.push(new Map([[lane, hit]]))
}

/** The first value comes first: what is counted for one caller stands together in a cluster. */
function keyOf(domain: string, { rules, descriptor }: Match, nth: number): string[] {
  const { entries } = descriptor
  const value = (i: number) => (rules[i]?.shared ? rules[i].value : entries[i]!.value)
  const parts = [value(0), domain, entries[0]!.key]
  for (let i = 1; i < entries.length; i++) parts.push(entries[i]!.key, value(i))
  if (nth > 0) parts.push(`${nth}`)
  return parts
}

function isSame(a: Hit | undefined, b: Hit): boolean {
  if (a === undefined || a.policy !== b.policy || a.key.length !== b.key.length) return false
  return a.key.every((part, i) => part === b.key[i])
}

function merged(a: Hit, b: Hit): Hit {
  const cost = a.cost + b.cost
  if (!Number.isSafeInteger(cost)) throw invalid('hits that add up to no more than 2^53', cost)
  return { ...a, cost, descriptors: [...a.descriptors, ...b.descriptors] }
}
