import { checkFunction, checkOptions, checkSyncFunction } from '../../check-options.ts'
import type { Duration } from '../../duration.ts'
import { expected } from '../../errors.ts'
import type { Key } from '../../limiter/key.ts'
import { isLayers, type Layers } from '../../limiter/layers.ts'
import { checkCost, type LimitMode, type LimitOptions } from '../../limiter/limits.ts'
import type { OnOutage } from '../../limiter/outage/on-outage.ts'
import { type PolicyLike, policyOf } from '../../policy.ts'
import { Identity } from '../request/identity.ts'
import type { RequestView } from '../request/request-facts.ts'

/** How a response went. */
export interface ResponseEnd {
  /** 499 if the client left before the server answered. */
  readonly status: number
  /** The client left before the response was sent in full. */
  readonly aborted: boolean
  /** Milliseconds from the decision to the end of the response. */
  readonly ms: number
  /** How many bytes of the body were sent. */
  readonly bytes: number
}

/** One limit of a guard, as a user writes it. `r` is the framework's request with the facts of `RequestView` on top. */
export interface GuardLimit<R = RequestView> extends GuardLimitSettings<R> {
  /** What is allowed, or a function (such as `plans()`) that chooses it for a request. */
  policy: PolicyLike | ((r: R) => PolicyLike | Promise<PolicyLike>)
}

/** A limit of several rates. Each rate is a limit named like `user:2/s`; the limit's own name means all of them. */
export interface LayeredGuardLimit<R = RequestView> extends GuardLimitSettings<R> {
  policy: Layers
}

/** The limits of a guard by their names. */
export type GuardLimits<R = RequestView> = Readonly<Record<string, GuardLimit<R> | LayeredGuardLimit<R>>>

interface GuardLimitSettings<R> {
  /**
   * Requests with the same key are counted together. Without `key` all requests are, and a refusal has status 503,
   * because the caller has not used up a quota of its own.
   */
  key?: Identity<R> | ((r: R) => Key | number | undefined | Promise<Key | number | undefined>)
  /** False means that the limit does not apply. */
  when?: (r: R) => boolean | Promise<boolean>
  /** 1 by default; a number, a table by route (`{ '/search': 5, 'POST /orders': 10 }`), or a function. */
  cost?: number | Readonly<Record<string, number>> | ((r: R) => number | Promise<number>)
  mode?: LimitMode | ((r: R) => LimitMode)
  /** Enforces the limit for this percentage of keys, always the same ones. For other keys the limit is a shadow. */
  rollout?: number
  replaces?: string
  bucket?: string
  blockFor?: LimitOptions<never>['blockFor']
  onOutage?: OnOutage
  /** The store of the limit's state, if not the guard's. In-process stores are asked first. */
  store?: NonNullable<LimitOptions<never, 'sync' | 'async'>['store']>
  /**
   * What `cost` counts. The response fields send this name to callers. `'requests'`, `'content-bytes'` and
   * `'concurrent-requests'` are registered, but any name is sent. Without it, callers assume requests.
   */
  unit?: string
  /** The status of a refusal by this limit: 429 by default, 503 without `key`. During an outage it is always 503. */
  status?: 403 | 429
  /** Responses do not reveal this limit. Use it for keys that a caller need not own, such as the name in a login. */
  quiet?: boolean
  /**
   * Counts only responses for which this is true. A request counts until its response, so parallel ones gain nothing.
   */
  countWhen?: (response: ResponseEnd, r: R) => boolean
  /** A response for which this is true resets the limit for the key. */
  resetWhen?: (response: ResponseEnd, r: R) => boolean
  /** Charges what was really used, when the response has ended. Until then `cost` is reserved as an estimate. */
  settle?: 'ms' | 'bytes' | ((response: ResponseEnd, r: R) => number)
  /** If false, a request is not counted if its client leaves before the response is sent. Hanging up is then free. */
  countAborted?: boolean
  /**
   * Spreads the requests of a burst over time, as `limit_req … delay=` of nginx does: one request and `delay` more
   * start at once, and each further one waits until the bucket has drained for it. With `'all'` only one starts at
   * once. For bucket kinds.
   */
  delay?: number | 'all'
}

/** The options of a limit. A guard with one limit takes them among its own options. */
export const GUARD_LIMIT_OPTIONS: readonly string[] = [
  ...[
    'policy',
    'key',
    'when',
    'cost',
    'mode',
    'rollout',
    'replaces',
    'bucket',
    'blockFor',
    'onOutage',
    'quiet',
    'status',
    'unit',
  ],
  ...['countWhen', 'resetWhen', 'settle', 'countAborted', 'delay'],
]
const NAMED_LIMIT_OPTIONS: readonly string[] = [...GUARD_LIMIT_OPTIONS, 'store']

const SYNC_FUNCTIONS = ['countWhen', 'resetWhen'] as const
const AT_ONCE = 'a response that has ended waits for nothing: let the handler leave what it found on the request'

/** Checks the options that belong to the guard. The limiter checks its own. */
export function checkedLimit(name: string, given: AnyGuardLimit): AnyGuardLimit {
  const where = `limit '${name}'`
  if (typeof given !== 'object' || given === null) {
    throw expected('SLUICE_BAD_OPTION', `${where} as { policy, key?, … }`, given)
  }
  const limit = checkOptions(where, given, NAMED_LIMIT_OPTIONS)
  if (limit.key !== undefined && !(limit.key instanceof Identity)) {
    checkFunction(`${where} key`, limit.key, 'write ip(), or r => r.auth?.id')
  }
  if (limit.when !== undefined) checkFunction(`${where} when`, limit.when)
  for (const option of SYNC_FUNCTIONS) {
    if (limit[option] !== undefined) checkSyncFunction(`${where} ${option}`, limit[option], AT_ONCE)
  }
  if (typeof limit.mode === 'function') checkSyncFunction(`${where} mode`, limit.mode)
  if (typeof limit.cost === 'number') checkCost(limit.cost)
  if (limit.cost !== undefined && !['number', 'object', 'function'].includes(typeof (limit.cost ?? ''))) {
    throw expected('SLUICE_BAD_COST', `${where} cost as a number, a table or a function`, limit.cost)
  }
  checkSettle(limit.settle, where)
  checkRollout(limit, where)
  checkDelay(limit, where)
  checkUnit(limit.unit, where)
  checkStatus(limit, where)
  for (const option of ['quiet', 'countAborted'] as const) {
    const value: unknown = limit[option]
    if (value === undefined || typeof value === 'boolean') continue
    throw expected('SLUICE_BAD_OPTION', `${where} ${option} true or false`, value)
  }
  if (limit.settle !== undefined && limit.countWhen !== undefined) {
    throw expected('SLUICE_BAD_OPTION', `${where} with settle or countWhen`, 'both', 'settle to 0 what does not count')
  }
  return limit
}

function checkStatus({ status, quiet }: AnyGuardLimit, where: string): void {
  if (status === undefined) return
  if (status !== 403 && status !== 429) throw expected('SLUICE_BAD_OPTION', `${where} status 403 or 429`, status)
  if (quiet) throw expected('SLUICE_BAD_OPTION', `${where} with status or quiet`, 'both', 'the status would tell of it')
}

function checkUnit(unit: unknown, where: string): void {
  if (unit === undefined || (typeof unit === 'string' && /^[ -~]+$/.test(unit))) return
  throw expected('SLUICE_BAD_OPTION', `${where} unit as printable ASCII such as 'requests' or 'tokens'`, unit)
}

type AnyGuardLimit = GuardLimit | LayeredGuardLimit

function checkSettle(settle: GuardLimit['settle'], where: string): void {
  if (typeof settle === 'function') checkSyncFunction(`${where} settle`, settle, AT_ONCE)
  if (settle === undefined || settle === 'ms' || settle === 'bytes' || typeof settle === 'function') return
  throw expected('SLUICE_BAD_OPTION', `${where} settle 'ms', 'bytes' or a function of the response`, settle)
}

function checkRollout({ rollout, mode, key }: AnyGuardLimit, where: string): void {
  if (rollout === undefined) return
  if (typeof rollout !== 'number' || !(rollout >= 0 && rollout <= 100)) {
    throw expected('SLUICE_BAD_OPTION', `${where} rollout from 0 to 100 percent`, rollout)
  }
  if (mode !== undefined) throw expected('SLUICE_BAD_MODE', `${where} with rollout or mode`, 'both')
  if (key === undefined) throw expected('SLUICE_BAD_OPTION', `${where} rollout to have keys to choose from`, 'no key')
}

const WAITING_KINDS: ReadonlySet<string> = new Set(['tokenBucket', 'leakyBucket', 'gcra'])

/** A reserved cost does not drain until the response has ended, so the length of a wait is unknown beside one. */
function checkDelay(limit: AnyGuardLimit, where: string): void {
  const { delay, policy } = limit
  if (delay === undefined) return
  if (setsAside(limit)) {
    throw expected(
      'SLUICE_NOT_SUPPORTED',
      `${where} with delay, or with countWhen, settle or countAborted: false`,
      'both',
    )
  }
  if (delay !== 'all' && !(Number.isSafeInteger(delay) && delay >= 0)) {
    throw expected('SLUICE_BAD_OPTION', `${where} delay as a whole number, 0 or more, or 'all'`, delay)
  }
  if (typeof policy === 'function') return
  const kind = isLayers(policy) ? 'layers' : policyOf(policy).kind
  if (WAITING_KINDS.has(kind)) return
  throw expected('SLUICE_NOT_SUPPORTED', `${where} delay with tokenBucket, leakyBucket or gcra`, kind)
}

/** Whether the limit's cost is known only when the response has ended. Until then the guard reserves an estimate. */
export function setsAside({ countWhen, settle, countAborted }: AnyGuardLimit): boolean {
  return (countWhen ?? settle) !== undefined || countAborted === false
}

/** How long a reservation is held for a response that never ends. */
export const LONGEST_RESPONSE: Duration = '15m'
