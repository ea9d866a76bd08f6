import { after, type Clock } from '../../clock.ts'
import type { LimitState } from '../../decision.ts'
import type { Rate } from '../../duration.ts'
import type { Policy } from '../../policy.ts'

/**
 * How long a request that was let in must wait for its turn, as nginx has it: the bucket drains at its rate, the request
 * itself and `delay` more before it need not wait, and all that came before those must have drained.
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

/** Resolves to true when the time has come, to false when the client has left before. */
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
