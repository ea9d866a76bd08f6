import type { Rule } from '../../../algorithms/rule.ts'
import type { Message, Script, Scripts } from './script.ts'

/** Where in a short reply to look for each charge, decision by decision. */
export interface ReplyPlaces {
  readonly keys: readonly number[]
  /** How many more charges that key has behind it. */
  readonly later: readonly number[]
}

export interface PlainMessage {
  readonly message: Message
  /** Undefined where every charge has a key of its own. */
  readonly places: ReplyPlaces | undefined
}

/**
 * A call of plain decisions, all over the same rules; undefined where two of these share a key, which has no short way.
 * `numbers` are those of the keys, charge by charge.
 */
export function plainMessage(
  scripts: Scripts,
  rules: readonly Rule[],
  keys: readonly string[],
  numbers: readonly number[],
): PlainMessage | undefined {
  const isEachItsOwn = keys.length === numbers.length && numbers.every((number, at) => number === at + 1)
  if (!isEachItsOwn) return ofSharedKeys(scripts, rules, keys, numbers)
  return { message: ofOwnKeys(scripts, rules, keys), places: undefined }
}

/** Every charge has a key of its own, in the order of the charges; they are sent limit by limit. */
function ofOwnKeys(scripts: Scripts, rules: readonly Rule[], keys: readonly string[]): Message {
  const [rule, second] = rules as [Rule, Rule?]
  if (keys.length === 1) return { script: scriptOf(scripts, rule), keys, args: numbersOf(rule) }
  if (second === undefined && rule.kind === 'bucket') return { script: scripts.buckets, keys, args: numbersOf(rule) }
  if (second === undefined) return { script: scripts.plain, keys, args: [wordsOf(rule, keys.length)] }
  const ordered: string[] = []
  for (let i = 0; i < rules.length; i++) {
    for (let at = i; at < keys.length; at += rules.length) ordered.push(keys[at]!)
  }
  const each = keys.length / rules.length
  return { script: scripts.plain, keys: ordered, args: [rules.map(one => wordsOf(one, each)).join(' ')] }
}

function ofSharedKeys(
  scripts: Scripts,
  rules: readonly Rule[],
  keys: readonly string[],
  numbers: readonly number[],
): PlainMessage | undefined {
  /** By the number of a key: its place in the order they are sent, counted from 0. */
  const order = new Array<number>(keys.length + 1)
  const ordered: string[] = []
  const starts: number[] = []
  const words: string[] = []
  for (let i = 0; i < rules.length; i++) {
    const start = ordered.length
    for (let at = i; at < numbers.length; at += rules.length) {
      const number = numbers[at]!
      const place = order[number]
      if (place === undefined) order[number] = ordered.push(keys[number - 1]!) - 1
      else if (place < start) return undefined
    }
    starts.push(start)
    words.push(wordsOf(rules[i]!, ordered.length - start))
  }
  const args = [words.join(' ')]
  const places = numbers.map(number => order[number]!)
  const placesInLimit = places.map((place, at) => place - starts[at % rules.length]!)
  const counts = new Array<number>(ordered.length).fill(0)
  for (const place of places) counts[place]!++
  args.push(String.fromCharCode(...counts.map(count => count - 1)), String.fromCharCode(...placesInLimit))
  const message = { script: scripts.plain, keys: ordered, args }
  return { message, places: { keys: places, later: places.map(place => --counts[place]!) } }
}

/** As lua/plain.lua reads them. */
function wordsOf(rule: Rule, keys: number): string {
  const letter = rule.kind === 'bucket' ? 'B' : rule.kind === 'fixed' ? 'F' : 'S'
  return `${letter} ${keys} ${rule.limit * rule.perRequest} ${rule.perRequest} ${spanOf(rule)}`
}

function scriptOf(scripts: Scripts, { kind }: Rule): Script {
  return kind === 'bucket' ? scripts.oneBucket : kind === 'fixed' ? scripts.oneFixed : scripts.oneSliding
}

/** As lua/one-bucket.lua and its like read them, and lua/buckets.lua. */
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
