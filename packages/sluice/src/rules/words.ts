import type { Rate } from '../duration.ts'
import { limitOfPolicy, type Policy } from '../policy.ts'

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** `1m`, `36h`, `250ms`. */
function durationWords(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, unitMs]) => ms !== 0 && ms % unitMs === 0) ?? ['ms', 1]
  return `${ms / unitMs}${unit}`
}

/** A policy in words: `100 in 1m (sliding window)`. */
export function policyWords(policy: Policy): string {
  const limit = limitOfPolicy(policy)
  switch (policy.kind) {
    case 'tokenBucket':
      return `${limit} at once, ${rateWords(policy.refill)} (token bucket)`
    case 'leakyBucket':
      return `${limit} in the queue, ${rateWords(policy.leak)} (leaky bucket)`
    case 'gcra':
      return `${limit} at once, ${rateWords(policy.rate)} (GCRA)`
    case 'slidingWindow':
      return `${limit} in ${durationWords(policy.windowMs)} (sliding window${partsWords(policy.buckets)})`
    case 'slidingLog':
      return `${limit} in any ${durationWords(policy.windowMs)} (sliding log)`
    case 'fixedWindow':
      if (policy.windowMs === 0) return `${limit} a calendar ${policy.align} in ${policy.timeZone} (fixed window)`
      return `${limit} in ${durationWords(policy.windowMs)} (fixed window${alignWords[policy.align]})`
    case 'concurrency':
      return `${limit} under way at once, each for up to ${durationWords(policy.ttlMs)} (concurrency)`
  }
}

const alignWords: Record<string, string> = { epoch: '', key: ' of its own for each key', first: ' from first use' }

function rateWords({ count, periodMs }: Rate): string {
  return `then ${count} every ${durationWords(periodMs)}`
}

function partsWords(buckets: number): string {
  return buckets === 1 ? '' : ` of ${buckets} parts`
}
