import { expected } from '../../errors.ts'
import type { CostOption, Limiter, LimiterOptions } from '../../limiter/limiter.ts'
import { checkMode, type LimitMode, type LimitOptions } from '../../limiter/limits.ts'
import { NamedLimiter } from '../../limiter/named-limiter.ts'
import { applies, keyFor, mismatch, policyFor } from './applying.ts'
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

/** A rules file at work. A limit applies where the subject has the attributes of its key and its `when` holds. */
export interface RulesLimiter<M extends LimiterMode = 'sync'> {
  readonly rules: Rules
  readonly limiter: Limiter<Attributes, M>
  /** What each limit makes of a subject, and why; nothing is counted. */
  explain(subject: Attributes, options?: CostOption): Explanation[]
  /** The mode of each limit now. */
  readonly modes: ReadonlyMap<string, LimitMode>
  /** Throws for an attribute that no rule names, with the nearest that one does. */
  checkAttributes(subject: Attributes): void
  /** As `limiter.setMode`, which would forget the `when` of a limit without a key. */
  setMode(limit: string, mode: LimitMode): void
}

/** A limiter of a parsed rules file; throws `RulesError` with everything that is wrong with it. */
export function rulesLimiter(parsed: unknown, options?: RulesOptions<'sync'>): RulesLimiter<'sync'>
export function rulesLimiter<M extends LimiterMode>(parsed: unknown, options: RulesOptions<M>): RulesLimiter<M>
export function rulesLimiter(parsed: unknown, given: RulesOptions<LimiterMode> = {}): RulesLimiter<LimiterMode> {
  const { ownLists = false, ...options } = given
  const rules = readRules(parsed)
  if (!ownLists) refuseLists(rules)
  const { name, prefix } = rules
  const named = namedAttributes(rules)
  const modes = new Map(rules.limits.map(limit => [limit.name, limit.mode]))
  const limits = rules.limits.map(limit => [limit.name, limitOptions(limit, modes)] as const)
  // Not by `createLimiter`, which warns of a namesake: the rules of before are still in use while new ones are read.
  const limiter = new NamedLimiter<Attributes, LimiterMode>(
    { ...options, name, prefix },
    Object.fromEntries(limits),
    false,
  )
  return {
    rules,
    limiter,
    modes,
    checkAttributes: subject => checkAttributes(subject, named),
    explain: (subject, { cost = 1 } = {}) =>
      rules.limits.map(limit => explainLimit(limit, modes.get(limit.name)!, subject, cost)),
    setMode(limit, mode) {
      const one = rules.limits.find(({ name }) => name === limit)
      if (one === undefined || !isShared(one)) limiter.setMode(limit, mode)
      modes.set(limit, checkMode(mode))
    },
  }
}

/** A limiter does not apply the lists: a caller on `deny` would pass without a word. */
function refuseLists({ allow, deny }: Rules): void {
  if (allow.length + deny.length === 0) return
  const advice = 'apply rules.allow and rules.deny yourself and say ownLists: true, or let the service decide'
  const got = deny.length > 0 ? 'deny' : 'allow'
  throw expected('SLUICE_NOT_SUPPORTED', 'rules without the lists that the service applies', got, advice)
}

/** Everybody is counted together where its `when` holds. */
function isShared({ key, when }: RuleLimit): boolean {
  return key.length === 0 && when.length > 0
}

function limitOptions(limit: RuleLimit, modes: ReadonlyMap<string, LimitMode>): LimitOptions<Attributes> {
  const { name, key, policy, cost, replaces, blockFor, onOutage } = limit
  return {
    policy: isPlans(policy) ? subject => policyFor(limit, subject) : policy,
    ...(key.length > 0 && { key: subject => keyFor(limit, subject) }),
    // The limiter asks for the cost before the key: a subject that the limit is not for need not say it.
    ...(cost !== undefined && {
      cost: typeof cost === 'string' ? subject => (applies(limit, subject) ? costFrom(subject, cost) : 0) : cost,
    }),
    // A key would do it too, but then the reset of one subject would empty what all of them share.
    mode: isShared(limit) ? subject => (mismatch(limit, subject) === undefined ? modes.get(name)! : 'off') : limit.mode,
    ...(replaces !== undefined && { replaces }),
    ...(blockFor !== undefined && { blockFor }),
    onOutage,
  }
}
