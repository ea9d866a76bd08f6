import type { Policy } from '../../policy.ts'
import type { CurrentLimit } from './rate-limit.ts'
import { invalid } from './request.ts'

/** One limit that a request is charged for. */
export interface DescriptorHit {
  readonly counter: string
  readonly key: readonly string[]
  readonly policy: Policy
  readonly cost: number
  /** What it does where it is over: a quota refuses if all quotas of the request are, a shadow never. */
  readonly effect: 'refuses' | 'quota' | 'shadow'
  /** Counted even where it goes over: its cost is known only when the work is done. */
  readonly overdraw: boolean
  readonly current: CurrentLimit
  readonly rule: string
  /** Of the rule, as its file has it; an override has none. */
  readonly path: readonly string[] | undefined
  /** The places of the descriptors that it answers. */
  readonly descriptors: readonly number[]
}

/** The hits of one call to the limiter, each in a counter of its own. They are few: a search is faster than a Map. */
export type HitBatch = readonly DescriptorHit[]

export function hitIn(batch: HitBatch, counter: string): DescriptorHit | undefined {
  for (const hit of batch) if (hit.counter === counter) return hit
  return undefined
}

/**
 * As few calls as can be, since a counter can be asked once in a call: nearly always one. The same limit asked twice for
 * the same key is one hit of both costs.
 */
export function batchesOf(hits: readonly DescriptorHit[]): HitBatch[] {
  if (hits.length === 1) return [hits]
  const batches: DescriptorHit[][] = []
  for (const hit of hits) addTo(batches, hit)
  return batches
}

function addTo(batches: DescriptorHit[][], hit: DescriptorHit): void {
  let free: DescriptorHit[] | undefined
  for (const batch of batches) {
    const index = batch.findIndex(({ counter }) => counter === hit.counter)
    if (index < 0) free ??= batch
    else if (isSame(batch[index]!, hit)) {
      batch[index] = merged(batch[index]!, hit)
      return
    }
  }
  if (free === undefined) batches.push([hit])
  else free.push(hit)
}

function isSame(a: DescriptorHit, b: DescriptorHit): boolean {
  if (a.policy !== b.policy || a.key.length !== b.key.length) return false
  return a.key.every((part, i) => part === b.key[i])
}

function merged(a: DescriptorHit, b: DescriptorHit): DescriptorHit {
  const cost = a.cost + b.cost
  if (!Number.isSafeInteger(cost)) throw invalid('hits that add up to no more than 2^53', cost)
  return { ...a, cost, descriptors: [...a.descriptors, ...b.descriptors] }
}
