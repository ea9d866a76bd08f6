import type { Rule } from '../../../algorithms/rule.ts'
import type { Charge } from '../../charge.ts'
import { nameOf, prefixOf } from './naming.ts'

/** The place in KEYS of the first that is not the clock's. */
export const FIRST_PLACE = 2

/** A key of a call. */
export interface CallKey {
  readonly name: string
  /** That of the first charge to it. */
  readonly rule: Rule
  /** Its place in KEYS, from 1, and that of its rule among the call's, from 0: known once they are in order. */
  place: number
  group: number
  /** What of the call is charged to it. */
  charged: number
}

/** The keys of a call in the order they are sent. */
export interface OrderedKeys {
  readonly names: readonly string[]
  readonly rules: readonly Rule[]
  /** How many keys each rule has. */
  readonly counts: readonly number[]
  /** How many of the keys are logs: these come last, since they are not read as a whole. */
  readonly logs: number
}

/** The keys of a call, each once, in groups of one rule. */
export class CallKeys {
  count = 0
  /** A key is charged by two rules: a plan has changed. */
  isMixed = false
  private readonly tagOf: (key: string) => number
  /** By the text before it: keys of two rules may have the same. */
  private readonly byPrefix = new Map<string, Map<string, CallKey>>()
  private readonly byRule = new Map<Rule, CallKey[]>()

  constructor(tagOf: (key: string) => number) {
    this.tagOf = tagOf
  }

  /** Throws where a name would be longer than a string can be. */
  keyOf(charge: Charge): CallKey {
    const { key, rule } = charge
    const prefix = prefixOf(charge)
    const known = getOrMake(this.byPrefix, prefix.text, newMap)
    let found = known.get(key)
    if (found === undefined) {
      found = { name: nameOf(prefix, key, this.tagOf(key)), rule, place: 0, group: 0, charged: 0 }
      known.set(key, found)
      getOrMake(this.byRule, rule, newList).push(found)
      this.count++
    } else if (found.rule !== rule) {
      this.isMixed = true
    }
    return found
  }

  /** Puts the keys in order, rule by rule. */
  inOrder(): OrderedKeys {
    const rules = [...this.byRule.keys()]
    if (rules.some(isLog)) rules.sort((a, b) => Number(isLog(a)) - Number(isLog(b)))
    const names: string[] = []
    const counts: number[] = []
    let logs = 0
    for (const [group, rule] of rules.entries()) {
      const keys = this.byRule.get(rule)!
      for (const key of keys) {
        key.place = FIRST_PLACE - 1 + names.push(key.name)
        key.group = group
        key.charged = 0
      }
      counts.push(keys.length)
      if (isLog(rule)) logs += keys.length
    }
    return { names, rules, counts, logs }
  }
}

function isLog({ kind }: Rule): boolean {
  return kind === 'log'
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}

const newMap = () => new Map<string, CallKey>()
const newList = (): CallKey[] => []
