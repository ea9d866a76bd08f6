import type { Policy } from '../../policy.ts'
import type { CurrentLimit } from './rate-limit.ts'
import { invalid } from './request.ts'

/** One limit that a request is charged for. */
export interface DescriptorHit {
  readonly counter: string
  readonly key: readonly string[]
  readonly policy: Policy
  readonly cost: number
  /**
   * What happens if it is exceeded: a shadow never refuses; a quota refuses only if all quotas of the request are
   * exceeded.
   */
  readonly effect: 'refuses' | 'quota' | 'shadow'
  /**
   * Counted even if it exceeds the limit, because its cost is known only when the work is done. Undefined if its rule
   * does not say.
   */
  readonly overdraw: boolean | undefined
  readonly current: CurrentLimit
  readonly rule: string
  /** The rule's name in its file; an override has none. */
  readonly path: readonly string[] | undefined
  /** The indexes of the descriptors that it answers. */
  readonly descriptors: readonly number[]
}

/**
 * The hits of one call to the limiter, each in a counter of its own. There are few, so a search is faster than a Map.
 */
export type HitBatch = readonly DescriptorHit[]

export function hitIn(batch: HitBatch, counter: string): DescriptorHit | undefined {
  for (const hit of batch) if (hit.counter === counter) return hit
  return undefined
}

/**
 * Makes as few calls as possible, nearly always one: a call can ask a counter only once. Two hits on the same limit and
 * key become one hit of both costs.
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
