import { expected } from '../../errors.ts'
import { stableHash } from '../../hash.ts'
import type { Key } from '../../limiter/key.ts'
import { encodeKey } from '../../limiter/key.ts'
import { checkCost, checkMode, chosenRule, type LimitMode, type LimitOptions } from '../../limiter/limits.ts'
import type { Policy } from '../../policy.ts'
import { Identity, keyFrom } from '../request/identity.ts'
import type { RequestFacts } from '../request/request-facts.ts'
import { routeCosts } from '../request/route-costs.ts'
import { answered, yesOrNo } from './answered.ts'
import type { GuardLimit } from './guard-limit.ts'
import type { Reporter } from './reporter.ts'

/**
 * A guard's limit as the limiter takes it. The functions of the user are called inside fences: one that throws or answers
 * nonsense neither ends the request nor lets it pass unlimited.
 */
export class SafeLimit {
  private readonly name: string
  private readonly index: number
  private readonly limit: GuardLimit
  private readonly fallback: () => Policy
  private readonly reporter: Reporter

  /** `fallback` is the policy of a function that has failed. */
  constructor(name: string, index: number, limit: GuardLimit, fallback: () => Policy, reporter: Reporter) {
    this.name = name
    this.index = index
    this.limit = limit
    this.fallback = fallback
    this.reporter = reporter
  }

  options(): LimitOptions<RequestFacts> {
    const { policy, cost, mode, rollout, replaces, bucket, blockFor, onOutage, countWhen, settle } = this.limit
    const key = this.keyReader()
    return {
      policy: typeof policy === 'function' ? facts => this.policyFor(facts) : policy,
      ...(key !== undefined && { key }),
      ...(cost !== undefined && { cost: typeof cost === 'number' ? cost : this.costReader(cost) }),
      ...(mode !== undefined && { mode: typeof mode === 'function' ? facts => this.modeFor(facts) : mode }),
      ...(rollout !== undefined && { mode: (facts: RequestFacts) => rolledOut(key!(facts), rollout) }),
      ...(replaces !== undefined && { replaces }),
      ...(bucket !== undefined && { bucket }),
      ...(blockFor !== undefined && { blockFor }),
      ...(onOutage !== undefined && { onOutage }),
      atOnce: (countWhen ?? settle) === undefined,
    }
  }

  private keyReader(): ((facts: RequestFacts) => Key | undefined) | undefined {
    const { key, when, rollout, resetWhen } = this.limit
    if (key === undefined && when === undefined) return undefined
    const read = key === undefined ? () => '' : key instanceof Identity ? this.identity(key) : this.ownKey(key)
    if (key instanceof Identity && (when ?? rollout ?? resetWhen) === undefined) return read
    const applied = when === undefined ? read : (facts: RequestFacts) => this.readWhereItApplies(facts, read)
    return facts => this.remembered(facts, applied)
  }

  /** Whoever was counted is asked for again, to roll out or to forgive, and a login on the way may have changed who it is. */
  private remembered(facts: RequestFacts, read: (facts: RequestFacts) => Key | undefined): Key | undefined {
    facts.keys ??= []
    let key = facts.keys[this.index]
    if (key === undefined) {
      key = read(facts) ?? null
      facts.keys[this.index] = key
    }
    return key ?? undefined
  }

  private identity(identity: Identity): (facts: RequestFacts) => Key {
    return facts => {
      try {
        return identity.keyOf(facts)
      } catch (error) {
        return this.address(facts, error)
      }
    }
  }

  private ownKey(key: Exclude<GuardLimit['key'], Identity | undefined>): (facts: RequestFacts) => Key {
    return facts => {
      try {
        const given = answered(key(facts.view))
        return keyFrom(given) ?? this.address(facts, expected('SLUICE_BAD_KEY', 'a key as a string', given))
      } catch (error) {
        return this.address(facts, error)
      }
    }
  }

  private address(facts: RequestFacts, error: unknown): string {
    this.reporter.fallback(this.name, 'key', 'the address', error)
    return facts.ip
  }

  private readWhereItApplies(facts: RequestFacts, read: (facts: RequestFacts) => Key | undefined): Key | undefined {
    const where = this.applies(facts) ? facts : facts.elsewhere.find(other => this.applies(other))
    return where === undefined ? undefined : read(where)
  }

  private applies(facts: RequestFacts): boolean {
    try {
      return yesOrNo('when', this.limit.when!(facts.view))
    } catch (error) {
      this.reporter.fallback(this.name, 'when', 'true', error)
      return true
    }
  }

  private policyFor(facts: RequestFacts): Policy {
    const known = facts.chosen?.[this.index]
    if (known !== undefined) return known
    const choose = this.limit.policy as Exclude<GuardLimit['policy'], string | Policy>
    let policy: Policy
    try {
      policy = chosenRule(answered(choose(facts.view))).policy
    } catch (error) {
      policy = this.fallback()
      this.reporter.fallback(this.name, 'policy', JSON.stringify(policy), error)
    }
    facts.chosen ??= []
    facts.chosen[this.index] = policy
    return policy
  }

  private costReader(cost: Exclude<GuardLimit['cost'], number | undefined>): (facts: RequestFacts) => number {
    const read = typeof cost === 'function' ? (facts: RequestFacts) => cost(facts.view) : routeCosts(cost)
    const safe = (facts: RequestFacts) => {
      try {
        let most = checkCost(answered(read(facts)))
        for (const other of facts.elsewhere) most = Math.max(most, checkCost(answered(read(other))))
        return most
      } catch (error) {
        this.reporter.fallback(this.name, 'cost', '1', error)
        return 1
      }
    }
    if (this.limit.delay === undefined) return safe
    return facts => {
      facts.costs ??= []
      facts.costs[this.index] = safe(facts)
      return facts.costs[this.index]!
    }
  }

  private modeFor(facts: RequestFacts): LimitMode {
    const read = ({ view }: RequestFacts) => checkMode(answered((this.limit.mode as (r: unknown) => unknown)(view)))
    try {
      const modes = [read(facts), ...facts.elsewhere.map(read)]
      return STRICTEST_FIRST.find(mode => modes.includes(mode))!
    } catch (error) {
      this.reporter.fallback(this.name, 'mode', "'enforce'", error)
      return 'enforce'
    }
  }
}

const STRICTEST_FIRST: readonly LimitMode[] = ['enforce', 'shadow', 'off']

/** Every process finds the same for a key, and who is in at one percent is in at two. */
function rolledOut(key: Key | undefined, percent: number): LimitMode {
  const text = key === undefined ? '' : encodeKey(key, '')
  return stableHash(text, 100 * PER_PERCENT) < percent * PER_PERCENT ? 'enforce' : 'shadow'
}

const PER_PERCENT = 1_000_000
