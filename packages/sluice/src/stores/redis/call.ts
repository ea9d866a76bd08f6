import type { Rule } from '../../algorithms/rule.ts'
import type { StoreUnavailable } from '../../errors.ts'
import type { BlockRule, Charge } from '../store.ts'
import { nameOf, stemOf } from './naming.ts'
import type { Reply, Script } from './script.ts'
import { specEnd, specText } from './spec.ts'

/** Script calls are built up while decisions come in, and read when the reply is there. */
export interface Call {
  readonly script: Script
  readonly parts: Parts
  /** Nobody waits for any of it any more. */
  readonly abandoned: boolean
  /** All that the script reads beside its keys, `specs` and `values`: a piece of JSON. */
  body(): string
  /** Takes the reply, which starts with the server's time. */
  read(reply: Reply): void
  fail(error: StoreUnavailable): void
}

/** What calls have in common: their keys, each once, and the limits' numbers, each once. */
export class Parts {
  private readonly tags: (key: string) => number
  private readonly now: number
  private readonly values: string[] = []
  private readonly logs: string[] = []
  /** By stem, then by key: so a name is made once for each key, and never sought. */
  private readonly numbers = new Map<string, Map<string, number>>()
  private lastStem = ''
  private lastNumbers = new Map<string, number>()
  private readonly specs: string[] = []
  /** Nearly always the one asked for next. */
  private lastRule: Rule | undefined
  private lastBlock: BlockRule | undefined
  private lastSpec = 0
  private readonly specNumbers = new Map<Rule, Map<BlockRule | undefined, number>>()

  constructor(tags: (key: string) => number, now: number) {
    this.tags = tags
    this.now = now
  }

  get keyCount(): number {
    return this.values.length + this.logs.length
  }

  /** The number of the charge's key: from 1 on, or from -1 down for logs, which stand behind the others. */
  keyNumber(charge: Charge): number {
    const { key, rule } = charge
    const stem = stemOf(charge)
    const numbers = stem === this.lastStem ? this.lastNumbers : this.numbersOf(stem)
    const known = numbers.get(key)
    if (known !== undefined) return known
    const name = nameOf(stem, key, this.tags(key))
    const number = rule.kind === 'log' ? -this.logs.push(name) : this.values.push(name)
    numbers.set(key, number)
    return number
  }

  private numbersOf(stem: string): Map<string, number> {
    let numbers = this.numbers.get(stem)
    if (numbers === undefined) {
      numbers = new Map()
      this.numbers.set(stem, numbers)
    }
    this.lastStem = stem
    this.lastNumbers = numbers
    return numbers
  }

  /** The number of the charge's limit in the list that is sent, from 1 on. */
  specNumber({ rule, limit: { block } }: Charge): number {
    if (rule === this.lastRule && block === this.lastBlock) return this.lastSpec
    this.lastRule = rule
    this.lastBlock = block
    this.lastSpec = this.numberOf(rule, block)
    return this.lastSpec
  }

  private numberOf(rule: Rule, block: BlockRule | undefined): number {
    let byBlock = this.specNumbers.get(rule)
    if (byBlock === undefined) {
      byBlock = new Map()
      this.specNumbers.set(rule, byBlock)
    }
    let number = byBlock.get(block)
    if (number === undefined) {
      number = this.specs.push(specTextAt(rule, block, this.now))
      byBlock.set(block, number)
    }
    return number
  }

  keys(own: readonly string[]): string[] {
    return [...own, ...this.values, ...this.logs]
  }

  /** The whole call as JSON. */
  json(keepSeconds: number, body: string): string {
    return `{"values":${this.values.length},"keep":"${keepSeconds}","specs":[${this.specs.join()}],${body}}`
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
