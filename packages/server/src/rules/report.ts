import { rulesOf } from 'sluice/rules'
import type { LoadedDescriptors, LoadedRules } from './load.ts'
import { descriptorWarnings, type RulesWarning, ruleWarnings, type WarningContext } from './warnings.ts'

/** What `sluice check`, and a service at its start, report about valid rules. */
export interface RulesReport {
  readonly limits: number
  readonly warnings: readonly RulesWarning[]
}

export function rulesReport({ rules }: LoadedRules, context: WarningContext): RulesReport {
  return { limits: rules.limits.length, warnings: ruleWarnings(rules, context) }
}

export function descriptorsReport({ domains }: LoadedDescriptors, context: WarningContext): RulesReport {
  const limits = [...domains.values()].flatMap(level => [...rulesOf(level)]).flatMap(rule => rule.limits)
  return { limits: limits.length, warnings: descriptorWarnings(domains, context) }
}
