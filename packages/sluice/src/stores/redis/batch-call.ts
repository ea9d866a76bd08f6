import type { Rule } from '../../algorithms/rule.ts'
import type { StoreUnavailable } from '../../errors.ts'
import { type Charge, ENFORCED } from '../charge.ts'
import { TAKE } from '../store.ts'
import type { Framed } from './frame.ts'
import { fullMessage } from './full-message.ts'
import { conclude, failItem, type Item } from './item.ts'
import { Keys } from './message.ts'
import { type PlainMessage, plainMessage } from './plain-message.ts'
import type { Reply, Scripts } from './script.ts'
import { isShort, readShort } from './short-reply.ts'
import { isPlainRule } from './spec.ts'
import { type Asked, rareFacts, readVerdicts } from './verdicts.ts'

/** As many as let calls overlap, so that the server works while we see to the next one. */
export const MOST_ITEMS = 64
/** Lua can hand on about 8,000 values at once. */
const MOST_KEYS = 1000
/** Of a plain decision, whose call answers with up to four values for each. */
const MOST_PLAIN_LIMITS = 10

/**
 * What was asked of one shard in one turn, in that order: decisions and changes. Where it is nothing but plain decisions
 * over the same limits it goes the short way: see lua/plain.lua, and lua/decide.lua for the other.
 */
export class BatchCall {
  private readonly scripts: Scripts
  private readonly keys: Keys
  private items: Item[] = []
  private readonly onLate: () => void
  /** The rules that all is plain under so far; undefined where there is more to it. */
  private plainRules: readonly Rule[] | undefined
  /** What was sent last, if it went the short way. */
  private plain: PlainMessage | undefined

  constructor(scripts: Scripts, tagOf: (key: string) => number, onLate: () => void) {
    this.scripts = scripts
    this.keys = new Keys(tagOf)
    this.onLate = onLate
    this.plainRules = undefined
    this.plain = undefined
  }

  /** The first of the rules that all is plain under. */
  get plainRule(): Rule | undefined {
    return this.plainRules?.[0]
  }

  /** Plain under the same rules as another, or not plain either. */
  isLike({ plainRules }: BatchCall): boolean {
    return (
      plainRules?.length === this.plainRules?.length && !plainRules?.some((rule, i) => rule !== this.plainRules![i])
    )
  }

  get isEmpty(): boolean {
    return this.items.length === 0
  }

  get isFull(): boolean {
    return this.items.length >= MOST_ITEMS || this.keys.count >= MOST_KEYS
  }

  /** Nobody waits for any of it any more. A change is worth making all the same: what was taken goes back. */
  get abandoned(): boolean {
    return this.items.every(item => 'charges' in item && item.charges.every(charge => charge.fault !== undefined))
  }

  /** Gives the decisions up, which are late, for that reason: what changes there are is left. */
  giveUpDecisions(error: StoreUnavailable): void {
    const changes = this.items.filter(item => 'change' in item)
    const decisions = this.items.filter(item => 'charges' in item)
    this.items = decisions
    this.fail(error)
    this.items = changes
    this.goInFull()
  }

  /** Throws where a name would be longer than a string can be, and then it is not in it. */
  add(item: Item): void {
    if ('change' in item) {
      item.key = this.keys.numberOf(item.change.charge)
      this.plainRules = undefined
    } else {
      const { charges, intent } = item
      const first = charges[0]!
      item.keys = charges.length === 1 ? [this.keys.numberOf(first)] : charges.map(charge => this.keys.numberOf(charge))
      const isPlain = intent === TAKE && charges.length <= MOST_PLAIN_LIMITS && charges.every(isPlainCharge)
      if (this.items.length === 0 && isPlain) this.plainRules = charges.map(charge => charge.rule)
      else if (!isPlain || !isUnder(charges, this.plainRules)) this.plainRules = undefined
    }
    this.items.push(item)
  }

  /** Takes the long way from now on. */
  goInFull(): void {
    this.plainRules = undefined
  }

  /** `now` is about the server's time: it matters to the boundaries of calendar windows. */
  message(now: number): Framed {
    this.plain =
      this.plainRules && plainMessage(this.scripts, this.plainRules, this.keys.values, this.items as readonly Asked[])
    return this.plain?.message ?? fullMessage(this.scripts, this.keys, this.items, now)
  }

  read(reply: Reply): void {
    const { items, plain } = this
    if (plain !== undefined && isShort(reply, plain, this.plainRules!.length)) {
      readShort(reply, plain, items as readonly Asked[], this.onLate)
      return
    }
    const count = items.reduce((sum, item) => sum + ('change' in item ? 1 : item.charges.length), 0)
    const rare = rareFacts(reply, 1 + 3 * count)
    let place = 0
    for (const item of items) {
      if ('change' in item) {
        conclude(item, reply.at(1 + 3 * place), reply.at(0))
        place++
        continue
      }
      if (readVerdicts(item, reply, place, rare)) this.onLate()
      place += item.charges.length
      item.done()
    }
  }

  fail(error: StoreUnavailable): void {
    for (const item of this.items) failItem(item, error)
  }
}

function isPlainCharge(charge: Charge): boolean {
  return charge.cost === 1 && charge.role === ENFORCED && charge.limit.block === undefined && isPlainRule(charge.rule)
}

function isUnder(charges: readonly Charge[], rules: readonly Rule[] | undefined): boolean {
  return charges.length === rules?.length && charges.every((charge, i) => charge.rule === rules[i])
}
