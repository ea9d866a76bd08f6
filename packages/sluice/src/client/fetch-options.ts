import { checkFunction, checkOptions } from '../check-options.ts'
import type { Clock } from '../clock.ts'
import { type Duration, parseDuration } from '../duration.ts'
import { expected } from '../errors.ts'
import type { Layers } from '../limiter/layers.ts'
import type { LimiterOptions } from '../limiter/limiter.ts'
import type { PolicyLike } from '../policy.ts'
import type { AdaptiveThrottleOptions } from './adaptive-throttle.ts'
import type { BackoffOptions } from './backoff.ts'

/** What `onEvent` receives. */
export type FetchEvent =
  /** A call waits: for its own policy, for the server's limit, or before a retry. */
  | {
      readonly type: 'wait'
      readonly origin: string
      readonly ms: number
      readonly reason: 'policy' | 'limit' | 'retry'
    }
  /** The server's limit refused a request. The queue pauses until `retryAt`, in epoch milliseconds. */
  | {
      readonly type: 'refused'
      readonly origin: string
      readonly status: number
      readonly retryAt: number
      readonly secondary: boolean
    }
  /** A request is sent again. `status` is 0 if there was no answer. */
  | { readonly type: 'retry'; readonly origin: string; readonly attempt: number; readonly status: number }
  /** A request failed and will not be sent again. `because` says why. */
  | {
      readonly type: 'gave-up'
      readonly origin: string
      readonly status: number
      readonly because: 'budget' | 'retries' | 'wait' | 'body'
    }

export interface FetchOptions {
  /** `globalThis.fetch` by default. */
  fetch?: typeof fetch
  /** A limit of your own that every request keeps to before it is sent, or several rates: `['5/s', '100/m']`. */
  policy?: PolicyLike | Layers
  /** Shares `policy` with other processes: `redisStore(client)`. */
  store?: NonNullable<LimiterOptions['store']>
  /** Keeps this policy's state apart from that of others in the same store. `'fetch'` by default. */
  name?: string
  /** What the policy counts by. The origin by default. */
  key?: (url: URL) => string
  /** The longest a call may wait in all, `'1m'` by default. A call that would wait longer fails at once and says how long. */
  maxWait?: Duration
  /** The longest a call may take until its answer begins, waits and retries included. Unbounded by default. */
  deadline?: Duration
  /** 3 by default. */
  maxRetries?: number
  /** How to wait if the server has not said how long. Full jitter by default. */
  backoff?: Omit<BackoffOptions, 'previousMs' | 'random'>
  /** Stops sending most calls to a server that refuses most of them. Off by default. */
  adaptiveThrottle?: boolean | AdaptiveThrottleOptions
  /** The unit of a reset below 1,000,000,000; seconds by default. */
  resetUnit?: 's' | 'ms'
  /** For a spinner: called with every wait. */
  onWait?: (ms: number, origin: string) => void
  onEvent?: (event: FetchEvent) => void
  clock?: Clock
  /** Uniform in [0, 1). */
  random?: () => number
}

const KNOWN: readonly (keyof FetchOptions)[] = [
  ...(['fetch', 'policy', 'store', 'name', 'key', 'maxWait', 'deadline', 'maxRetries', 'backoff'] as const),
  ...(['adaptiveThrottle', 'resetUnit', 'onWait', 'onEvent', 'clock', 'random'] as const),
]

export interface FetchSettings {
  /** As given, without those that are undefined. */
  readonly options: FetchOptions
  readonly maxWaitMs: number
  readonly deadlineMs: number
  readonly maxRetries: number
  /** Undefined: off. */
  readonly k: number | undefined
}

/** Validates the options. */
export function fetchSettings(given: FetchOptions): FetchSettings {
  const options = checkOptions('createFetch', given, KNOWN)
  for (const name of ['fetch', 'key', 'onWait', 'onEvent', 'random'] as const) {
    if (options[name] !== undefined) checkFunction(name, options[name])
  }
  const { maxRetries = 3, adaptiveThrottle = false, policy, resetUnit = 's' } = options
  if (!Number.isSafeInteger(maxRetries) || maxRetries < 0)
    throw expected('SLUICE_BAD_OPTION', 'maxRetries as 0, 1, 2 …', maxRetries)
  if (resetUnit !== 's' && resetUnit !== 'ms')
    throw expected('SLUICE_BAD_OPTION', "resetUnit as 's' or 'ms'", resetUnit)
  for (const name of ['store', 'key', 'name'] as const) {
    if (policy === undefined && options[name] !== undefined) {
      throw expected('SLUICE_BAD_OPTION', `a policy beside ${name}`, policy, `${name} has no effect without one`)
    }
  }
  if (options.backoff !== undefined) checkOptions('createFetch backoff', options.backoff, ['base', 'cap', 'jitter'])
  return {
    options,
    maxWaitMs: parseDuration(options.maxWait ?? '1m', 'maxWait'),
    deadlineMs: options.deadline === undefined ? Infinity : parseDuration(options.deadline, 'deadline', { min: 1 }),
    maxRetries,
    k: adaptiveThrottle === false ? undefined : throttleFactor(adaptiveThrottle),
  }
}

function throttleFactor(given: true | AdaptiveThrottleOptions): number {
  const { k = 2 } = given === true ? {} : checkOptions('createFetch adaptiveThrottle', given, ['k'])
  if (!(k >= 1)) throw expected('SLUICE_BAD_OPTION', 'adaptiveThrottle.k as a number of 1 or more', k)
  return k
}
