import type { Rule } from '../../algorithms/rule.ts'
import type { Message } from './message.ts'
import type { Script, Scripts } from './script.ts'
import type { Asked } from './verdicts.ts'

/** Where in a short reply to look for each charge, decision by decision. */
export interface Places {
  readonly keys: readonly number[]
  /** How many more charges that key has behind it. */
  readonly later: readonly number[]
}

export interface PlainMessage {
  readonly message: Message
  /** Undefined where every charge has a key of its own. */
  readonly places: Places | undefined
}

/** A call of plain decisions, all over the same rules; undefined where two of these share a key, which has no short way. */
export function plainMessage(
  scripts: Scripts,
  rules: readonly Rule[],
  keys: readonly string[],
  asked: readonly Asked[],
): PlainMessage | undefined {
  if (asked.length === 1 && rules.length === 1)
    return { message: messageOfOne(scripts, rules[0]!, keys, asked[0]!), places: undefined }
  /** By the number of a key: its place in the order they are sent, from 0 on. */
  const order = new Array<number>(keys.length + 1)
  const ordered: string[] = []
  const starts: number[] = []
  const words: string[] = []
  for (let i = 0; i < rules.length; i++) {
    const start = ordered.length
    for (const one of asked) {
      const number = one.keys[i]!
      const place = order[number]
      if (place === undefined) order[number] = ordered.push(keys[number - 1]!) - 1
      else if (place < start) return undefined
    }
    starts.push(start)
    words.push(wordsOf(rules[i]!, ordered.length - start))
  }
  const args = [words.join(' ')]
  const message = { script: scripts.plain, keys: ordered, args }
  if (ordered.length === rules.length * asked.length) return { message, places: undefined }
  const places: number[] = []
  const placesInLimit: number[] = []
  const counts = new Array<number>(ordered.length).fill(0)
  for (const one of asked) {
    for (let i = 0; i < rules.length; i++) {
      const place = order[one.keys[i]!]!
      places.push(place)
      placesInLimit.push(place - starts[i]!)
      counts[place]!++
    }
  }
  args.push(String.fromCharCode(...counts.map(count => count - 1)), String.fromCharCode(...placesInLimit))
  return { message, places: { keys: places, later: places.map(place => --counts[place]!) } }
}

/** As lua/plain.lua reads them. */
function wordsOf(rule: Rule, keys: number): string {
  const letter = rule.kind === 'bucket' ? 'B' : rule.kind === 'fixed' ? 'F' : 'S'
  return `${letter} ${keys} ${rule.limit * rule.perRequest} ${rule.perRequest} ${spanOf(rule)}`
}

function messageOfOne(scripts: Scripts, rule: Rule, keys: readonly string[], asked: Asked): Message {
  return { script: scriptOf(scripts, rule), keys: [keys[asked.keys[0]! - 1]!], args: numbersOf(rule) }
}

function scriptOf(scripts: Scripts, { kind }: Rule): Script {
  return kind === 'bucket' ? scripts.oneBucket : kind === 'fixed' ? scripts.oneFixed : scripts.oneSliding
}

/** As lua/one-bucket.lua and its like read them. */
function numbersOf(rule: Rule): string[] {
  if (rule.kind !== 'bucket') return [String(rule.limit), String(spanOf(rule))]
  const numbers = [String(rule.full), String(rule.perRequest)]
  return rule.perTick === 1 ? numbers : [...numbers, String(rule.perTick)]
}

/** Below 0 where windows start with their first use. */
function spanOf(rule: Rule): number {
  if (rule.kind === 'bucket') return rule.perTick
  if (rule.kind === 'fixed') return rule.policy.align === 'first' ? -rule.windowTicks : rule.windowTicks
  return (rule as { subTicks: number }).subTicks
}
