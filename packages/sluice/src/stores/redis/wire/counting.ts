import { describe } from '../../../algorithms/bucket.ts'
import type { Rule } from '../../../algorithms/rule.ts'
import { type Charge, ENFORCED } from '../../charge.ts'
import type { Question } from '../../store.ts'
import { type CallKey, FIRST_PLACE, type OrderedKeys } from './call-keys.ts'
import type { ScriptReply } from './script.ts'

/**
 * Decisions that only count have a short form: each charge is enforced, and nothing is held, booked or blocked. The
 * general form would take the server three times as long, and the client half as long again.
 */
export function onlyCounts({ charges, intent }: Question): boolean {
  if (!intent.take || intent.holdTicks > 0 || intent.bookTicks >= 0) return false
  for (const charge of charges) if (!isCounted(charge)) return false
  return true
}

function isCounted({ role, cost, limit, rule }: Charge): boolean {
  return role === ENFORCED && cost > 0 && limit.block === undefined && letterOf(rule) !== undefined
}

function letterOf(rule: Rule): 'B' | 'F' | 'L' | 'S' | undefined {
  if (rule.kind === 'log') return 'L'
  if (rule.kind === 'bucket') return 'B'
  if (rule.kind === 'sliding') return rule.buckets === 1 ? 'S' : undefined
  if (rule.kind !== 'fixed') return undefined
  return rule.windowTicks > 0 && rule.policy.align !== 'key' ? 'F' : undefined
}

/** The arguments for lua/decide.lua: ARGV[2…]. `keys` are those of the charges. */
export function countingArgs(asked: readonly Question[], keys: readonly CallKey[], ordered: OrderedKeys): string[] {
  const { rules, counts, names, logs } = ordered
  const firsts = counts.map((_, group) => counts.slice(0, group).reduce((sum, count) => sum + count, FIRST_PLACE))
  let isEachOne = keys.length === names.length
  let isEachOwn = isEachOne
  let at = 0
  for (let decision = 0; decision < asked.length; decision++) {
    const { charges } = asked[decision]!
    if (charges.length !== rules.length) isEachOwn = false
    for (let i = 0; i < charges.length; i++) {
      const key = keys[at++]!
      key.charged += charges[i]!.cost
      if (key.charged > 1) isEachOne = false
      if (key.place !== firsts[i]! + decision) isEachOwn = false
    }
  }
  const words = rules.map((rule, i) => wordsOf(rule, counts[i]!)).join(' ')
  const args = [logs > 0 ? `${words} L` : words]
  if (isEachOne && isEachOwn) return args
  args.push(isEachOne ? '' : `[${sumsOf(keys, names.length).join()}]`, `[${chargesText(asked, keys)}]`)
  return args
}

function wordsOf(rule: Rule, keys: number): string {
  return `${letterOf(rule)} ${keys} ${rule.limit * rule.perRequest} ${rule.perRequest} ${spanOf(rule)}`
}

/** Below 0 if windows start with their first use. */
function spanOf(rule: Rule): number {
  if (rule.kind === 'bucket') return rule.perTick
  if (rule.kind === 'fixed') return rule.policy.align === 'first' ? -rule.windowTicks : rule.windowTicks
  return rule.kind === 'log' ? rule.windowTicks : (rule as { subTicks: number }).subTicks
}

function sumsOf(keys: readonly CallKey[], count: number): number[] {
  const sums = new Array<number>(count).fill(0)
  for (const { place, charged } of keys) sums[place - FIRST_PLACE] = charged
  return sums
}

function chargesText(asked: readonly Question[], keys: readonly CallKey[]): string {
  let text = ''
  let at = 0
  for (const { charges } of asked) {
    text += `${at > 0 ? ',' : ''}${charges.length}`
    for (const { cost } of charges) text += `,${keys[at++]!.place},${cost}`
  }
  return text
}

/** Whether a reply says only that all decisions passed. */
export function allPassed(reply: ScriptReply, { names, rules }: OrderedKeys): boolean {
  return reply.length === 1 + names.length + rules.length
}

export function readPassed(
  reply: ScriptReply,
  asked: readonly Question[],
  keys: readonly CallKey[],
  { names }: OrderedKeys,
  onLate: () => void,
): void {
  const now = reply.at(0)
  let at = 0
  for (const item of asked) {
    let isLate = false
    for (const charge of item.charges) {
      const key = keys[at++]!
      key.charged -= charge.cost
      const used = reply.at(key.place - 1) - key.charged * charge.rule.perRequest
      if (charge.fault !== undefined) isLate = true
      else pass(charge, now, used, reply.at(1 + names.length + key.group))
    }
    if (isLate) onLate()
    item.done()
  }
}

function pass(charge: Charge, at: number, used: number, ticks: number): void {
  const { rule } = charge
  charge.at = at
  charge.allowed = true
  charge.retryAt = 0
  charge.receipt = 1
  charge.used = used
  if (rule.kind === 'bucket') describe(used, rule, at, charge)
  else charge.resetAt = at + ticks
}
