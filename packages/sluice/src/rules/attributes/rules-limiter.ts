import { checkOptions } from '../../check-options.ts'
import { expected } from '../../errors.ts'
import type { CostOption, Limiter, LimiterOptions } from '../../limiter/limiter.ts'
import { checkMode, type LimitMode, type LimitOptions } from '../../limiter/limits.ts'
import { NamedLimiter } from '../../limiter/named-limiter.ts'
import { keyFor, mismatch, policyFor } from './applying.ts'
import { type Attributes, costFrom } from './attributes.ts'
import { type Explanation, explainLimit } from './explain.ts'
import { isPlans, type RuleLimit } from './limit.ts'
import { checkAttributes, namedAttributes } from './named-attributes.ts'
import { type Rules, readRules } from './rules.ts'

type LimiterMode = 'sync' | 'async'

export type RulesOptions<M extends LimiterMode> = Pick<
  LimiterOptions<Attributes, M>,
  'store' | 'clock' | 'onDecision' | 'onEvent'
> & {
  /** The caller applies `rules.allow` and `rules.deny` itself. Without it, rules that have such lists are refused. */
  ownLists?: boolean
}

/**
 * A limiter made from a rules file. A limit applies if the subject has the attributes of its key and its `when` holds.
 */
export interface RulesLimiter<M extends LimiterMode = 'sync'> {
  readonly rules: Rules
  readonly limiter: Limiter<Attributes, M>
  /** What each limit does with a subject, and why. Nothing is counted. */
  explain(subject: Attributes, options?: CostOption): Explanation[]
  /** The current mode of each limit. */
  readonly modes: ReadonlyMap<string, LimitMode>
  /** Throws for an attribute that no rule names, and suggests the nearest one. */
  checkAttributes(subject: Attributes, beside?: readonly string[]): void
  /** Like `limiter.setMode`, but keeps the `when` of a limit without a key. */
  setMode(limit: string, mode: LimitMode): void
}

const KNOWN = ['store', 'clock', 'onDecision', 'onEvent', 'ownLists']

/** A limiter of a parsed rules file; throws `RulesError` with all its errors. */
export function rulesLimiter(parsed: unknown, options?: RulesOptions<'sync'>): RulesLimiter<'sync'>
export function rulesLimiter<M extends LimiterMode>(parsed: unknown, options: RulesOptions<M>): RulesLimiter<M>
export function rulesLimiter(parsed: unknown, given: RulesOptions<LimiterMode> = {}): RulesLimiter<LimiterMode> {
  const { ownLists = false, ...options } = checkOptions('rulesLimiter', given, KNOWN)
  const rules = readRules(parsed)
  if (!ownLists) refuseLists(rules)
  const { name, prefix } = rules
  const named = namedAttributes(rules)
  const modes = new Map(rules.limits.map(limit => [limit.name, limit.mode]))
  const limits = rules.limits.map(limit => [limit.name, limitOptions(limit, modes)] as const)
  // `createLimiter` would warn about two limiters with one name, because the old rules stay in use while new ones are
  // read.
  const limiter = new NamedLimiter<Attributes, LimiterMode>(
    { ...options, name, prefix },
    Object.fromEntries(limits),
    false,
  )
  return {
    rules,
    limiter,
    modes,
    checkAttributes: (subject, beside) => checkAttributes(subject, named, beside),
    explain: (subject, { cost = 1 } = {}) =>
      rules.limits.map(limit => explainLimit(limit, modes.get(limit.name)!, subject, cost)),
    setMode(limit, mode) {
      const one = rules.limits.find(({ name }) => name === limit)
      if (one === undefined || !isShared(one)) limiter.setMode(limit, mode)
      modes.set(limit, checkMode(mode))
    },
  }
}

/** A limiter does not apply the lists, so a caller on `deny` would pass unnoticed. */
function refuseLists({ allow, deny }: Rules): void {
  if (allow.length + deny.length === 0) return
  const advice = 'apply rules.allow and rules.deny yourself and say ownLists: true, or let the service decide'
  const got = deny.length > 0 ? 'deny' : 'allow'
  throw expected('SLUICE_NOT_SUPPORTED', 'rules without the lists that the service applies', got, advice)
}

/** A limit without a key counts all requests together if its `when` holds. */
function isShared({ key, when }: RuleLimit): boolean {
  return key.length === 0 && when.length > 0
}

function limitOptions(limit: RuleLimit, modes: ReadonlyMap<string, LimitMode>): LimitOptions<Attributes> {
  const { name, key, policy, cost, replaces, blockFor, onOutage } = limit
  return {
    policy: isPlans(policy) ? subject => policyFor(limit, subject) : policy,
    ...(key.length > 0 && { key: subject => keyFor(limit, subject) }),
    ...(cost !== undefined && { cost: typeof cost === 'string' ? subject => costFrom(subject, cost) : cost }),
    // A constant key would work too, but then resetting one subject would reset all.
    mode: isShared(limit) ? subject => (mismatch(limit, subject) === undefined ? modes.get(name)! : 'off') : limit.mode,
    ...(replaces !== undefined && { replaces }),
    ...(blockFor !== undefined && { blockFor }),
    onOutage,
  }
}
