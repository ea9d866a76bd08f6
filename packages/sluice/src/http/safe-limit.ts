import { expected } from '../errors.ts'
import { stableHash } from '../hash.ts'
import { checkCost, checkMode, chosenRule, type Key, type LimitMode, type LimitOptions } from '../limiter/limits.ts'
import type { Policy } from '../policy.ts'
import type { Facts } from './facts.ts'
import type { TellFallback } from './guard-event.ts'
import type { GuardLimit } from './guard-limit.ts'
import { type Identity, isIdentity, keyFrom } from './identity.ts'
import { segmentsOf } from './routes.ts'

/**
 * A guard's limit as the limiter takes it. The functions of the user are called inside fences: one that throws or answers
 * nonsense neither ends the request nor lets it pass unlimited.
 */
export class SafeLimit {
  private readonly name: string
  private readonly index: number
  private readonly limit: GuardLimit
  private readonly fallback: () => Policy
  private readonly tell: TellFallback

  /** `fallback` is the policy of a function that has failed. */
  constructor(name: string, index: number, limit: GuardLimit, fallback: () => Policy, tell: TellFallback) {
    this.name = name
    this.index = index
    this.limit = limit
    this.fallback = fallback
    this.tell = tell
  }

  options(): LimitOptions<Facts> {
    const { policy, key, when, cost, mode, rollout, replaces, bucket, blockFor, onOutage } = this.limit
    return {
      policy: typeof policy === 'function' ? facts => this.policyFor(facts) : policy,
      ...((key !== undefined || when !== undefined) && { key: this.keyReader() }),
      ...(cost !== undefined && { cost: typeof cost === 'number' ? cost : this.costReader(cost) }),
      ...(typeof mode === 'function' && { mode: (facts: Facts) => this.modeFor(facts) }),
      ...(typeof mode === 'string' && { mode }),
      ...(rollout !== undefined && { mode: (facts: Facts) => this.rolledOut(facts, rollout) }),
      ...(replaces !== undefined && { replaces }),
      ...(bucket !== undefined && { bucket }),
      ...(blockFor !== undefined && { blockFor }),
      ...(onOutage !== undefined && { onOutage }),
    }
  }

  private keyReader(): (facts: Facts) => Key | undefined {
    const { key, when } = this.limit
    const read = key === undefined ? () => '' : isIdentity(key) ? this.identity(key) : this.ownKey(key)
    return when === undefined ? read : facts => (this.applies(facts) ? read(facts) : undefined)
  }

  private identity(identity: Identity): (facts: Facts) => Key {
    return facts => {
      try {
        return identity(facts)
      } catch (error) {
        return this.address(facts, error)
      }
    }
  }

  private ownKey(key: Exclude<GuardLimit['key'], Identity | undefined>): (facts: Facts) => Key {
    return facts => {
      try {
        const given = key(facts.seen)
        return keyFrom(given) ?? this.address(facts, expected('SLUICE_BAD_KEY', 'a key as a string', given))
      } catch (error) {
        return this.address(facts, error)
      }
    }
  }

  private address(facts: Facts, error: unknown): string {
    this.tell(this.name, 'key', 'the address', error)
    return facts.ip
  }

  private applies(facts: Facts): boolean {
    try {
      return this.limit.when!(facts.seen) !== false
    } catch (error) {
      this.tell(this.name, 'when', 'true', error)
      return true
    }
  }

  private policyFor(facts: Facts): Policy {
    const choose = this.limit.policy as Exclude<GuardLimit['policy'], string | Policy>
    let policy: Policy
    try {
      policy = chosenRule(choose(facts.seen)).policy
    } catch (error) {
      policy = this.fallback()
      this.tell(this.name, 'policy', JSON.stringify(policy), error)
    }
    facts.chosen ??= []
    facts.chosen[this.index] = policy
    return policy
  }

  private costReader(cost: Exclude<GuardLimit['cost'], number | undefined>): (facts: Facts) => number {
    const read = typeof cost === 'function' ? (facts: Facts) => cost(facts.seen) : costByRoute(cost)
    return facts => {
      try {
        return checkCost(read(facts))
      } catch (error) {
        this.tell(this.name, 'cost', '1', error)
        return 1
      }
    }
  }

  private modeFor(facts: Facts): LimitMode {
    try {
      return checkMode((this.limit.mode as (r: unknown) => unknown)(facts.seen))
    } catch (error) {
      this.tell(this.name, 'mode', "'enforce'", error)
      return 'enforce'
    }
  }

  private rolledOut(facts: Facts, percent: number): LimitMode {
    const key = this.keyReader()(facts)
    const text = Array.isArray(key) ? key.join('\u0000') : (key as string | undefined)
    return stableHash(text ?? '', 10_000) < percent * 100 ? 'enforce' : 'shadow'
  }
}

/** `'/search'`, or `'POST /orders'` for one method of it; 1 for routes that are not in the table. */
function costByRoute(table: Readonly<Record<string, number>>): (facts: Facts) => number {
  const costs = new Map<string, number>()
  for (const [route, cost] of Object.entries(table)) {
    const [, method = '', template = route] = /^([A-Za-z]+) +(\/.*)$/.exec(route) ?? []
    costs.set(`${method.toUpperCase()} ${segmentsOf(template).join('/')}`, checkCost(cost))
  }
  return ({ method, route }) => {
    const template = route === undefined ? '' : segmentsOf(route).join('/')
    return costs.get(`${method} ${template}`) ?? costs.get(` ${template}`) ?? 1
  }
}
