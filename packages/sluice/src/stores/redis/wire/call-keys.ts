import type { Rule } from '../../../algorithms/rule.ts'
import type { Charge } from '../../charge.ts'
import { type KeyPrefix, nameOf, prefixOf } from './naming.ts'

/** The index in KEYS of the first key after the clock's. */
export const FIRST_PLACE = 2

/** A key of a call, linked to the previous one in its chain. */
export class CallKey {
  readonly prefix: KeyPrefix
  readonly key: string
  readonly name: string
  /** The key of the first charge to it. */
  readonly rule: Rule
  readonly before: CallKey | undefined
  /** Its index in KEYS, from 1, and its rule's index in the call, from 0. They are known once the keys are in order. */
  place = 0
  group = 0
  /** What the call charges to it. */
  charged = 0

  constructor(prefix: KeyPrefix, key: string, name: string, rule: Rule, before: CallKey | undefined) {
    this.prefix = prefix
    this.key = key
    this.name = name
    this.rule = rule
    this.before = before
  }
}

/** The keys of a call in the order they are sent. */
export interface OrderedKeys {
  readonly names: readonly string[]
  readonly rules: readonly Rule[]
  /** How many keys each rule has. */
  readonly counts: readonly number[]
  /** How many of the keys are logs. These come last, because they are not read as a whole. */
  readonly logs: number
}

/** A power of two, about as many as a full call has keys. */
const CHAINS = 64

/**
 * The keys of a call, each once, in groups of one rule. They are chained by their tags, which their names need anyway.
 * With a `Map` a decision takes the client 30 % longer, because the outgrown tables of a `Map` keep its keys alive in
 * the garbage collector.
 */
export class CallKeys {
  count = 0
  /** True if two rules charge one key, because a plan has changed. */
  isMixed = false
  private readonly tagOf: (key: string) => number
  private readonly chains = new Array<CallKey | undefined>(CHAINS)
  private readonly groups: CallKey[][] = []
  /** The group of the last key, which is nearly always the next one's too. */
  private group: CallKey[] = []

  constructor(tagOf: (key: string) => number) {
    this.tagOf = tagOf
  }

  /** Throws if a name would be longer than a string can be. */
  keyOf(charge: Charge): CallKey {
    const { key, rule } = charge
    const prefix = prefixOf(charge)
    const tag = this.tagOf(key)
    const last = this.chains[tag & (CHAINS - 1)]
    for (let one = last; one !== undefined; one = one.before) {
      // Two rules may have the same prefix.
      if (one.key === key && one.prefix.text === prefix.text) {
        if (one.rule !== rule) this.isMixed = true
        return one
      }
    }
    const made = new CallKey(prefix, key, nameOf(prefix, key, tag), rule, last)
    this.chains[tag & (CHAINS - 1)] = made
    this.groupOf(rule).push(made)
    this.count++
    return made
  }

  private groupOf(rule: Rule): CallKey[] {
    if (this.group[0]?.rule === rule) return this.group
    let group = this.groups.find(([first]) => first!.rule === rule)
    if (group === undefined) {
      group = []
      this.groups.push(group)
    }
    this.group = group
    return group
  }

  /** Puts the keys in order, rule by rule. */
  inOrder(): OrderedKeys {
    const groups = this.groups.some(isLog)
      ? this.groups.toSorted((a, b) => Number(isLog(a)) - Number(isLog(b)))
      : this.groups
    const names: string[] = []
    let logs = 0
    for (let group = 0; group < groups.length; group++) {
      const keys = groups[group]!
      for (let i = 0; i < keys.length; i++) {
        const key = keys[i]!
        key.place = FIRST_PLACE - 1 + names.push(key.name)
        key.group = group
        key.charged = 0
      }
      if (isLog(keys)) logs += keys.length
    }
    return { names, rules: groups.map(([first]) => first!.rule), counts: groups.map(keys => keys.length), logs }
  }
}

function isLog(group: readonly CallKey[]): boolean {
  return group[0]!.rule.kind === 'log'
}
