import { checkOptions } from '../../check-options.ts'
import { expected } from '../../errors.ts'
import type { Key } from '../../limiter/key.ts'
import { type LayerNames, quoted } from '../../limiter/layers.ts'
import { andThen, type Maybe } from '../../maybe.ts'
import { type Policy, type PolicyLike, policyOf } from '../../policy.ts'
import { Identity } from '../request/identity.ts'
import { keyFrom } from '../request/key-text.ts'
import { type Reader, RequestFacts } from '../request/request-facts.ts'
import type { Site } from '../request/request-reading.ts'
import type { GuardLimiter } from './after-response.ts'
import type { GuardLimit } from './guard-limit.ts'
import type { Plans } from './plans.ts'

/** The state that an operator wants to read or change. */
export interface OperatorTarget {
  limit: string
  /**
   * The key in the form that the limit's `key` returns: `'user:42'` for `user()`, an address for `ip()`, a list with
   * one text for each part for `all()`. Leave it out for a limit without a key.
   */
  key?: Key | number
  /** The name of the route, if the guard does not have the limit and several routes do. */
  route?: string
  /** The policy that the key has now, if the limit's `policy` is a function. */
  policy?: PolicyLike
}

/** One state to read or change. */
export interface TargetState {
  readonly limiter: GuardLimiter
  readonly limit: string
  /** Stands in for a request: only this limit applies to it, with the key of the target. */
  readonly subject: RequestFacts
}

/** Finds the states that an operator names, among the limits of one guard. */
export class TargetFinder {
  private readonly limiter: GuardLimiter
  private readonly limits: Readonly<Record<string, GuardLimit>>
  private readonly layers: LayerNames
  private readonly site: Site

  constructor(limiter: GuardLimiter, limits: Readonly<Record<string, GuardLimit>>, layers: LayerNames, site: Site) {
    this.limiter = limiter
    this.limits = limits
    this.layers = layers
    this.site = site
  }

  /** Whether the guard has a limit, or several layers, of this name. */
  has(limit: string): boolean {
    return Object.hasOwn(this.limits, limit) || this.layers.has(limit)
  }

  get names(): readonly string[] {
    return Object.keys(this.limits)
  }

  /**
   * The states of each layer of the limit under each policy that the key may have. `further` lists the call's options.
   */
  find(call: string, target: OperatorTarget, further: readonly string[]): TargetState[] {
    const where = `guard.${call}()`
    const { limit, key, policy } = checkOptions(where, target, ['limit', 'key', 'route', 'policy', ...further])
    const { cost = 1 } = target as { cost?: number }
    const names = this.layers.get(limit) ?? [limit]
    return names.flatMap(name =>
      this.policiesOf(where, name, policy).map(chosen => {
        return { limiter: this.limiter, limit: name, subject: this.subject(name, this.keyOf(name, key), chosen, cost) }
      }),
    )
  }

  /** The policies that the key may have. `undefined` stands for the limit's own policy. */
  private policiesOf(where: string, limit: string, given: PolicyLike | undefined): readonly (Policy | undefined)[] {
    const own = this.limits[limit]!.policy
    if (typeof own !== 'function') {
      if (given === undefined) return [undefined]
      throw expected('SLUICE_BAD_OPTION', `${where} without policy, since limit '${limit}' has one`, given)
    }
    if (given !== undefined) return [policyOf(given)]
    const { all } = own as Partial<Plans>
    if (all !== undefined) return all
    throw lacksPolicy(where)
  }

  private subject(limit: string, key: Key, policy: Policy | undefined, cost: number): RequestFacts {
    const subject = new RequestFacts({}, NO_REQUEST, this.site)
    const { names } = this
    subject.keys = names.map(name => (name === limit ? key : null))
    subject.chosen = names.map(name => (name === limit ? policy : undefined))
    // Without this the limit's own cost would override the cost of the call.
    subject.costs = names.map(() => cost)
    return subject
  }

  private keyOf(limit: string, written: Key | number | undefined): Key {
    const own = this.limits[limit]!.key
    if (own === undefined) {
      if (written === undefined) return ''
      throw expected('SLUICE_BAD_KEY', `no key, since limit '${limit}' has none`, written)
    }
    const isHelper = own instanceof Identity
    const given = isHelper && typeof written === 'number' ? String(written) : written
    const isText = typeof given === 'string' || (Array.isArray(given) && given.every(part => typeof part === 'string'))
    const found = !isHelper ? keyFrom(given) : isText ? own.form.read(given, text => this.addressOf(text)) : undefined
    if (found !== undefined) return found
    const form = isHelper ? own.form.example : 'its function gives it'
    const shown = isText && typeof given !== 'string' ? `[${quoted(given)}]` : given
    throw expected('SLUICE_BAD_KEY', `the key of limit '${limit}' as ${form}`, shown)
  }

  /** Undefined if the text is neither an address nor the network that one client's key stands for. */
  private addressOf(text: string): string | undefined {
    if (text === UNKNOWN) return text
    const [, address = text, prefix = ''] = /^(.*)(\/\d+)$/.exec(text) ?? []
    const found = this.site.addressOf(address)
    return found === UNKNOWN || !found.endsWith(prefix) ? undefined : found
  }
}

/** The finder for the guard's own limits, or for those of the route that is named or that alone has the limit. */
export function finderFor(
  call: string,
  target: OperatorTarget,
  own: TargetFinder,
  ofRoutes: (limit: string, route: string | undefined) => readonly (readonly [route: string, finder: TargetFinder])[],
): TargetFinder {
  const { limit, route } = Object(target) as Partial<OperatorTarget>
  if (route === undefined && typeof limit === 'string' && own.has(limit)) return own
  const [first, ...others] = typeof limit === 'string' ? ofRoutes(limit, route) : []
  if (first !== undefined && others.length === 0) return first[1]
  if (first !== undefined) {
    const routes = quoted([first, ...others].map(([name]) => name))
    throw expected('SLUICE_UNKNOWN_LIMIT', `guard.${call}() with the route of limit '${limit}' (${routes})`, route)
  }
  if (route !== undefined) throw expected('SLUICE_UNKNOWN_LIMIT', `a route that has limit '${limit}'`, route)
  const where = `guard.${call}() with the name of a limit (${quoted(own.names)}, or one of a route)`
  throw expected('SLUICE_UNKNOWN_LIMIT', where, limit)
}

/** The states, one for each layer. Throws if a layer has several. */
export function oneEach(call: string, states: readonly TargetState[]): readonly TargetState[] {
  if (new Set(states.map(({ limit }) => limit)).size === states.length) return states
  throw lacksPolicy(`guard.${call}()`)
}

function lacksPolicy(where: string): Error {
  const what = `${where} with the policy that the key has now, since a function chooses it`
  return expected('SLUICE_BAD_POLICY', what, undefined, "add policy: '100/m'")
}

/** The only state. Throws if there are several. */
export function onlyOne(call: string, target: OperatorTarget, found: readonly TargetState[]): TargetState {
  const [first, ...others] = oneEach(call, found)
  if (first !== undefined && others.length === 0) return first
  const layers = quoted(found.map(({ limit }) => limit))
  throw expected('SLUICE_UNKNOWN_LIMIT', `guard.${call}() with the name of one layer (${layers})`, target.limit)
}

export function inTurn(states: readonly TargetState[], change: (state: TargetState) => Maybe<void>): Maybe<void> {
  return states.reduce<Maybe<void>>((done, state) => andThen(done, () => change(state)), undefined)
}

/** What a guard calls a client whose address it does not know. */
const UNKNOWN = 'unknown'

const NO_REQUEST: Reader<unknown, never> = {
  method: () => 'GET',
  target: () => '/',
  header: () => undefined,
  peer: () => undefined,
  onClose: () => () => {},
}
