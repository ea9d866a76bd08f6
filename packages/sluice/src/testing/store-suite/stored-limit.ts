import { type Rule, ruleOf } from '../../algorithms/rule.ts'
import { stableHash } from '../../hash.ts'
import { type Policy, policyOf } from '../../policy.ts'
import { Charge, ENFORCED } from '../../stores/charge.ts'
import type { KeyInspection } from '../../stores/inspection.ts'
import type { BlockRule, Limit } from '../../stores/limit.ts'
import { booking, type Change, type Intent, LOOK, reserving, TAKE } from '../../stores/store.ts'
import type { OracleVerdict } from '../oracle/oracle.ts'
import { show } from './case.ts'
import type { World } from './world.ts'

/** One limit in a store, with a method for each call of the store's interface. */
export class StoredLimit {
  readonly world: World
  readonly policy: Policy
  readonly rule: Rule
  readonly limit: Limit

  constructor(world: World, policy: Policy, options: { path?: string; block?: BlockRule } = {}) {
    this.world = world
    this.policy = policyOf(policy)
    this.rule = ruleOf(this.policy)
    this.limit = { space: world.store.bind(options.path ?? 'limit'), block: options.block, atOnce: false }
  }

  charge(key: string, cost: number, role = ENFORCED): Charge {
    return new Charge(this.limit, this.rule, key, cost, role)
  }

  async ask(key: string, cost: number, intent: Intent): Promise<Charge> {
    const charge = this.charge(key, cost)
    await this.world.decide([charge], intent)
    return charge
  }

  consume(key: string, cost = 1): Promise<Charge> {
    return this.ask(key, cost, TAKE)
  }

  peek(key: string, cost = 1): Promise<Charge> {
    return this.ask(key, cost, LOOK)
  }

  reserve(key: string, cost: number, holdTicks: number): Promise<Charge> {
    return this.ask(key, cost, reserving(holdTicks))
  }

  book(key: string, cost: number, bookTicks: number): Promise<Charge> {
    return this.ask(key, cost, booking(bookTicks))
  }

  refund(charge: Charge): Promise<number> {
    return this.amend({ type: 'refund', charge })
  }

  credit(key: string, cost: number): Promise<number> {
    return this.amend({ type: 'credit', charge: this.charge(key, cost) })
  }

  penalize(key: string, cost: number): Promise<number> {
    return this.amend({ type: 'penalize', charge: this.charge(key, cost) })
  }

  set(key: string, used: number): Promise<number> {
    return this.amend({ type: 'set', charge: this.charge(key, 0), used })
  }

  release(charge: Charge): Promise<number> {
    return this.amend({ type: 'release', charge })
  }

  renew(charge: Charge): Promise<number> {
    return this.amend({ type: 'renew', charge })
  }

  settle(charge: Charge, actual: number): Promise<number> {
    return this.amend({ type: 'settle', charge, actual })
  }

  reset(key: string): Promise<number> {
    return this.amend({ type: 'reset', charge: this.charge(key, 0) })
  }

  async amend(change: Change): Promise<number> {
    return (await this.world.amend([change]))[0]!
  }

  inspect(key: string): Promise<KeyInspection> {
    return this.world.inspect(this.charge(key, 0))
  }

  /** All visible state of a key, as text. Changes nothing. */
  async look(key: string): Promise<string> {
    const { limit } = this.rule
    const { remaining } = await this.peek(key, 0)
    const costs = new Set([0, 1, 2, remaining, remaining + 1, limit, limit + 1])
    const seen: string[] = []
    for (const cost of costs) seen.push(`${cost}: ${showVerdict(await this.peek(key, cost))}`)
    return seen.join('; ')
  }

  /** Where the windows of `align: 'key'` start for a key. */
  phase(key: string): number {
    const { policy } = this
    const isSpread = policy.kind === 'fixedWindow' && policy.align === 'key'
    return isSpread ? stableHash(key, Math.round(policy.windowMs * 1000)) : 0
  }
}

/** The fields of the verdict only, because a charge has more. */
export function showVerdict({ allowed, remaining, resetAt, retryAt }: OracleVerdict): string {
  return show({ allowed, remaining, resetAt, retryAt })
}
