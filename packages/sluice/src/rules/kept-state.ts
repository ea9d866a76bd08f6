import type { Policy } from '../policy.ts'

/**
 * Whether state survives a change from one policy to another under the same name. It does if only the number or rate
 * changes, and between the three kinds of bucket. Another algorithm or another window starts with none. The stores
 * decide this by where they put the state; this function predicts it.
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
