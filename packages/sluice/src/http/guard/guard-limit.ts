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
  /** From the decision to the end of the response. */
  readonly ms: number
  /** Of the body, as far as it was sent. */
  readonly bytes: number
}

/** One limit of a guard, as a user writes it. `r` is the framework's request with the facts of `RequestView` on top. */
export interface GuardLimit<R = RequestView> extends GuardLimitSettings<R> {
  /** What is allowed, or a function (such as `plans()`) that chooses it for a request. */
  policy: PolicyLike | ((r: R) => PolicyLike | Promise<PolicyLike>)
}

/** A limit of several rates, each a limit of its own that is shown as `user:2/s`. The name means all of them. */
export interface LayeredGuardLimit<R = RequestView> extends GuardLimitSettings<R> {
  policy: Layers
}

/** The limits of a guard by their names. */
export type GuardLimits<R = RequestView> = Readonly<Record<string, GuardLimit<R> | LayeredGuardLimit<R>>>

interface GuardLimitSettings<R> {
  /** Who is counted together. Without `key` everybody is, and a refusal is a 503: it is not the caller's own quota. */
  key?: Identity<R> | ((r: R) => Key | number | undefined | Promise<Key | number | undefined>)
  /** False means that the limit does not apply. */
  when?: (r: R) => boolean | Promise<boolean>
  /** 1 by default; a number, a table by route (`{ '/search': 5, 'POST /orders': 10 }`), or a function. */
  cost?: number | Readonly<Record<string, number>> | ((r: R) => number | Promise<number>)
  mode?: LimitMode | ((r: R) => LimitMode)
  /** Enforced for so many percent of the keys, always the same ones; a shadow for the others. */
  rollout?: number
  replaces?: string
  bucket?: string
  blockFor?: LimitOptions<never>['blockFor']
  onOutage?: OnOutage
  /** Where its state lives, if not in the store of the guard. Limits in this process are asked first. */
  store?: NonNullable<LimitOptions<never, 'sync' | 'async'>['store']>
  /**
   * What `cost` counts, as the fields tell it: `'requests'`, `'content-bytes'` and `'concurrent-requests'` are registered
   * names, but any is sent. Without it the fields say nothing, and callers take the numbers for requests.
   */
  unit?: string
  /** Of a refusal by it: 429 by default, 503 without `key`. An outage stays a 503. */
  status?: 403 | 429
  /** Says nothing about the count: for keys that the caller has not proved to be theirs, such as the name in a login. */
  quiet?: boolean
  /** Counts only responses of which this is true. Until then the request counts, so that many at once gain nothing. */
  countWhen?: (response: ResponseEnd, r: R) => boolean
  /** A response of which this is true makes the key forget what was counted. */
  resetWhen?: (response: ResponseEnd, r: R) => boolean
  /** What was really used, known when the response has ended; `cost` is the estimate set aside until then. */
  settle?: 'ms' | 'bytes' | ((response: ResponseEnd, r: R) => number)
  /** False: a response that the client did not wait for is not counted. Hanging up is then free. */
  countAborted?: boolean
  /**
   * Requests within the burst wait for their turn instead of starting all at once: those after the first `delay` further
   * ones, or all but the first. As nginx does with `limit_req … delay=`. For bucket kinds.
   */
  delay?: number | 'all'
}

/** What may stand beside the settings of a guard with one limit. */
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

/** Refuses what cannot mean anything. What the limiter checks by itself is left to it. */
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

/** A cost that is set aside does not drain until the response has ended, so Sluice cannot say how long a wait for it takes. */
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

/** Whether its cost is only known when the response has ended: until then so much is set aside. */
export function setsAside({ countWhen, settle, countAborted }: AnyGuardLimit): boolean {
  return (countWhen ?? settle) !== undefined || countAborted === false
}

/** How long a reservation is held for a response that never ends. */
export const LONGEST_RESPONSE: Duration = '15m'
