import { type DescriptorExplanation, type Explanation, rls, rulesLimiter } from 'sluice/rules'
import { questionOf } from '../decider/descriptors.ts'
import { askOf, costOf } from '../http/asks.ts'
import { BadRequest } from '../http/exchange.ts'
import { GrpcError } from '../rls/grpc-status.ts'
import { requestFromJson } from '../rls/json-request.ts'
import { rulesAt } from './rules-at.ts'
import { type Call, EXIT, UsageError } from './usage.ts'

/** `sluice explain`: which rules match a request, and why. */
export function explain({ operands: [path, ...words], json }: Call): number {
  if (path === undefined || words.length === 0) throw new UsageError('expected sluice explain <file> <request>')
  const rules = rulesAt(path)
  if (rules.language === 'envoy') {
    const request = attempt(() => questionOf(requestFromJson(words.join(' '))))
    return print(rls(rules.loaded.parsed).explain(request), descriptorLine, json)
  }
  const { subject, cost } = attempt(() => askOf(requestOf(words)))
  return print(rulesLimiter(rules.loaded.parsed).explain(subject, { cost }), limitLine, json)
}

function print<T>(explained: readonly T[], line: (one: T) => string, json: boolean): number {
  console.log(json ? JSON.stringify(explained) : explained.map(line).join('\n'))
  return EXIT.ok
}

/** JSON, or words such as `ip=203.0.113.7 cost=5`. */
function requestOf(words: readonly string[]): unknown {
  const text = words.join(' ')
  if (text.trimStart().startsWith('{')) return JSON.parse(text)
  const pairs = words.map(word => {
    const mark = word.indexOf('=')
    if (mark < 1) throw new UsageError(`expected a request as JSON or as name=value, got '${word}'`)
    return [word.slice(0, mark), word.slice(mark + 1)] as const
  })
  const { cost = '1', ...subject } = Object.fromEntries(pairs)
  return { ...subject, cost: costOf(cost) }
}

function limitLine({ limit, applies, why, mode, key, policy, cost }: Explanation): string {
  if (!applies) return `- ${limit} does not apply: ${why}`
  const shadow = mode === 'shadow' ? ', in shadow' : ''
  return `+ ${limit} applies: ${why}\n    counts ${key}, ${policy}, cost ${cost}${shadow}`
}

function descriptorLine({ descriptor, rule, limits, why }: DescriptorExplanation): string {
  if (rule === undefined) return `- ${descriptor} is not limited: ${why}`
  return `+ ${descriptor} is limited: ${why}\n    counts ${rule}, ${limits.join(' and ')}`
}

/** What is wrong with a request is the caller's to mend. */
function attempt<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`expected a request as JSON, got: ${error.message}`)
    if (error instanceof BadRequest || error instanceof GrpcError) throw new UsageError(error.message)
    throw error
  }
}
