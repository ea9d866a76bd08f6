import type { Rule } from '../../../algorithms/rule.ts'
import type { Charge } from '../../charge.ts'
import type { BlockRule } from '../../limit.ts'
import { type KeyPrefix, nameOf, prefixOf } from './naming.ts'
import { specEnd, specText } from './spec.ts'

/** A power of two, and about as many as a full call has keys. */
const CHAINS = 64
/** So many keys are in one chain: most calls to a cluster have no more, and chains would be most of what they take. */
const FEW = 8

/** A key of a call, and the one before it in its chain. */
class KeyEntry {
  readonly prefix: KeyPrefix
  readonly key: string
  readonly tag: number
  readonly number: number
  before: KeyEntry | undefined

  constructor(prefix: KeyPrefix, key: string, tag: number, number: number, before: KeyEntry | undefined) {
    this.prefix = prefix
    this.key = key
    this.tag = tag
    this.number = number
    this.before = before
  }
}

/** The keys of a call, each once. They are chained by their tags, which their names need anyway: a `Map` would cost more. */
export class CallKeys {
  readonly values: string[] = []
  readonly logs: string[] = []
  /** The only chain, while they are few. */
  private last: KeyEntry | undefined
  private chains: (KeyEntry | undefined)[] | undefined
  private readonly tagOf: (key: string) => number

  constructor(tagOf: (key: string) => number) {
    this.last = undefined
    this.chains = undefined
    this.tagOf = tagOf
  }

  get count(): number {
    return this.values.length + this.logs.length
  }

  get names(): readonly string[] {
    return this.logs.length === 0 ? this.values : [...this.values, ...this.logs]
  }

  /** The number of the charge's key: 1 or more, or from -1 down for logs, which stand behind the others. */
  numberOf(charge: Charge): number {
    const { key, rule } = charge
    const prefix = prefixOf(charge)
    const tag = this.tagOf(key)
    const before = this.chains === undefined ? this.last : this.chains[tag & (CHAINS - 1)]
    for (let one = before; one !== undefined; one = one.before) {
      if (one.key === key && one.prefix.text === prefix.text) return one.number
    }
    const name = nameOf(prefix, key, tag)
    const number = rule.kind === 'log' ? -this.logs.push(name) : this.values.push(name)
    this.add(new KeyEntry(prefix, key, tag, number, before))
    return number
  }

  private add(seen: KeyEntry): void {
    if (this.chains !== undefined) {
      this.chains[seen.tag & (CHAINS - 1)] = seen
      return
    }
    this.last = seen
    if (this.count > FEW) this.chains = chainsOf(seen)
  }
}

/** The keys of one chain, chained by their tags. */
function chainsOf(last: KeyEntry): (KeyEntry | undefined)[] {
  const chains = new Array<KeyEntry | undefined>(CHAINS)
  let one: KeyEntry | undefined = last
  while (one !== undefined) {
    const before: KeyEntry | undefined = one.before
    const chain = one.tag & (CHAINS - 1)
    one.before = chains[chain]
    chains[chain] = one
    one = before
  }
  return chains
}

/** The limits of a call, each once: their numbers as JSON. */
export class LimitSpecs {
  private readonly now: number
  private readonly texts: string[] = []
  private readonly numbers = new Map<Rule, Map<BlockRule | undefined, number>>()

  constructor(now: number) {
    this.now = now
  }

  /** The number of the charge's limit in the list, counted from 1. */
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
