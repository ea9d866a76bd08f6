import { overrideOf } from './override.ts'
import type { RateLimit } from './rate-limit.ts'
import type { RlsDescriptor } from './request.ts'
import { type DescriptorEntry, type DescriptorRule, type Level, walk } from './tree.ts'

/** What a descriptor of a request matches: the limits that apply, if any. */
export interface Match {
  readonly descriptor: RlsDescriptor
  /** The rules that were matched, one for each entry; none for an override. */
  readonly rules: readonly DescriptorRule[]
  readonly limits: readonly RateLimit[]
  readonly isOverride: boolean
}

const NOTHING: Pick<Match, 'rules' | 'limits' | 'isOverride'> = { rules: [], limits: [], isOverride: false }

/** The matches of a request's descriptors, in order. A domain without rules has none, not even for overrides. */
export function matchAll(level: Level | undefined, descriptors: readonly RlsDescriptor[]): Match[] {
  const matches = descriptors.map(descriptor => match(level, descriptor))
  return matches.some(({ limits }) => limits.some(({ replaces }) => replaces.length > 0))
    ? withoutReplaced(matches)
    : matches
}

function match(level: Level | undefined, descriptor: RlsDescriptor): Match {
  const { entries, limit } = descriptor
  if (limit !== undefined) {
    const override = overrideOf(limit)
    return level === undefined
      ? { ...NOTHING, descriptor }
      : { descriptor, rules: [], limits: [override], isOverride: true }
  }
  const rules = level === undefined ? [] : walk(level, entries)
  // A limit applies only if its rule matches the last entry of the request.
  const limits = rules.length === entries.length ? rules.at(-1)!.limits : []
  return { descriptor, rules, limits, isOverride: false }
}

/** Whether another match replaces this rule's name; then the rule is ignored. */
function withoutReplaced(matches: readonly Match[]): Match[] {
  const replaced = new Set(matches.flatMap(({ limits }) => limits.flatMap(({ replaces }) => replaces)))
  return matches.map(one => ({
    ...one,
    limits: one.limits.filter(({ name }) => name === undefined || !replaced.has(name)),
  }))
}

/**
 * The name of a match's rule in metrics: its composite key, with values of the request only if the rule asks for that.
 */
export function metricName(domain: string, { rules, descriptor, isOverride }: Match): string {
  if (isOverride) return [domain, ...descriptor.entries.map(({ key }) => key)].join('.')
  const last = rules.at(-1)!
  if (!last.detailed && !rules.some(({ valueToMetric }) => valueToMetric)) return last.name
  const level = (rule: DescriptorRule, { value }: DescriptorEntry) => {
    const told = rule.valueToMetric || (last.detailed && rule.value === '') ? value : rule.value
    return told === '' ? rule.key : `${rule.key}_${told}`
  }
  return [domain, ...rules.map((rule, i) => level(rule, descriptor.entries[i]!))].join('.')
}
