import { type Explanation, rls, rulesLimiter } from 'sluice/rules'
import { questionOf } from '../decider/descriptors.ts'
import { askOf } from '../http/asks.ts'
import { BadRequest } from '../http/exchange.ts'
import { requestFromJson } from '../rls/json-request.ts'
import { EXIT, UsageError } from './command.ts'
import { rulesAt } from './rules-at.ts'

/** `sluice explain`: which rules match a request, and why. */
export function explain([path, ...words]: readonly string[], _: object, json: boolean): number {
  if (path === undefined || words.length === 0) throw new UsageError('expected sluice explain <file> <request>')
  const rules = rulesAt(path)
  if (rules.language === 'envoy') {
    const explained = attempt(() => rls(rules.loaded.parsed).explain(questionOf(requestFromJson(words.join(' ')))))
    console.log(
      json
        ? JSON.stringify(explained)
        : explained.map(({ why, ...rest }) => `${JSON.stringify(rest)}\n  ${why}`).join('\n'),
    )
    return EXIT.ok
  }
  const { subject, cost } = attempt(() => askOf(requestOf(words)))
  const explained = rulesLimiter(rules.loaded.parsed).explain(subject, { cost })
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
  const { cost, ...subject } = Object.fromEntries(pairs)
  return { ...subject, ...(cost !== undefined && { cost: Number(cost) }) }
}

function line({ limit, applies, why, mode, key, policy, cost }: Explanation): string {
  if (!applies) return `- ${limit} does not apply: ${why}`
  const shadow = mode === 'shadow' ? ', in shadow' : ''
  return `+ ${limit} applies: ${why}\n    counts ${key}, ${policy}, cost ${cost}${shadow}`
}

/** What is wrong with a request is the caller's to mend. */
function attempt<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof BadRequest || error instanceof SyntaxError) throw new UsageError(error.message)
    if (String((error as { grpc?: unknown }).grpc) === 'INVALID_ARGUMENT')
      throw new UsageError((error as Error).message)
    throw error
  }
}
