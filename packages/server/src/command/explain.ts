import { type DescriptorExplanation, type Explanation, rls, rulesLimiter } from 'sluice/rules'
import { questionOf } from '../decider/local-descriptors.ts'
import { SubjectLists } from '../decider/subject-lists.ts'
import { checkRequestOf } from '../http/check-request.ts'
import { requestFromJson } from '../rls/json-request.ts'
import { attempt, requestOf } from './request.ts'
import { rulesAt } from './rules-at.ts'
import { EXIT, type Invocation, UsageError } from './usage.ts'

/** `sluice explain`: which rules match a request, and why. */
export function explain({
  operands: [path, ...words],
  flags: { 'merge-domains': mergeDomains },
  json,
}: Invocation): number {
  if (path === undefined || words.length === 0) throw new UsageError('expected sluice explain <file> <request>')
  const rules = rulesAt(path, mergeDomains)
  if (rules.language === 'envoy') {
    const request = attempt(() => questionOf(requestFromJson(words.join(' '))))
    return print(
      rls(rules.loaded.parsed, { mergeDomains: mergeDomains === 'on' }).explain(request),
      descriptorLine,
      json,
    )
  }
  const { subject, cost } = attempt(() => checkRequestOf(requestOf(words)))
  const limiter = rulesLimiter(rules.loaded.parsed, { ownLists: true })
  limiter.checkAttributes(subject)
  const listed = new SubjectLists(limiter.rules).explain(subject)
  return print(listed ?? limiter.explain(subject, { cost }), limitLine, json)
}

function print<T>(explained: readonly T[], line: (one: T) => string, json: boolean): number {
  console.log(json ? JSON.stringify(explained) : explained.map(line).join('\n'))
  return EXIT.ok
}

function limitLine({ limit, applies, why, mode, key, policy, cost }: Explanation): string {
  if (!applies) return `- ${limit} does not apply: ${why}`
  if (policy === undefined) return `+ ${limit} applies: ${why}`
  const shadow = mode === 'shadow' ? ', in shadow' : ''
  return `+ ${limit} applies: ${why}\n    counts ${key}, ${policy}, cost ${cost}${shadow}`
}

function descriptorLine({ descriptor, rule, limits, why }: DescriptorExplanation): string {
  if (rule === undefined) return `- ${descriptor} is not limited: ${why}`
  return `+ ${descriptor} is limited: ${why}\n    counts ${rule}, ${limits.join(' and ')}`
}
