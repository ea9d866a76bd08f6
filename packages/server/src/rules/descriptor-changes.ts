import {
  type DescriptorRule,
  type Domains,
  keepsState,
  outageWords,
  policyWords,
  type RateLimit,
  rulesOf,
} from 'sluice/rules'
import type { LoadedDescriptors } from './load.ts'

/** What a reload changed, in sentences for the log. */
export function descriptorChanges(before: LoadedDescriptors, after: LoadedDescriptors): string[] {
  const [old, now] = [limitsOf(before.domains), limitsOf(after.domains)]
  const changes: string[] = []
  for (const [name, { rule, limit }] of now) {
    const was = old.get(name)
    if (was === undefined) changes.push(`rule '${name}' is new: ${limitWords(limit)}`)
    else changes.push(...limitChanges(name, was, { rule, limit }))
  }
  for (const name of old.keys()) if (!now.has(name)) changes.push(`rule '${name}' is gone`)
  return changes
}

interface PlacedLimit {
  readonly rule: DescriptorRule
  readonly limit: RateLimit
}

/** Every limit by the composite key of its rule, and its place where a rule has several. */
function limitsOf(domains: Domains): Map<string, PlacedLimit> {
  const limits = new Map<string, PlacedLimit>()
  for (const level of domains.values()) {
    for (const rule of rulesOf(level)) {
      for (const [nth, limit] of rule.limits.entries()) {
        limits.set(nth === 0 ? rule.name : `${rule.name} #${nth + 1}`, { rule, limit })
      }
    }
  }
  return limits
}

function limitChanges(name: string, before: PlacedLimit, after: PlacedLimit): string[] {
  const changes: string[] = []
  const [was, is] = [limitWords(before.limit), limitWords(after.limit)]
  if (was !== is) changes.push(`rule '${name}' was ${was}, is now ${is}: ${stateWords(before.limit, after.limit)}`)
  for (const [what, told] of Object.entries(ASIDE)) {
    if (told(before) !== told(after)) changes.push(`rule '${name}' had ${what} ${told(before)}, now ${told(after)}`)
  }
  const [from, to] = [outageWords(before.limit.onOutage), outageWords(after.limit.onOutage)]
  if (from !== to) changes.push(`rule '${name}' had on_outage ${from}, now ${to}: starts afresh`)
  if (before.rule.shared !== after.rule.shared) {
    changes.push(`rule '${name}' counts values ${after.rule.shared ? 'together' : 'apart'} now: starts afresh`)
  }
  return changes
}

/** The properties besides the limit. A change of them keeps the counts. */
const ASIDE: Readonly<Record<string, (placed: PlacedLimit) => string>> = {
  shadow_mode: ({ rule }) => String(rule.shadow),
  quota_mode: ({ rule }) => String(rule.quota),
  name: ({ limit }) => limit.name ?? 'none',
  replaces: ({ limit }) => limit.replaces.join(', ') || 'nothing',
}

function limitWords({ policy }: RateLimit): string {
  return policy === undefined ? 'unlimited' : policyWords(policy)
}

function stateWords(before: RateLimit, after: RateLimit): string {
  if (before.policy === undefined || after.policy === undefined) return 'starts afresh'
  return keepsState(before.policy, after.policy) ? 'what callers have used is kept' : 'starts afresh'
}
