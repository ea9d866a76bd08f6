import type { Rule } from '../../../algorithms/rule.ts'
import type { StoreUnavailable } from '../../../errors.ts'
import { type Charge, ENFORCED } from '../../charge.ts'
import { type Question, TAKE } from '../../store.ts'
import type { ShardMessage } from './frame.ts'
import { fullMessage, type HoldIds } from './full-message.ts'
import { type BatchItem, chargesIn, conclude, failItem } from './item.ts'
import { CallKeys } from './message.ts'
import { type PlainMessage, plainMessage } from './plain-message.ts'
import type { ScriptReply, Scripts } from './script.ts'
import { isShort, readShort } from './short-reply.ts'
import { isPlainRule } from './spec.ts'
import { rareFacts, readVerdicts } from './verdicts.ts'

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
  private readonly keys: CallKeys
  private items: BatchItem[] = []
  /** Of the keys, item by item and charge by charge. */
  private numbers: number[] = []
  private readonly onLate: () => void
  /** The rules that all is plain under so far; undefined where there is more to it. */
  private plainRules: readonly Rule[] | undefined
  /** What was sent last, if it went the short way. */
  private plain: PlainMessage | undefined
  private holdIds: HoldIds | undefined

  constructor(scripts: Scripts, tagOf: (key: string) => number, onLate: () => void) {
    this.scripts = scripts
    this.keys = new CallKeys(tagOf)
    this.onLate = onLate
    this.plainRules = undefined
    this.plain = undefined
    this.holdIds = undefined
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
  failDecisions(error: StoreUnavailable): void {
    const changes = this.items.filter(item => 'change' in item)
    const decisions = this.items.filter(item => 'charges' in item)
    this.items = decisions
    this.fail(error)
    this.items = changes
    this.numbers = changes.map(({ change }) => this.keys.numberOf(change.charge))
    this.disableShortForm()
  }

  /** Throws where a name would be longer than a string can be, and then it is not in it. */
  add(item: BatchItem): void {
    const before = this.numbers.length
    try {
      if ('change' in item) {
        this.numbers.push(this.keys.numberOf(item.change.charge))
        this.plainRules = undefined
      } else {
        for (const charge of item.charges) this.numbers.push(this.keys.numberOf(charge))
        if (this.items.length === 0) this.plainRules = plainRulesOf(item)
        else if (!isPlainUnder(item, this.plainRules)) this.plainRules = undefined
      }
    } catch (error) {
      this.numbers.length = before
      throw error
    }
    this.items.push(item)
  }

  /** Takes the long way from now on. */
  disableShortForm(): void {
    this.plainRules = undefined
  }

  /** `now` is about the server's time: it matters to the boundaries of calendar windows. */
  message(now: number): ShardMessage {
    const { scripts, keys, items, numbers, plainRules } = this
    this.plain = plainRules && plainMessage(scripts, plainRules, keys.values, numbers)
    if (this.plain !== undefined) return this.plain.message
    this.holdIds ??= new Map()
    return fullMessage(scripts, keys, items, numbers, this.holdIds, now)
  }

  read(reply: ScriptReply): void {
    const { items, plain } = this
    if (plain !== undefined && isShort(reply, plain, this.plainRules!.length)) {
      readShort(reply, plain, items as readonly Question[], this.onLate)
      return
    }
    const rare = rareFacts(reply, 1 + 3 * this.numbers.length)
    let place = 0
    for (const item of items) {
      const at = place
      place += chargesIn(item)
      if ('change' in item) {
        conclude(item, reply.at(1 + 3 * at), reply.at(0))
        continue
      }
      if (readVerdicts(item, this.holdIds?.get(item), reply, at, rare)) this.onLate()
      item.done()
    }
  }

  fail(error: StoreUnavailable): void {
    for (const item of this.items) failItem(item, error)
  }
}

function isPlainCharge({ cost, role, limit }: Charge): boolean {
  return cost === 1 && role === ENFORCED && limit.block === undefined
}

function plainRulesOf(asked: Question): readonly Rule[] | undefined {
  const rules = asked.charges.map(charge => charge.rule)
  const mayBePlain = rules.length <= MOST_PLAIN_LIMITS && rules.every(isPlainRule)
  return mayBePlain && isPlainUnder(asked, rules) ? rules : undefined
}

/** A decision under these rules, which are plain, and nothing more to it. By hand: it is asked of every decision. */
function isPlainUnder({ charges, intent }: Question, rules: readonly Rule[] | undefined): boolean {
  if (intent !== TAKE || charges.length !== rules?.length) return false
  for (let i = 0; i < charges.length; i++) {
    if (charges[i]!.rule !== rules[i] || !isPlainCharge(charges[i]!)) return false
  }
  return true
}
