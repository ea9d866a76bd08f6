import { type Rule, ruleOf } from '../algorithms/rule.ts'
import { checkOptions, checkSyncFunction } from '../check-options.ts'
import { TICKS_PER_MS } from '../clock.ts'
import { type Duration, parseDuration } from '../duration.ts'
import { expected, isAsyncFunction, SluiceError } from '../errors.ts'
import { answered, atOnce } from '../lookup.ts'
import { MOST_EXACT, type Policy, type PolicyLike, policyOf } from '../policy.ts'
import type { Charge } from '../stores/charge.ts'
import type { BlockRule, Limit } from '../stores/limit.ts'
import type { Mode, Store } from '../stores/store.ts'
import type { WarningCode } from '../warning.ts'
import { encodeKey, type Key } from './key.ts'
import type { Layers } from './layers.ts'
import { fittingRule, type OnOutage, type OutageRule, outageRuleOf } from './outage/on-outage.ts'

/** `'shadow'` decides without enforcing; `'off'` does not apply. */
export type LimitMode = 'enforce' | 'shadow' | 'off'

/** If a store answers later, a function may too, such as one that looks a plan up in a database. */
type LaterIf<M extends Mode, T> = M extends 'async' ? Promise<T> : never

/** One named limit, as a user writes it. `S` is the subject: what is known about a request. */
export interface LimitOptions<S, M extends Mode = 'sync'> extends LimitSettings<S, M> {
  /** What is allowed, or a function that chooses it for a subject. */
  policy: PolicyLike | ((subject: S) => PolicyLike | LaterIf<M, PolicyLike>)
}

/** A limit of several rates, each of which is a limit named like `user:2/s`. The limit's own name means all of them. */
export interface LayeredLimit<S, M extends Mode = 'sync'> extends LimitSettings<S, M> {
  policy: Layers
}

/** The limits of a limiter by their names. */
export type LimitsByName<S, M extends Mode = 'sync'> = Record<string, LimitOptions<S, M> | LayeredLimit<S, M>>

interface LimitSettings<S, M extends Mode> {
  /**
   * Requests with the same key are counted together. `undefined` means the limit does not apply. Without `key`, all
   * requests are.
   */
  key?: (subject: S) => Key | undefined | LaterIf<M, Key | undefined>
  /** What a request costs under this limit. It overrides the cost of the call. */
  cost?: number | ((subject: S) => number | LaterIf<M, number>)
  mode?: LimitMode | ((subject: S) => LimitMode)
  /** Limits that name the same bucket count together, and a request to which several of them apply is counted once. */
  bucket?: string
  /** With `mode: 'shadow'`: decides as if this limit stood in place of the named one. */
  replaces?: string
  /** A refusal by this limit blocks the key for this long; each further block is `factor` times longer. */
  blockFor?: Duration | { first: Duration; factor?: number; max?: Duration }
  /** `reserve` takes from this limit for good, as `consume` does: it counts requests, not what they use. */
  atOnce?: boolean
  /**
   * While the store is down: `'local'` (the default) enforces a share of the limit in this process, half of it unless
   * the store knows better; `{ local: 0.2 }` enforces that share and `{ local: '20/m' }` those numbers; `'open'` lets
   * requests pass; `'closed'` refuses them.
   */
  onOutage?: OnOutage
  /** The store of the limit's state, if not the limiter's. In-process stores are asked first. */
  store?: Store<M>
}

/** Helps TypeScript infer the subject; a plain object does as well. */
export function limits<S, M extends Mode = 'sync'>(options: LimitsByName<S, M>): LimitsByName<S, M> {
  return options
}

/** A limit made ready: options checked, policy compiled, state bound to a store. */
export interface BoundLimit<S> extends Limit {
  readonly name: string
  /** Where its state lives. */
  readonly store: Store
  /** The functions of the user answer at once, or with a promise that rejects at the deadline. */
  readonly keyOf: ((subject: S) => unknown) | undefined
  /** The rule, or the function that chooses a policy; `ruleOf` reads what it chose. */
  readonly ruleFor: Rule | ((subject: S) => unknown)
  readonly ruleOf: (chosen: unknown) => Rule
  /**
   * One of its functions answers with a promise, so it is asked only after the in-process limits have let a request
   * pass.
   */
  isLate: boolean
  readonly cost: number | ((subject: S) => unknown) | undefined
  readonly replaces: string | undefined
  readonly bucket: string | undefined
  readonly outage: OutageRule
  mode: LimitMode | ((subject: S) => LimitMode)
  /** Gives back the slots of charges that hold one. A decision reaches its store through it. */
  readonly release: (charges: readonly Charge[]) => void
}

/** Wraps a function of the user, so that its answer is checked or awaited. `what` names the function in errors. */
export type AskFunction = <S>(what: string, call: (subject: S) => unknown) => (subject: S) => unknown

/** For limiters whose stores are all in process. */
export const askAtOnce: AskFunction = (what, call) => {
  const advice = 'look it up before the call, or give the limiter a remote store'
  checkSyncFunction(what, call, advice)
  return subject => atOnce(call(subject), what, advice)
}

/** What a limiter gives each of its limits. */
export interface LimitContext {
  readonly path: readonly string[]
  readonly ask: AskFunction
  /** The store of a limit that names none. */
  readonly store: Store
  readonly release: BoundLimit<never>['release']
  readonly warn: (code: WarningCode, message: string) => void
}

export function bindLimit<S>(name: string, options: LimitOptions<S, Mode>, context: LimitContext): BoundLimit<S> {
  const { path, ask, release, warn } = context
  const where = `limit '${name}'`
  checkOptions(where, options, KNOWN)
  const {
    policy,
    key,
    cost,
    mode = 'enforce',
    replaces,
    bucket,
    blockFor,
    atOnce = false,
    onOutage = 'local',
    store = context.store,
  } = options
  if (key !== undefined && typeof key !== 'function') {
    throw expected('SLUICE_BAD_OPTION', `${where} key as a function of the subject`, key)
  }
  if (cost !== undefined && typeof cost !== 'function') checkCost(cost)
  if (bucket !== undefined && (typeof bucket !== 'string' || bucket === '')) {
    throw expected('SLUICE_BAD_OPTION', `${where} bucket as a name`, bucket)
  }
  checkStore(store, `${where} store`)
  const outage = outageRuleOf(onOutage, where)
  const checked = (rule: Rule) => fittingRule(fairRule(rule, where, warn), outage, where)
  if (typeof atOnce !== 'boolean') throw expected('SLUICE_BAD_OPTION', `${where} atOnce true or false`, atOnce)
  return {
    name,
    store,
    atOnce,
    space: store.bind(encodeKey(bucket === undefined ? [...path, name] : [...path, 'bucket', bucket], name)),
    block: blockFor === undefined ? undefined : blockRule(blockFor, where),
    keyOf: key && ask(`${where} key`, key),
    ruleFor: typeof policy === 'function' ? ask(`${where} policy`, policy) : checked(ruleOf(policyOf(policy))),
    ruleOf: chosen => checked(chosenRule(chosen)),
    isLate: [key, cost, policy].some(isAsyncFunction),
    cost: typeof cost === 'function' ? ask(`${where} cost`, cost) : cost,
    replaces,
    bucket,
    outage,
    mode: checkModeOrChoice(mode, where),
    release,
  }
}

const KNOWN = ['policy', 'key', 'cost', 'mode', 'replaces', 'bucket', 'blockFor', 'atOnce', 'onOutage', 'store']

/** Warns of a sliding counter that admits clearly less than it says. */
function fairRule(rule: Rule, where: string, warn: LimitContext['warn']): Rule {
  if (rule.kind === 'sliding' && rule.limit <= MOST_EXACT && rule.limit > 0) {
    warn(
      'SLUICE_SMALL_SLIDING_WINDOW',
      `${where}: a slidingWindow of ${MOST_EXACT} or less admits clearly less than it says; use slidingLog`,
    )
  }
  return rule
}

const STORE_METHODS = ['bind', 'ask', 'amend', 'inspect', 'close'] as const

/** Refuses a value that is not a store, such as a Redis client. */
export function checkStore(store: unknown, what: string): void {
  const methods = store as Partial<Store> | null | undefined
  if (STORE_METHODS.every(name => typeof methods?.[name] === 'function')) return
  throw expected('SLUICE_BAD_OPTION', `${what} such as memoryStore() or redisStore(client)`, store)
}

/** A mode, or a function that chooses one for a subject and whose answer is checked. */
export function checkModeOrChoice<S>(mode: BoundLimit<S>['mode'], where: string): BoundLimit<S>['mode'] {
  if (typeof mode !== 'function') return checkMode(mode, where)
  checkSyncFunction(`${where} mode`, mode)
  return subject => checkMode(mode(subject), where)
}

export function checkMode(mode: unknown, where = ''): LimitMode {
  if (mode === 'enforce' || mode === 'shadow' || mode === 'off') return mode
  throw expected('SLUICE_BAD_MODE', `${where} mode 'enforce', 'shadow' or 'off'`.trimStart(), answered(mode))
}

/** A whole number, 0 or more. NaN, fractions and negatives are refused before any state is touched. */
export function checkCost(cost: unknown, what = 'a cost'): number {
  if (typeof cost === 'number' && Number.isSafeInteger(cost) && cost >= 0) return cost
  const advice = typeof cost === 'number' && cost > 0 ? 'round it, or count in smaller units' : ''
  throw expected('SLUICE_BAD_COST', `${what} as a whole number, 0 or more`, cost, advice)
}

/** A `replaces` must name an enforceable sibling: a typing error would make the trial mean something else. */
export function checkReplaces(bound: readonly BoundLimit<never>[]): void {
  for (const { name, replaces } of bound) {
    if (replaces === undefined) continue
    if (replaces === name || !bound.some(other => other.name === replaces)) {
      throw new SluiceError(
        'SLUICE_UNKNOWN_LIMIT',
        `limit '${name}' replaces '${replaces}', which is not another limit`,
      )
    }
  }
}

function blockRule(blockFor: NonNullable<LimitOptions<never>['blockFor']>, where: string): BlockRule {
  if (typeof blockFor !== 'object' || blockFor === null) {
    const ticks = blockTicks(blockFor, `${where} blockFor`)
    return { first: ticks, factor: 1, max: ticks }
  }
  checkOptions(`${where} blockFor`, blockFor, ['first', 'factor', 'max'], 'SLUICE_BAD_BLOCK')
  const first = blockTicks(blockFor.first, `${where} blockFor.first`)
  const { factor = 2 } = blockFor
  if (typeof factor !== 'number' || !(factor >= 1) || factor > 1000) {
    throw expected('SLUICE_BAD_BLOCK', `${where} blockFor.factor from 1 to 1000`, factor)
  }
  const max =
    blockFor.max === undefined ? MAX_BLOCK_MS * TICKS_PER_MS : blockTicks(blockFor.max, `${where} blockFor.max`)
  if (max < first) throw expected('SLUICE_BAD_BLOCK', `${where} blockFor.max of at least blockFor.first`, blockFor.max)
  return { first, factor, max }
}

const MAX_BLOCK_MS = 366 * 86_400_000

export function blockTicks(value: unknown, what: string): number {
  return parseDuration(value, what, { min: 1, max: MAX_BLOCK_MS }, 'SLUICE_BAD_BLOCK') * TICKS_PER_MS
}

const texts = new Map<string, Rule>()
const objects = new WeakMap<object, Rule>()
const MOST_TEXTS = 1000

/** The rule of a policy chosen for one subject: checked once, then found again by the same text or object. */
export function chosenRule(policy: unknown): Rule {
  const known =
    typeof policy === 'string'
      ? texts.get(policy)
      : typeof policy === 'object' && policy !== null
        ? objects.get(policy)
        : undefined
  if (known !== undefined) return known
  const rule = ruleOf(policyOf(policy as Policy))
  if (typeof policy === 'string') {
    if (texts.size >= MOST_TEXTS) texts.clear()
    texts.set(policy, rule)
  } else objects.set(policy as object, rule)
  return rule
}
