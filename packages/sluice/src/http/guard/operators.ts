import { checkOptions } from '../../check-options.ts'
import type { LimitState } from '../../decision.ts'
import type { Duration } from '../../duration.ts'
import { expected } from '../../errors.ts'
import type { LimitInspection } from '../../limiter/inspection.ts'
import { encodeKey, type Key } from '../../limiter/key.ts'
import { type LayerNames, quoted } from '../../limiter/layers.ts'
import { andThen, type Maybe } from '../../maybe.ts'
import { type Policy, type PolicyLike, policyOf } from '../../policy.ts'
import { Identity, keyFrom } from '../request/identity.ts'
import { type Reader, RequestFacts } from '../request/request-facts.ts'
import type { Site } from '../request/request-reading.ts'
import type { GuardLimiter } from './after-response.ts'
import type { GuardLimit } from './guard-limit.ts'
import type { Plans } from './plans.ts'
import type { SafeLimit } from './safe-limit.ts'

/** Which state of a guard an operator means. */
export interface OperatorTarget {
  limit: string
  /**
   * As the limit's own `key` gives it: `'user:42'` of `user()`, an address of `ip()`, one text for each part of `all()`.
   * Left out for a limit without a key.
   */
  key?: Key | number
  /** For a limit that only routes have: the name of the route, if several have it. */
  route?: string
  /** For a limit whose `policy` is a function: the policy that the key has now. */
  policy?: PolicyLike
}

/** The limits of one guard, as an operator asks for them by name and key. */
export class Operators {
  private readonly limiter: GuardLimiter
  private readonly limits: Readonly<Record<string, GuardLimit>>
  private readonly layers: LayerNames
  private readonly safe: readonly SafeLimit[]
  private readonly site: Site

  constructor(
    limiter: GuardLimiter,
    limits: Readonly<Record<string, GuardLimit>>,
    layers: LayerNames,
    safe: readonly SafeLimit[],
    site: Site,
  ) {
    this.limiter = limiter
    this.limits = limits
    this.layers = layers
    this.safe = safe
    this.site = site
  }

  /** Whether it is one of the limits, or the name of several layers. */
  has(limit: string): boolean {
    return Object.hasOwn(this.limits, limit) || this.layers.has(limit)
  }

  get names(): readonly string[] {
    return Object.keys(this.limits)
  }

  reset(target: OperatorTarget): Maybe<void> {
    return this.each('reset', target, [], (subject, limit) => this.limiter.reset(subject, { limits: [limit] }))
  }

  block(target: OperatorTarget & { for: Duration | 'forever' }): Maybe<void> {
    const { for: time } = target
    return this.each('block', target, ['for'], (subject, limit) => this.limiter.block(subject, { limit, for: time }))
  }

  unblock(target: OperatorTarget): Maybe<void> {
    return this.each('unblock', target, [], (subject, limit) => this.limiter.unblock(subject, { limit }))
  }

  penalize(target: OperatorTarget & { cost: number }): Maybe<void> {
    const { cost } = target
    return inTurn(this.ofLayers(target), one => this.limiter.penalize(this.only('penalize', one, ['cost']), { cost }))
  }

  set(target: OperatorTarget & { remaining: number }): Maybe<void> {
    const { limit, remaining } = target
    return this.limiter.set(this.only('set', target, ['remaining']), { limit, remaining })
  }

  /** Undefined if the limit is off. */
  peek(target: OperatorTarget & { cost?: number }): Maybe<LimitState | undefined> {
    const { limit, cost = 1 } = target
    const subject = this.only('peek', target, ['cost'])
    // The limit's own cost would win.
    subject.costs = this.safe.map(() => cost)
    const decision = this.limiter.peek(subject, { cost })
    return andThen(decision, ({ limits }) => limits.find(({ name }) => name === limit))
  }

  inspect(target: OperatorTarget): Maybe<LimitInspection> {
    const { limit } = target
    const found = this.limiter.inspect(this.only('inspect', target, []), { limits: [limit] })
    return andThen(found, ([state]) => state!)
  }

  /** Under every policy that the key may have: a state that is kept under another one is not forgotten. */
  private each(
    call: string,
    target: OperatorTarget,
    further: readonly string[],
    change: (subject: RequestFacts, limit: string) => Maybe<void>,
  ): Maybe<void> {
    return inTurn(this.ofLayers(target), one =>
      inTurn(this.policies(call, one, further), policy => change(this.subject(one, policy), one.limit)),
    )
  }

  /** The target in each layer of its limit. */
  private ofLayers<T extends OperatorTarget>(target: T): T[] {
    const names = this.layers.get(target.limit) ?? [target.limit]
    return names.map(limit => ({ ...target, limit }))
  }

  private only(call: string, target: OperatorTarget, further: readonly string[]): RequestFacts {
    const [policy, ...others] = this.policies(call, target, further)
    if (others.length === 0) return this.subject(target, policy)
    throw expected('SLUICE_BAD_POLICY', `${call} with the policy that the key has now`, undefined, SEVERAL)
  }

  private policies(call: string, target: OperatorTarget, further: readonly string[]): readonly (Policy | undefined)[] {
    const where = `guard.${call}()`
    const { limit, policy } = checkOptions(where, target, ['limit', 'key', 'route', 'policy', ...further])
    const layers = this.layers.get(limit)
    if (layers !== undefined) {
      throw expected('SLUICE_UNKNOWN_LIMIT', `${where} with the name of one layer (${quoted(layers)})`, limit)
    }
    const own = this.limits[limit]!.policy
    if (typeof own !== 'function') {
      if (policy === undefined) return [undefined]
      throw expected('SLUICE_BAD_OPTION', `${where} without policy, since limit '${limit}' has one`, policy)
    }
    if (policy !== undefined) return [policyOf(policy)]
    const { all } = own as Partial<Plans>
    if (all !== undefined) return all
    throw expected('SLUICE_BAD_POLICY', `${where} with the policy that the key has now`, policy, CHOSEN)
  }

  /** A request that no one made: only the one limit applies, with this key. */
  private subject({ limit, key }: OperatorTarget, policy: Policy | undefined): RequestFacts {
    const subject = new RequestFacts({}, NO_REQUEST, this.site)
    const at = this.safe.findIndex(({ name }) => name === limit)
    subject.keys = this.safe.map(() => null)
    subject.keys[at] = this.keyOf(limit, key)
    subject.chosen = []
    subject.chosen[at] = policy
    subject.costs = this.safe.map(() => 1)
    return subject
  }

  private keyOf(limit: string, key: Key | number | undefined): Key {
    const own = this.limits[limit]!.key
    const where = `the key of limit '${limit}'`
    if (own === undefined) {
      if (key === undefined) return ''
      throw expected('SLUICE_BAD_KEY', `no key, since limit '${limit}' has none`, key)
    }
    if (!(own instanceof Identity)) {
      const found = keyFrom(key)
      if (found !== undefined) return found
      throw expected('SLUICE_BAD_KEY', `${where} as its function gives it`, key)
    }
    const written = typeof key === 'number' ? String(key) : key
    const found = written === undefined ? undefined : own.form.read(written, text => this.addressOf(text))
    if (found !== undefined) return found
    throw expected(
      'SLUICE_BAD_KEY',
      `${where} as ${own.form.example}`,
      typeof key === 'object' ? encodeKey(key, limit) : key,
    )
  }

  private addressOf(text: string): string | undefined {
    if (text === UNKNOWN) return text
    const found = this.site.addressOf(text.replace(/\/\d+$/, ''))
    return found === UNKNOWN ? undefined : found
  }
}

/**
 * The limits that an operator means: those of the guard, or of the route that alone has the limit or that is named.
 * `having` finds the routes that have a limit, by their names.
 */
export function operatorsFor(
  call: string,
  target: OperatorTarget,
  own: Operators,
  having: (limit: string, route: string | undefined) => readonly (readonly [route: string, operators: Operators])[],
): Operators {
  const { limit, route } = Object(target) as Partial<OperatorTarget>
  if (route === undefined && typeof limit === 'string' && own.has(limit)) return own
  const found = typeof limit === 'string' ? having(limit, route) : []
  if (found.length === 1) return found[0]![1]
  if (found.length > 1) {
    const where = `guard.${call}() with the route of limit '${limit}' (${quoted(found.map(([name]) => name))})`
    throw expected('SLUICE_UNKNOWN_LIMIT', where, route)
  }
  if (route !== undefined) throw expected('SLUICE_UNKNOWN_LIMIT', `a route that has limit '${limit}'`, route)
  const where = `guard.${call}() with the name of a limit (${quoted(own.names)}, or one of a route)`
  throw expected('SLUICE_UNKNOWN_LIMIT', where, limit)
}

function inTurn<T>(items: readonly T[], change: (item: T) => Maybe<void>): Maybe<void> {
  return items.reduce<Maybe<void>>((done, item) => andThen(done, () => change(item)), undefined)
}

/** What a guard calls a client whose address it does not know. */
const UNKNOWN = 'unknown'
const CHOSEN = 'the limit chooses it for each request by a function'
const SEVERAL = 'a plan is chosen for each request'

const NO_REQUEST: Reader<unknown, never> = {
  method: () => 'GET',
  target: () => '/',
  header: () => undefined,
  peer: () => undefined,
  onClose: () => () => {},
}
