import { checkOptions } from '../check-options.ts'
import { type Duration, parseDuration } from '../duration.ts'
import { expected } from '../errors.ts'

export interface BackoffOptions {
  /** The first delay is at most this long; each further one at most twice the one before. 250 ms by default. */
  base?: Duration
  /** No delay is longer. 30 s by default. */
  cap?: Duration
  /** `'full'` spreads best and is the default; `'equal'` keeps half of the delay; `'decorrelated'` grows from `previousMs`. */
  jitter?: 'full' | 'equal' | 'decorrelated'
  /** For `'decorrelated'`: the delay before this one. */
  previousMs?: number
  /** Uniform in [0, 1). */
  random?: () => number
}

/** Milliseconds to wait before retry number `attempt`, counted from 0, if the server has not said how long. */
export function backoff(attempt: number, options: BackoffOptions = {}): number {
  if (!Number.isSafeInteger(attempt) || attempt < 0)
    throw expected('SLUICE_BAD_OPTION', 'attempt as 0, 1, 2 …', attempt)
  checkOptions('backoff', options, ['base', 'cap', 'jitter', 'previousMs', 'random'])
  const base = parseDuration(options.base ?? '250ms', 'base')
  const cap = parseDuration(options.cap ?? '30s', 'cap')
  const random = (options.random ?? Math.random)()
  const highest = Math.min(cap, base * 2 ** Math.min(attempt, 1000))
  switch (options.jitter ?? 'full') {
    case 'full':
      return random * highest
    case 'equal':
      return highest / 2 + (random * highest) / 2
    case 'decorrelated': {
      const previous = Math.max(base, options.previousMs ?? base)
      return Math.min(cap, base + random * (3 * previous - base))
    }
    default:
      throw expected('SLUICE_BAD_OPTION', "jitter as 'full', 'equal' or 'decorrelated'", options.jitter)
  }
}
