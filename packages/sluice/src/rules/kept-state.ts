import type { Policy } from '../policy.ts'

/**
 * Does what callers have used outlive a change from one policy to another under the same name? A changed number or rate
 * keeps it; the buckets are one algorithm in three vocabularies and keep it among each other; another algorithm or
 * another window has nothing to keep. The stores decide it, by where they put the state; this says the same beforehand.
 */
export function keepsState(before: Policy, after: Policy): boolean {
  return shapeOf(before) === shapeOf(after)
}

function shapeOf(policy: Policy): string {
  switch (policy.kind) {
    case 'tokenBucket':
    case 'leakyBucket':
    case 'gcra':
      return 'bucket'
    case 'fixedWindow':
      return `fixed ${policy.windowMs} ${policy.align} ${policy.timeZone ?? ''}`
    case 'slidingWindow':
      return `sliding ${policy.windowMs} ${policy.buckets}`
    case 'slidingLog':
      return `log ${policy.windowMs}`
    case 'concurrency':
      return 'slots'
  }
}
