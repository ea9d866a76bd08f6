import { expected } from '../../errors.ts'
import { stableHash } from '../../hash.ts'
import { encodeKey, type Key } from '../../limiter/key.ts'
import { checkCost, checkMode, chosenRule, type LimitMode, type LimitOptions } from '../../limiter/limits.ts'
import { answered, type LookupTime, yesOrNo } from '../../lookup.ts'
import { andThen, type Maybe } from '../../maybe.ts'
import { type Policy, type PolicyLike, policyOf } from '../../policy.ts'
import { Identity } from '../request/identity.ts'
import { keyFrom, MissingKey, missCounter } from '../request/key-text.ts'
import type { RequestFacts } from '../request/request-facts.ts'
import { routeCosts } from '../request/route-costs.ts'
import { type GuardLimit, setsAside } from './guard-limit.ts'
import type { GuardSettings } from './guard-options.ts'
import { type Plans, strictest } from './plans.ts'
import type { Reporter } from './reporter.ts'
import { UserFunction } from './user-function.ts'

/** What the limits of a guard share. */
export interface SafeLimitContext {
  readonly reporter: Reporter
  readonly time: LookupTime
}

/**
 * A guard's limit in the form that the limiter takes. It keeps the answers of the user's functions with the request, so
 * that each function is called once. If a function throws or returns an invalid value, a fallback replaces its answer:
 * the request does not fail, nor does it pass unlimited.
 */
export class SafeLimit {
  readonly name: string
  readonly options: LimitOptions<RequestFacts, 'sync' | 'async'>
  private readonly index: number
  private readonly limit: GuardLimit
  private readonly context: SafeLimitContext
  private readonly when: UserFunction<boolean> | undefined
  private readonly key: UserFunction<Key> | Identity | undefined
  private readonly policy: UserFunction<Policy> | undefined
  private readonly cost: UserFunction<number> | undefined
  private readonly keys: ReturnType<typeof missCounter>
  private readonly costs: ((facts: RequestFacts) => number) | undefined
  /** True if no function of the user is called and only the decision needs the key, so the key need not be kept. */
  private readonly isKeyPlain: boolean

  /** `fallback` returns the policy to use if the `policy` function fails. */
  constructor(name: string, index: number, limit: GuardLimit, fallback: () => Policy, context: SafeLimitContext) {
    this.name = name
    this.index = index
    this.limit = limit
    this.context = context
    this.keys = missCounter(`the key of limit '${name}'`)
    const { when, key, policy, cost } = limit
    this.when = this.function('when', when, answer => yesOrNo('when', answer), told(true))
    this.key =
      key instanceof Identity || key === undefined
        ? key
        : this.function('key', key, answer => this.foundKey(answer), {
            used: facts => this.missedKey(facts),
            text: 'the address',
          })
    this.policy = this.function('policy', typeof policy === 'function' ? policy : undefined, readPolicy, {
      used: fallback,
      text: () => JSON.stringify(fallback()),
    })
    this.cost = this.function('cost', typeof cost === 'function' ? cost : undefined, checkCost, told(1))
    this.costs = typeof cost === 'object' ? routeCosts(cost) : undefined
    const asks = [this.when, this.key, this.policy, this.cost].some(one => one instanceof UserFunction)
    this.isKeyPlain = !asks && (limit.rollout ?? limit.resetWhen) === undefined
    this.options = this.limitOptions()
  }

  private function<T>(
    option: string,
    call: unknown,
    read: (answer: unknown) => T,
    otherwise: Fallback<T>,
  ): UserFunction<T> | undefined {
    if (typeof call !== 'function') return undefined
    const { reporter, time } = this.context
    return new UserFunction<T>({
      name: option,
      call: call as (view: unknown) => unknown,
      read,
      time,
      otherwise: (facts, error) => {
        const { used, text } = otherwise
        reporter.fallback(this.name, option, typeof text === 'string' ? text : text(), error)
        return used(facts)
      },
    })
  }

  private limitOptions(): LimitOptions<RequestFacts, 'sync' | 'async'> {
    const { policy, cost, mode, rollout, replaces, bucket, blockFor, onOutage, store } = this.limit
    const keyOf = (facts: RequestFacts) => this.keyFor(facts)
    return {
      policy: this.policy === undefined ? (policy as Policy) : facts => this.policyFor(facts),
      // Needed for a limit without a key too: a call of an operator excludes other limits by their keys.
      key: keyOf,
      ...(cost !== undefined && { cost: (facts: RequestFacts) => this.costFor(facts) }),
      ...(mode !== undefined && { mode: typeof mode === 'function' ? facts => this.modeFor(facts) : mode }),
      ...(rollout !== undefined && { mode: (facts: RequestFacts) => rolledOut(keyOf(facts), rollout) }),
      ...(replaces !== undefined && { replaces }),
      ...(bucket !== undefined && { bucket }),
      ...(blockFor !== undefined && { blockFor }),
      ...(onOutage !== undefined && { onOutage }),
      ...(store !== undefined && { store }),
      atOnce: !setsAside(this.limit),
    }
  }

  /**
   * Keeps the key with the request. `rollout`, the settlement and `resetWhen` need the key again, and by then a login
   * may have changed who the caller is.
   */
  private keyFor(facts: RequestFacts): Maybe<Key | undefined> {
    const { key, index } = this
    const known = facts.keys?.[index]
    if (known !== undefined) return known ?? undefined
    if (key instanceof Identity && this.isKeyPlain) return this.identityOf(key, facts)
    return andThen(this.readKey(facts), found => {
      facts.keys ??= []
      facts.keys[index] = found ?? null
      return found
    })
  }

  private readKey(facts: RequestFacts): Maybe<Key | undefined> {
    const { key, when } = this
    const read = (at: RequestFacts): Maybe<Key> =>
      key === undefined ? '' : key instanceof Identity ? this.identityOf(key, at) : key.ask(at)
    if (when === undefined) return read(facts)
    return andThen(firstThat(when, [facts, ...facts.elsewhere]), at => (at === undefined ? undefined : read(at)))
  }

  private foundKey(answer: unknown): Key {
    const key = readKey(answer)
    this.keys.found()
    return key
  }

  private missedKey(facts: RequestFacts): Key {
    this.keys.missed(facts)
    return facts.ip
  }

  private identityOf(identity: Identity, facts: RequestFacts): Key {
    try {
      return identity.keyOf(facts)
    } catch (error) {
      this.context.reporter.fallback(this.name, 'key', 'the address', error)
      return facts.ip
    }
  }

  private policyFor(facts: RequestFacts): Maybe<Policy> {
    const known = facts.chosen?.[this.index]
    if (known !== undefined) return known
    if (this.policy === undefined) return policyOf(this.limit.policy as PolicyLike)
    return andThen(this.policy.ask(facts), policy => {
      facts.chosen ??= []
      facts.chosen[this.index] = policy
      return policy
    })
  }

  private costFor(facts: RequestFacts): Maybe<number> {
    const { index, cost, costs } = this
    const known = facts.costs?.[index]
    if (known !== undefined) return known
    if (typeof this.limit.cost === 'number') return this.limit.cost
    const everywhere = [facts, ...facts.elsewhere]
    const asked = cost === undefined ? Math.max(...everywhere.map(costs!)) : highest(cost, everywhere)
    return andThen(asked, amount => {
      facts.costs ??= []
      facts.costs[index] = amount
      return amount
    })
  }

  private modeFor(facts: RequestFacts): LimitMode {
    const read = ({ view }: RequestFacts) => checkMode(answered((this.limit.mode as (r: unknown) => unknown)(view)))
    try {
      const modes = [read(facts), ...facts.elsewhere.map(read)]
      return STRICTEST_FIRST.find(mode => modes.includes(mode))!
    } catch (error) {
      this.context.reporter.fallback(this.name, 'mode', "'enforce'", error)
      return 'enforce'
    }
  }
}

/** The limits of a guard in the form that its limiter takes. */
export function safeLimits(limits: Readonly<Record<string, GuardLimit>>, context: SafeLimitContext): SafeLimit[] {
  const all = Object.values(limits)
  return Object.entries(limits).map(
    ([name, limit], index) => new SafeLimit(name, index, limit, () => fallbackPolicy(limit, all), context),
  )
}

/** The guard's `skip`. If it fails, the request is not skipped. */
export function skipFunction(
  skip: NonNullable<GuardSettings['skip']>,
  { reporter, time }: SafeLimitContext,
): UserFunction<boolean> {
  return new UserFunction<boolean>({
    name: 'skip',
    call: skip,
    read: answer => yesOrNo('skip', answer ?? false),
    otherwise: (_, error) => {
      reporter.fallback('', 'skip', 'false', error)
      return false
    },
    time,
  })
}

/** The value that replaces a failed answer, and its text in an event. */
interface Fallback<T> {
  readonly used: (facts: RequestFacts) => T
  readonly text: string | (() => string)
}

function told<T>(value: T): Fallback<T> {
  return { used: () => value, text: String(value) }
}

function readKey(answer: unknown): Key {
  const key = keyFrom(answer)
  if (key !== undefined) return key
  if (answer === undefined || answer === null || answer === '') throw new MissingKey('SLUICE_BAD_KEY', 'no key')
  throw expected('SLUICE_BAD_KEY', 'a key as a string', answer)
}

function readPolicy(answer: unknown): Policy {
  return chosenRule(answer).policy
}

/** The first of several readings of a request for which the function answers true. */
function firstThat(applies: UserFunction<boolean>, readings: readonly RequestFacts[]): Maybe<RequestFacts | undefined> {
  const [first, ...rest] = readings
  if (first === undefined) return undefined
  return andThen(applies.ask(first), yes => (yes ? first : firstThat(applies, rest)))
}

function highest(cost: UserFunction<number>, [first, ...rest]: readonly RequestFacts[]): Maybe<number> {
  return andThen(cost.ask(first!), amount =>
    rest.length === 0 ? amount : andThen(highest(cost, rest), other => Math.max(amount, other)),
  )
}

const STRICTEST_FIRST: readonly LimitMode[] = ['enforce', 'shadow', 'off']

/** Enforces the same keys in every process. A key that is enforced at one percent stays enforced at two. */
function rolledOut(key: Maybe<Key | undefined>, percent: number): LimitMode {
  // If the key is still a promise, the limiter asks for the mode again when the key is known.
  const text = key === undefined || key instanceof Promise ? '' : encodeKey(key, '')
  return stableHash(text, 100 * PER_PERCENT) < percent * PER_PERCENT ? 'enforce' : 'shadow'
}

const PER_PERCENT = 1_000_000

/** The fallback if the policies of all limits are functions. */
const LAST_RESORT: Policy = policyOf('1/s')

/** The policy if a function fails: the strictest of its plans, or else of the guard's limits. */
function fallbackPolicy(limit: GuardLimit, all: readonly GuardLimit[]): Policy {
  return knownPolicy(limit) ?? strictest(all.map(knownPolicy).filter(policy => policy !== undefined)) ?? LAST_RESORT
}

/** The strictest policy of plans; undefined for other functions, whose policies are not known. */
function knownPolicy({ policy }: GuardLimit): Policy | undefined {
  return typeof policy === 'function' ? (policy as Partial<Plans>).strictest : policyOf(policy)
}
