import { policyWords } from '../words.ts'
import { type Match, metricName } from './matching.ts'
import type { DescriptorEntry, DescriptorRule } from './tree.ts'

/** What a descriptor of a request matches, in words. */
export interface DescriptorExplanation {
  /** `key1=value1 subkey1=x`. */
  readonly descriptor: string
  /** The rule that limits it, by its composite key. */
  readonly rule?: string
  /** One line for each limit of the rule. */
  readonly limits: readonly string[]
  readonly why: string
}

export function explainMatch(domain: string, match: Match, hits: number): DescriptorExplanation {
  const { limits, descriptor } = match
  return {
    descriptor: descriptor.entries.map(entryWords).join(' '),
    ...(limits.length > 0 && { rule: metricName(domain, match) }),
    limits: limits.map(({ policy }) => (policy === undefined ? 'unlimited' : policyWords(policy))),
    why: whyWords(match, hits),
  }
}

function whyWords({ descriptor, rules, limits, isOverride }: Match, hits: number): string {
  const { entries } = descriptor
  if (isOverride) return 'the request brings its own limit'
  if (descriptor.limit !== undefined) return 'the request brings its own limit, but there are no rules for its domain'
  const steps = rules.map((rule, i) => stepWords(rule, entries[i]!))
  const lost = entries[rules.length]
  if (lost !== undefined) steps.push(`no rule for ${entryWords(lost)}${rules.length > 0 ? ' after that' : ''}`)
  else if (rules.at(-1)!.limits.length === 0) steps.push('that rule has no limit')
  else if (limits.length === 0) steps.push('another match replaces that rule')
  else if (rules.at(-1)!.shadow) steps.push('only a shadow: it never refuses')
  else if (rules.at(-1)!.quota) steps.push('a quota: it refuses only when all quotas of the request are used up')
  else if (hits > 1 && rules.at(-1)!.overdraw === undefined) {
    steps.push(`${hits} hits count only where so many are left: write overdraw: true if the work is done by then`)
  }
  return steps.join('; ')
}

function stepWords({ key, value, shared }: DescriptorRule, entry: DescriptorEntry): string {
  if (value === '') return `${entryWords(entry)} matches any ${key}`
  if (value === entry.value) return `${entryWords(entry)} matches exactly`
  return `${entryWords(entry)} matches ${key}=${value}${shared ? ', counted together with all that do' : ''}`
}

function entryWords({ key, value }: DescriptorEntry): string {
  return `${key}=${value}`
}
