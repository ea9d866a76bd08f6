import type { Rule } from '../../algorithms/rule.ts'
import type { Charge } from '../charge.ts'
import type { BlockRule } from '../store.ts'
import { nameOf, type Stem, stemOf } from './naming.ts'
import type { Script } from './script.ts'
import { specEnd, specText } from './spec.ts'

/** What is sent: a script, its keys behind the shard's own, and its arguments behind those that all have. */
export interface Message {
  readonly script: Script
  readonly keys: readonly string[]
  readonly args: readonly string[]
}

/** A call of few keys is looked through faster than a table is made. */
const FEW_KEYS = 8

/** The keys of a call, each once. */
export class Keys {
  readonly values: string[] = []
  readonly logs: string[] = []
  private readonly tagOf: (key: string) => number
  /** Of each key its stem, itself and its number, as long as they are few; then by stem and key. */
  private few: { readonly stem: Stem; readonly key: string; readonly number: number }[] | undefined = []
  private numbers: Map<string, Map<string, number>> | undefined
  private lastStem: Stem | undefined
  private lastNumbers: Map<string, number> | undefined

  constructor(tagOf: (key: string) => number) {
    this.tagOf = tagOf
    this.numbers = undefined
    this.lastStem = undefined
    this.lastNumbers = undefined
  }

  get count(): number {
    return this.values.length + this.logs.length
  }

  get names(): readonly string[] {
    return this.logs.length === 0 ? this.values : [...this.values, ...this.logs]
  }

  /** The number of the charge's key: from 1 on, or from -1 down for logs, which stand behind the others. */
  numberOf(charge: Charge): number {
    const stem = stemOf(charge)
    return this.few === undefined ? this.amongMany(charge, stem) : this.amongFew(charge, stem, this.few)
  }

  private amongFew(charge: Charge, stem: Stem, few: NonNullable<Keys['few']>): number {
    for (const one of few) if (one.key === charge.key && one.stem.text === stem.text) return one.number
    if (few.length === FEW_KEYS) {
      this.few = undefined
      for (const one of few) this.numbersOf(one.stem).set(one.key, one.number)
      return this.amongMany(charge, stem)
    }
    const number = this.add(charge, stem)
    few.push({ stem, key: charge.key, number })
    return number
  }

  private amongMany(charge: Charge, stem: Stem): number {
    const numbers = stem === this.lastStem ? this.lastNumbers! : this.numbersOf(stem)
    const known = numbers.get(charge.key)
    if (known !== undefined) return known
    const number = this.add(charge, stem)
    numbers.set(charge.key, number)
    return number
  }

  private add({ key, rule }: Charge, stem: Stem): number {
    const name = nameOf(stem, key, this.tagOf(key))
    return rule.kind === 'log' ? -this.logs.push(name) : this.values.push(name)
  }

  private numbersOf(stem: Stem): Map<string, number> {
    this.numbers ??= new Map()
    let numbers = this.numbers.get(stem.text)
    if (numbers === undefined) {
      numbers = new Map()
      this.numbers.set(stem.text, numbers)
    }
    this.lastStem = stem
    this.lastNumbers = numbers
    return numbers
  }
}

/** The limits of a call, each once: their numbers as JSON. */
export class Specs {
  private readonly now: number
  private readonly texts: string[] = []
  private readonly numbers = new Map<Rule, Map<BlockRule | undefined, number>>()

  constructor(now: number) {
    this.now = now
  }

  /** The number of the charge's limit in the list, from 1 on. */
  numberOf({ rule, limit: { block } }: Charge): number {
    let byBlock = this.numbers.get(rule)
    if (byBlock === undefined) {
      byBlock = new Map()
      this.numbers.set(rule, byBlock)
    }
    let number = byBlock.get(block)
    if (number === undefined) {
      number = this.texts.push(specTextAt(rule, block, this.now))
      byBlock.set(block, number)
    }
    return number
  }

  get json(): string {
    return `[${this.texts.join()}]`
  }
}

const texts = new WeakMap<Rule, { text: string; from: number; until: number }>()

/** Made once for each rule; a calendar's again when its window is over. */
function specTextAt(rule: Rule, block: BlockRule | undefined, now: number): string {
  if (block !== undefined) return specText(rule, block, now)
  let known = texts.get(rule)
  if (known === undefined || now < known.from || now >= known.until) {
    known = { text: specText(rule, undefined, now), from: now, until: specEnd(rule, now) }
    texts.set(rule, known)
  }
  return known.text
}
