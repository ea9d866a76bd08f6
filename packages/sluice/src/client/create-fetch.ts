import { systemClock } from '../clock.ts'
import { createLimiter } from '../limiter/create.ts'
import { AdaptiveThrottle } from './adaptive-throttle.ts'
import { FetchCall, type FetchContext } from './fetch-call.ts'
import { type FetchOptions, fetchSettings } from './fetch-options.ts'
import { RequestQueues } from './request-queues.ts'
import { RetryBudget } from './retry-rules.ts'

const MAX_THROTTLES = 1000

/**
 * A drop-in for `fetch` that keeps to limits: those that the server reports, in any dialect, and one of your own. Calls wait
 * so that they are not refused. A call that is refused all the same is sent again when the server allows it, never before.
 */
export function createFetch(given: FetchOptions = {}): typeof fetch {
  const settings = fetchSettings(given)
  const { options } = settings
  const { clock = systemClock, random = Math.random, policy, store, name = 'fetch' } = options
  const throttles = new Map<string, AdaptiveThrottle>()
  const { k } = settings
  const throttleOf = (origin: string): AdaptiveThrottle | undefined => {
    if (k === undefined) return undefined
    const throttle = throttles.get(origin) ?? new AdaptiveThrottle(k, random)
    throttles.set(origin, throttle)
    if (throttles.size > MAX_THROTTLES) throttles.delete(throttles.keys().next().value!)
    return throttle
  }
  const context: FetchContext = {
    ...{ options, settings, clock, random, throttleOf },
    // Looked up at every call, because tests and instrumentation replace the global.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    limiter: policy === undefined ? undefined : createLimiter(policy, { name, clock, ...(store && { store }) }),
    queues: new RequestQueues(clock),
    budget: new RetryBudget(),
  }
  return (input, init) => new FetchCall(context, input, init).run()
}
