import { overrideOf } from './override.ts'
import type { RateLimit } from './rate-limit.ts'
import type { RlsDescriptor } from './request.ts'
import { type DescriptorEntry, type DescriptorRule, type Level, walk } from './tree.ts'

/** What a descriptor of a request found: the limits it is under, none included. */
export interface Match {
  readonly descriptor: RlsDescriptor
  /** The rules on the way down, one for each entry; none for an override. */
  readonly rules: readonly DescriptorRule[]
  readonly limits: readonly RateLimit[]
  readonly isOverride: boolean
}

const NOTHING: Pick<Match, 'rules' | 'limits' | 'isOverride'> = { rules: [], limits: [], isOverride: false }

/** The matches of a request's descriptors, in order; a domain without rules has none, overrides included. */
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
  // A limit counts where the request ends, not where it passes by.
  const limits = rules.length === entries.length ? rules.at(-1)!.limits : []
  return { descriptor, rules, limits, isOverride: false }
}

/** A rule whose name another match replaces is as if it had not matched. */
function withoutReplaced(matches: readonly Match[]): Match[] {
  const replaced = new Set(matches.flatMap(({ limits }) => limits.flatMap(({ replaces }) => replaces)))
  return matches.map(one => ({
    ...one,
    limits: one.limits.filter(({ name }) => name === undefined || !replaced.has(name)),
  }))
}

/** What metrics call the rule of a match: its composite key, with values of the request only where the rule says so. */
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
