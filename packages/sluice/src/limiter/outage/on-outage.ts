import { type Rule, ruleOf } from '../../algorithms/rule.ts'
import { checkOptions } from '../../check-options.ts'
import { expected } from '../../errors.ts'
import { type PolicyLike, policyOf } from '../../policy.ts'

/**
 * What decides while the store is down. `{ local: 0.5 }` enforces that share of the limit in this process; `{ local:
 * '20/m' }` enforces a limit of its own. `'local'` enforces half of the limit, or the store's own share if it knows how
 * many processes there are.
 */
export type OnOutage = OutageMode | { readonly local: number | PolicyLike }

export type OutageMode = 'local' | 'open' | 'closed'

/** `OnOutage`, checked. */
export interface OutageRule {
  readonly mode: OutageMode
  /** With `'local'`: the share of the limit; if undefined, the store says it. */
  readonly share: number | undefined
  /** With `'local'`: the numbers to enforce in place of a share. */
  readonly own: Rule | undefined
}

const WHAT = "onOutage 'local', 'open', 'closed', { local: 0.5 } or { local: '20/m' }"

export function outageRuleOf(onOutage: unknown, where: string): OutageRule {
  if (onOutage === 'local' || onOutage === 'open' || onOutage === 'closed') {
    return { mode: onOutage, share: undefined, own: undefined }
  }
  if (typeof onOutage !== 'object' || onOutage === null || !('local' in onOutage)) {
    throw expected('SLUICE_BAD_OPTION', `${where} ${WHAT}`, onOutage)
  }
  const { local } = checkOptions(`${where} onOutage`, onOutage, ['local'])
  if (typeof local !== 'number') {
    return { mode: 'local', share: undefined, own: ruleOf(policyOf(local as PolicyLike)) }
  }
  if (local > 0 && local <= 1) return { mode: 'local', share: local, own: undefined }
  throw expected(
    'SLUICE_BAD_OPTION',
    `${where} onOutage.local as a share above 0, up to 1`,
    local,
    "a number of requests needs a time: { local: '20/m' }",
  )
}

/**
 * Checks that both rules are rates or both are concurrency, since only slots are given back. Returns the limit's own
 * rule.
 */
export function fittingRule(rule: Rule, { own }: OutageRule, where: string): Rule {
  if (own === undefined || (own.kind === 'slots') === (rule.kind === 'slots')) return rule
  const what = rule.kind === 'slots' ? 'concurrency, as the limit is' : 'a rate, as the limit is'
  throw expected('SLUICE_BAD_OPTION', `${where} onOutage.local as ${what}`, own.policy.kind)
}
