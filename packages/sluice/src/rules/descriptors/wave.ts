import type { Policy } from '../../policy.ts'
import type { CurrentLimit } from './rate-limit.ts'
import { invalid } from './request.ts'

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

/** The hits of one call to the limiter, each in a lane of its own. They are few: a search is faster than a Map. */
export type Wave = readonly Hit[]

export function hitIn(wave: Wave, lane: string): Hit | undefined {
  for (const hit of wave) if (hit.lane === lane) return hit
  return undefined
}

/**
 * As few calls as can be, since a lane can be asked once in a call: nearly always one. The same limit asked twice for
 * the same key is one hit of both costs.
 */
export function wavesOf(hits: readonly Hit[]): Wave[] {
  if (hits.length === 1) return [hits]
  const waves: Hit[][] = []
  for (const hit of hits) addTo(waves, hit)
  return waves
}

function addTo(waves: Hit[][], hit: Hit): void {
  let free: Hit[] | undefined
  for (const wave of waves) {
    const place = wave.findIndex(({ lane }) => lane === hit.lane)
    if (place < 0) free ??= wave
    else if (isSame(wave[place]!, hit)) {
      wave[place] = merged(wave[place]!, hit)
      return
    }
  }
  if (free === undefined) waves.push([hit])
  else free.push(hit)
}

function isSame(a: Hit, b: Hit): boolean {
  if (a.policy !== b.policy || a.key.length !== b.key.length) return false
  return a.key.every((part, i) => part === b.key[i])
}

function merged(a: Hit, b: Hit): Hit {
  const cost = a.cost + b.cost
  if (!Number.isSafeInteger(cost)) throw invalid('hits that add up to no more than 2^53', cost)
  return { ...a, cost, descriptors: [...a.descriptors, ...b.descriptors] }
}
