import { checkFunction, checkOptions, checkSyncFunction } from '../../check-options.ts'
import type { Clock } from '../../clock.ts'
import type { Decision } from '../../decision.ts'
import { type Duration, parseDuration } from '../../duration.ts'
import { expected } from '../../errors.ts'
import type { LimiterEvent, NamedLimits } from '../../limiter/limiter.ts'
import { ip } from '../request/identity.ts'
import type { RequestView } from '../request/request-facts.ts'
import { SITE_OPTIONS, type SiteOptions } from '../request/request-reading.ts'
import type { RefusalParts } from '../response/changed-refusal.ts'
import type { HeaderFamily } from '../response/headers.ts'
import {
  checkedLimit,
  GUARD_LIMIT_OPTIONS,
  type GuardLimit,
  type GuardLimits,
  type LayeredGuardLimit,
} from './guard-limit.ts'
import type { PreflightOption } from './preflights.ts'

/** What every adapter's `rateLimit` takes. */
export type GuardOptions<R = RequestView> = GuardSettings<R> & (OneLimit<R> | SeveralLimits<R>)

/** Short for one limit named `default`. Without `key` it counts by client address. */
export type OneLimit<R = RequestView> = (GuardLimit<R> | LayeredGuardLimit<R>) & { limits?: never }

export interface SeveralLimits<R = RequestView> {
  /** A request is charged to all limits that apply, or to none. */
  limits: GuardLimits<R>
  policy?: never
}

export interface GuardSettings<R = RequestView> extends SiteOptions {
  /** Separates this guard's state from that of others in the same store. `'default'` by default. */
  name?: string
  prefix?: string
  /** `memoryStore()` by default. */
  store?: NonNullable<NamedLimits<never>['store']>
  /** The clock of the default store. A store passed in keeps its own. */
  clock?: Clock
  /** The header families to send: one, several, or false for none. `'draft-11'` by default. */
  headers?: HeaderFamily | readonly HeaderFamily[] | false
  /**
   * A secret of 16 characters or more. Fields then carry `pk`, a keyed hash of the key by which a client can tell its
   * keys apart.
   */
  partitionSecret?: string
  /** Returns true for requests to which no limit applies. They are not counted. */
  skip?: (r: R) => boolean | Promise<boolean>
  /** How long an async `policy`, `key`, `cost`, `when` or `skip` may take; later it has failed. `'1s'` by default. */
  lookupDeadline?: Duration
  /** Addresses and ranges (`'10.0.0.0/8'`) to which no limit applies. */
  allow?: readonly string[]
  /** Addresses and ranges that are refused with 403, even if they are also in `allow`. */
  deny?: readonly string[]
  /** Adds up to this share of the wait to `Retry-After`: with 0.1, a minute becomes 60 to 66 seconds. 0 by default. */
  retryAfterJitter?: number
  /** How many CORS preflights an address may send, `'600/m'` by default; `'count'` treats them as any request. */
  preflight?: PreflightOption
  /** Changes the response to a refused request. The parts that it returns replace those that it receives. */
  refuse?: (refusal: RefusalParts, decision: Decision, r: R) => Partial<RefusalParts> | undefined
  /** Called with every decision, refused or not. */
  onDecision?: (decision: Decision, r: R) => void
  onEvent?: (event: GuardEvent) => void
}

/** What a guard reports besides its decisions. */
export type GuardEvent =
  | LimiterEvent
  /**
   * A function of the user threw, was late or returned an invalid value. `used` replaced its answer for this request.
   */
  | {
      readonly type: 'fallback'
      readonly limiter: string
      /** The limit that has the option; '' for an option of the guard. */
      readonly limit: string
      readonly option: string
      readonly used: string
      readonly error: unknown
    }
  /** The plan of a request is not in the table, so the strictest policy was used. */
  | { readonly type: 'unknown-plan'; readonly limiter: string; readonly limit: string; readonly plan: string }

const SETTINGS: readonly string[] = [
  ...['name', 'prefix', 'store', 'clock', 'headers', 'partitionSecret', 'skip', 'lookupDeadline', 'allow', 'deny'],
  ...['preflight', 'retryAfterJitter', 'refuse', 'onDecision', 'onEvent'],
  ...SITE_OPTIONS,
]
const SYNC_FUNCTIONS = ['refuse', 'onDecision', 'onEvent'] as const
/** The advice if `limits` is given and an option of a single limit stands beside it. */
const ONLY_WITH_ONE = 'that is an option of a limit; write it in limits: { name: { … } }'
const SHORTEST_SECRET = 16

/** The checked options of a guard, and its checked limits. */
export interface CheckedOptions {
  readonly settings: GuardSettings
  readonly limits: GuardLimits
  readonly lookupMs: number
}

/** Checks the options of a guard; the limiter checks its own. An option that is `undefined` counts as left out. */
export function checkGuardOptions(given: GuardOptions): CheckedOptions {
  if (typeof given !== 'object' || given === null) {
    throw expected('SLUICE_BAD_OPTION', "rateLimit({ policy: '100/m' }) or rateLimit({ limits: { … } })", given)
  }
  const { limits } = given
  if (limits === undefined && given.policy === undefined) {
    checkNames(given, [...SETTINGS, ...GUARD_LIMIT_OPTIONS, 'limits'])
    throw expected('SLUICE_BAD_OPTION', "a policy such as '100/m', or limits", given)
  }
  const options = checkNames(
    given,
    limits === undefined ? [...SETTINGS, ...GUARD_LIMIT_OPTIONS] : [...SETTINGS, 'limits'],
  )
  const { skip, lookupDeadline = '1s', partitionSecret, name, prefix, retryAfterJitter = 0 } = options
  if (!(typeof retryAfterJitter === 'number' && retryAfterJitter >= 0 && retryAfterJitter <= 1)) {
    throw expected('SLUICE_BAD_OPTION', 'retryAfterJitter from 0 to 1', retryAfterJitter)
  }
  if (skip !== undefined) checkFunction('skip', skip)
  for (const option of SYNC_FUNCTIONS) if (options[option] !== undefined) checkSyncFunction(option, options[option])
  for (const [option, value] of Object.entries({ name, prefix })) {
    if (value !== undefined && typeof value !== 'string')
      throw expected('SLUICE_BAD_OPTION', `${option} as a string`, value)
  }
  if (
    partitionSecret !== undefined &&
    !(typeof partitionSecret === 'string' && partitionSecret.length >= SHORTEST_SECRET)
  ) {
    const got = typeof partitionSecret === 'string' ? `${partitionSecret.length} characters` : partitionSecret
    throw expected('SLUICE_BAD_OPTION', `partitionSecret as a text of ${SHORTEST_SECRET} characters or more`, got)
  }
  return {
    settings: options,
    limits: checkedLimits(limits ?? { default: { key: ip(), ...oneLimit(options) } }),
    lookupMs: parseDuration(lookupDeadline, 'lookupDeadline', { min: 1 }),
  }
}

function checkNames(given: GuardOptions, known: readonly string[]): GuardOptions {
  const options = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as GuardOptions
  const odd = Object.keys(options).find(option => !known.includes(option))
  if (odd !== undefined && GUARD_LIMIT_OPTIONS.includes(odd)) {
    throw expected('SLUICE_BAD_OPTION', `rateLimit options ${known.join(', ')}`, odd, ONLY_WITH_ONE)
  }
  return checkOptions('rateLimit', options, known)
}

/** The checked limits by name, without options that are `undefined`. */
export function checkedLimits(limits: GuardLimits): GuardLimits {
  if (typeof limits !== 'object' || limits === null || Array.isArray(limits) || Object.keys(limits).length === 0) {
    throw expected('SLUICE_BAD_OPTION', 'limits by name, at least one', limits, 'write { user: { … } }')
  }
  return Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, checkedLimit(name, limit)]))
}

/** The options of the single limit, which a guard or route takes among its own. */
export function oneLimit(options: object): GuardLimit {
  return Object.fromEntries(
    Object.entries(options).filter(([option, value]) => value !== undefined && GUARD_LIMIT_OPTIONS.includes(option)),
  ) as unknown as GuardLimit
}
