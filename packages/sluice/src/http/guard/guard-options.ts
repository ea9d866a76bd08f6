import type { Clock } from '../../clock.ts'
import type { Decision } from '../../decision.ts'
import { expected } from '../../errors.ts'
import type { NamedLimits } from '../../limiter/limiter.ts'
import { ip } from '../request/identity.ts'
import type { RequestView } from '../request/request-facts.ts'
import { SITE_OPTIONS, type SiteOptions } from '../request/request-reading.ts'
import type { RefusalParts } from '../response/changed-refusal.ts'
import type { HeaderFamily } from '../response/headers.ts'
import type { GuardEvent } from './guard-event.ts'
import { checkGuardLimit, GUARD_LIMIT_OPTIONS, type GuardLimit } from './guard-limit.ts'
import type { PreflightOption } from './preflights.ts'

/** What every adapter's `rateLimit` takes. */
export type GuardOptions<R = RequestView> = GuardSettings<R> & (OneLimit<R> | SeveralLimits<R>)

/** Short for one limit named `default`, by client address unless `key` says otherwise. */
export type OneLimit<R = RequestView> = GuardLimit<R> & { limits?: never }

export interface SeveralLimits<R = RequestView> {
  /** All of them or none of them. */
  limits: Readonly<Record<string, GuardLimit<R>>>
  policy?: never
}

export interface GuardSettings<R = RequestView> extends SiteOptions {
  /** Tells this guard's state from that of others in the same store. `'default'` by default. */
  name?: string
  prefix?: string
  /** `memoryStore()` by default. */
  store?: NonNullable<NamedLimits<never>['store']>
  /** For the default store; a store passed in keeps its own. */
  clock?: Clock
  /** `'draft-11'` by default, several at once, or false for none. */
  headers?: HeaderFamily | readonly HeaderFamily[] | false
  /** Requests that no limit concerns. */
  skip?: (r: R) => boolean
  /** Addresses (ranges such as `'10.0.0.0/8'`) that no limit concerns. */
  allow?: readonly string[]
  /** Addresses that are not served at all: 403. They win over `allow`. */
  deny?: readonly string[]
  /** How many CORS preflights an address may send, `'600/m'` by default; `'count'` treats them as any request. */
  preflight?: PreflightOption
  /** Changes the answer to a refused request: what it returns stands in place of what it was handed. */
  refuse?: (refusal: RefusalParts, decision: Decision, r: R) => Partial<RefusalParts> | undefined
  /** Called with every decision, refused or not. */
  onDecision?: (decision: Decision, r: R) => void
  onEvent?: (event: GuardEvent) => void
}

const SETTINGS: readonly string[] = [
  ...['name', 'prefix', 'store', 'clock', 'headers', 'skip', 'allow', 'deny', 'preflight'],
  ...['refuse', 'onDecision', 'onEvent'],
  ...SITE_OPTIONS,
]
const FUNCTIONS = ['skip', 'refuse', 'onDecision', 'onEvent'] as const

/** The limits that options mean, each checked; the limiter checks what is its own. */
export function limitsOf(options: GuardOptions): Readonly<Record<string, GuardLimit>> {
  if (typeof options !== 'object' || options === null) {
    throw expected('SLUICE_BAD_OPTION', "rateLimit({ policy: '100/m' }) or rateLimit({ limits: { … } })", options)
  }
  if (options.limits === undefined && options.policy === undefined) {
    throw expected('SLUICE_BAD_OPTION', "a policy such as '100/m', or limits", options)
  }
  const known = options.limits === undefined ? [...SETTINGS, ...GUARD_LIMIT_OPTIONS] : [...SETTINGS, 'limits']
  for (const option of Object.keys(options)) {
    if (!known.includes(option)) throw expected('SLUICE_BAD_OPTION', `options ${known.join(', ')}`, option)
  }
  for (const option of FUNCTIONS) {
    const value = options[option]
    if (value !== undefined && typeof value !== 'function') {
      throw expected('SLUICE_BAD_OPTION', `${option} as a function`, value)
    }
  }
  return checkedLimits(options.limits ?? { default: { key: ip(), ...oneLimit(options) } })
}

export function checkedLimits(limits: Readonly<Record<string, GuardLimit>>): Readonly<Record<string, GuardLimit>> {
  if (typeof limits !== 'object' || limits === null || Array.isArray(limits) || Object.keys(limits).length === 0) {
    throw expected('SLUICE_BAD_OPTION', 'limits as an object of at least one named limit', limits)
  }
  for (const [name, limit] of Object.entries(limits)) checkGuardLimit(name, limit)
  return limits
}

/** The limit that stands among the options themselves. */
export function oneLimit(options: object): GuardLimit {
  return Object.fromEntries(
    Object.entries(options).filter(([option]) => GUARD_LIMIT_OPTIONS.includes(option)),
  ) as unknown as GuardLimit
}
