import { after, type Clock } from '../../clock.ts'
import type { LimitState } from '../../decision.ts'
import type { Rate } from '../../duration.ts'
import type { Policy } from '../../policy.ts'

/**
 * How long an admitted request must wait for its turn, as with `limit_req … delay=` of nginx. A request may start when
 * the bucket, which drains at its rate, holds no more than the request's own cost and `delay`.
 */
export function delayMs(policy: Policy, { resetAfterMs }: LimitState, cost: number, delay: number | 'all'): number {
  const rate = rateOf(policy)
  if (rate === undefined || cost === 0) return 0
  const free = delay === 'all' ? cost : cost + delay
  return Math.max(0, resetAfterMs - (free * rate.periodMs) / rate.count)
}

function rateOf(policy: Policy): Rate | undefined {
  switch (policy.kind) {
    case 'tokenBucket':
      return policy.refill
    case 'leakyBucket':
      return policy.leak
    case 'gcra':
      return policy.rate
    default:
      return undefined
  }
}

/** Resolves to true after `ms`, or to false as soon as the client leaves. */
export function inTurn(clock: Clock, ms: number, onClose: (callback: () => void) => () => void): Promise<boolean> {
  return new Promise(resolve => {
    const cancel = after(clock, ms, () => {
      forget()
      resolve(true)
    })
    const forget = onClose(() => {
      cancel()
      resolve(false)
    })
  })
}
