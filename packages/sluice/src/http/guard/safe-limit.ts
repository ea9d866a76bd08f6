import type { Clock } from '../../clock.ts'
import { expected } from '../../errors.ts'
import { stableHash } from '../../hash.ts'
import { encodeKey, type Key } from '../../limiter/key.ts'
import { checkCost, checkMode, chosenRule, type LimitMode, type LimitOptions } from '../../limiter/limits.ts'
import { andThen, type Maybe } from '../../maybe.ts'
import { type Policy, type PolicyLike, policyOf } from '../../policy.ts'
import { Identity } from '../request/identity.ts'
import { keyFrom, missCounter } from '../request/key-text.ts'
import type { RequestFacts } from '../request/request-facts.ts'
import { routeCosts } from '../request/route-costs.ts'
import { type GuardLimit, setsAside } from './guard-limit.ts'
import type { GuardSettings } from './guard-options.ts'
import { type Plans, strictest } from './plans.ts'
import type { Reporter } from './reporter.ts'
import { answered, UserFunction, yesOrNo } from './user-function.ts'

/** What the limits of a guard share. */
export interface SafeLimitContext {
  readonly reporter: Reporter
  readonly clock: Clock
  /** How long a function of the user may take to answer. */
  readonly lookupMs: number
}

/**
 * A guard's limit as the limiter takes it. What the user's functions answer is kept on the request, so that each is asked
 * once. One that throws or answers nonsense neither ends the request nor lets it pass unlimited.
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
  /** Those that the user wrote and that may be async. */
  private readonly functions: readonly UserFunction<unknown>[]

  /** `fallback` is the policy of a function that has failed. */
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
    this.functions = [this.when, this.key, this.policy, this.cost].filter(one => one instanceof UserFunction)
    this.options = this.limitOptions()
  }

  /** Whether it waits for look-ups: a request must have passed the limits of this process before. */
  get isAsync(): boolean {
    return this.functions.some(one => one.isAsync)
  }

  get hasFunctions(): boolean {
    return this.functions.length > 0
  }

  /** Asks every function that the limiter will need answers of. */
  prepare(facts: RequestFacts): Maybe<void> {
    return andThen(this.keyFor(facts), key => {
      if (key === undefined) return undefined
      return andThen(this.policyFor(facts), () => andThen(this.costFor(facts), nothing))
    })
  }

  /** Makes a request one that the limit does not apply to, until what is returned is called. */
  leaveOut(facts: RequestFacts): () => void {
    facts.keys ??= []
    const before = facts.keys[this.index]
    facts.keys[this.index] = null
    return () => {
      facts.keys![this.index] = before
    }
  }

  private function<T>(
    option: string,
    call: unknown,
    read: (answer: unknown) => T,
    otherwise: Fallback<T>,
  ): UserFunction<T> | undefined {
    if (typeof call !== 'function') return undefined
    const { reporter, clock, lookupMs } = this.context
    return new UserFunction<T>({
      call: call as (view: unknown) => unknown,
      read,
      clock,
      deadlineMs: lookupMs,
      otherwise: (facts, error) => {
        const { used, text } = otherwise
        reporter.fallback(this.name, option, typeof text === 'string' ? text : text(), error)
        return used(facts)
      },
    })
  }

  private limitOptions(): LimitOptions<RequestFacts, 'sync' | 'async'> {
    const { policy, cost, mode, rollout, replaces, bucket, blockFor, onOutage, store } = this.limit
    const keyOf = (facts: RequestFacts) => now(this.keyFor(facts))
    return {
      policy: this.policy === undefined ? (policy as Policy) : facts => now(this.policyFor(facts)),
      // Also without a key: an operator may mean another limit only.
      key: keyOf,
      ...(cost !== undefined && { cost: (facts: RequestFacts) => now(this.costFor(facts)) }),
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
   * Kept on the request: the key is asked for again, to roll out, to settle or to forgive, and a login on the way may have
   * changed who it is.
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

  /** Nothing but the decision needs it. */
  private get isKeyPlain(): boolean {
    const { rollout, resetWhen } = this.limit
    return !this.hasFunctions && (rollout ?? resetWhen) === undefined
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
    // The limiter asks for the cost first, also where the limit does not apply.
    if ((cost ?? costs) === undefined || facts.keys?.[index] === null) return 1
    const keep = (amount: number) => {
      facts.costs ??= []
      facts.costs[index] = amount
      return amount
    }
    const everywhere = [facts, ...facts.elsewhere]
    if (cost === undefined) return keep(Math.max(...everywhere.map(costs!)))
    return andThen(highest(cost, everywhere), keep)
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

/** The limits of a guard as its limiter takes them. */
export function safeLimits(limits: Readonly<Record<string, GuardLimit>>, context: SafeLimitContext): SafeLimit[] {
  const all = Object.values(limits)
  return Object.entries(limits).map(
    ([name, limit], index) => new SafeLimit(name, index, limit, () => fallbackPolicy(limit, all), context),
  )
}

/** The guard's own `skip`. One that fails lets nothing off. */
export function skipFunction(
  skip: NonNullable<GuardSettings['skip']>,
  { reporter, clock, lookupMs }: SafeLimitContext,
): UserFunction<boolean> {
  return new UserFunction<boolean>({
    call: skip,
    read: answer => yesOrNo('skip', answer ?? false),
    otherwise: (_, error) => {
      reporter.fallback('', 'skip', 'false', error)
      return false
    },
    clock,
    deadlineMs: lookupMs,
  })
}

/** The value that takes the place of an answer, and its name in an event. */
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
  throw expected('SLUICE_BAD_KEY', 'a key as a string', answer)
}

function readPolicy(answer: unknown): Policy {
  return chosenRule(answer).policy
}

/** The limiter takes answers, not promises: the guard has waited for them before. */
function now<T>(value: Maybe<T>): T {
  if (!(value instanceof Promise)) return value
  throw expected('SLUICE_NOT_SUPPORTED', 'the limiter of a guard with async functions to be asked by the guard', value)
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

/** Every process finds the same for a key, and a key that is in at one percent is in at two. */
function rolledOut(key: Key | undefined, percent: number): LimitMode {
  const text = key === undefined ? '' : encodeKey(key, '')
  return stableHash(text, 100 * PER_PERCENT) < percent * PER_PERCENT ? 'enforce' : 'shadow'
}

const PER_PERCENT = 1_000_000

/** If nothing is known of any limit. */
const LAST_RESORT: Policy = policyOf('1/s')

/** For a request whose policy could not be chosen: the strictest that the limit, or else any other, may have. */
function fallbackPolicy(limit: GuardLimit, all: readonly GuardLimit[]): Policy {
  return knownPolicy(limit) ?? strictest(all.map(knownPolicy).filter(policy => policy !== undefined)) ?? LAST_RESORT
}

/** Of plans the strictest; of other functions nothing is known. */
function knownPolicy({ policy }: GuardLimit): Policy | undefined {
  return typeof policy === 'function' ? (policy as Partial<Plans>).strictest : policyOf(policy)
}

function nothing(): void {}
