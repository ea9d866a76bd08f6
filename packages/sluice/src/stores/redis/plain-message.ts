import type { Rule } from '../../algorithms/rule.ts'
import type { Message } from './message.ts'
import type { Script, Scripts } from './script.ts'
import type { Asked } from './verdicts.ts'

/** A call of plain decisions under one rule: the server goes through it key by key, not in the order they were asked. */
export function plainMessage(
  scripts: Scripts,
  rule: Rule,
  keys: readonly string[],
  asked: readonly Asked[],
): { message: Message; places: readonly number[] | undefined } {
  const isOnceEach = keys.length === asked.length
  const counts = isOnceEach ? undefined : countsOf(keys.length, asked)
  const args = numbersOf(rule)
  if (counts !== undefined) args.push(`[${counts.join()}]`)
  return {
    message: { script: scriptFor(scripts, rule), keys, args },
    places: counts && placesOf(counts, asked),
  }
}

function countsOf(keys: number, asked: readonly Asked[]): number[] {
  const counts = new Array<number>(keys).fill(0)
  for (const one of asked) counts[one.keys[0]! - 1]!++
  return counts
}

/** Behind all decisions about the keys before, and the earlier ones about the same key. */
function placesOf(counts: readonly number[], asked: readonly Asked[]): number[] {
  const next: number[] = []
  let sum = 0
  for (const count of counts) {
    next.push(sum)
    sum += count
  }
  return asked.map(one => next[one.keys[0]! - 1]!++)
}

function scriptFor(scripts: Scripts, { kind }: Rule): Script {
  return kind === 'bucket' ? scripts.plainBucket : kind === 'fixed' ? scripts.plainFixed : scripts.plainSliding
}

/** As the scripts read them. */
function numbersOf(rule: Rule): string[] {
  const { limit } = rule
  if (rule.kind === 'bucket') return [String(limit), String(rule.perRequest), String(rule.perTick)]
  if (rule.kind === 'fixed') return [String(limit), String(rule.windowTicks), rule.policy.align]
  return [String(limit), String((rule as { subTicks: number }).subTicks)]
}
