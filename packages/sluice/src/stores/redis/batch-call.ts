import type { Rule } from '../../algorithms/rule.ts'
import { StoreUnavailable } from '../../errors.ts'
import { type Charge, ENFORCED } from '../charge.ts'
import { type Change, type Intent, TAKE } from '../store.ts'
import { concluded, wordsOf } from './changes.ts'
import type { Framed } from './frame.ts'
import { newId } from './hold.ts'
import { Keys, Specs } from './message.ts'
import { type PlainMessage, plainMessage } from './plain-message.ts'
import type { Reply, Scripts } from './script.ts'
import { isShort, readShort } from './short-reply.ts'
import { isPlainRule, phaseOf } from './spec.ts'
import { type Asked, FOREIGN, rareFacts, readVerdicts } from './verdicts.ts'

/** A change on its way, and whom to tell. */
interface Sent {
  readonly change: Change
  /** The number of its key in the call, once it is in one. */
  key: number
  /** What the script is told of it, as it was when it was asked for. */
  readonly words: readonly (string | number)[]
  readonly done: (amount: number) => void
  readonly failed: (error: StoreUnavailable) => void
}

/** What is asked of a shard: a decision or a change. */
export type Item = Asked | Sent

export function changeItem(change: Change, done: Sent['done'], failed: Sent['failed']): Item {
  return { change, key: 0, words: wordsOf(change), done, failed }
}

export function failItem(item: Item, error: StoreUnavailable): void {
  if ('change' in item) {
    item.failed(error)
    return
  }
  for (const charge of item.charges) charge.fault ??= error
  item.done()
}

/** As many as let calls overlap, so that the server works while we write the next one. */
export const MOST_ITEMS = 128
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

  isFull(items: number): boolean {
    return this.items.length >= items || this.keys.count >= MOST_KEYS
  }

  /** Nobody waits for any of it any more. A change is worth making all the same: what was taken goes back. */
  get abandoned(): boolean {
    return this.items.every(item => 'charges' in item && item.charges.every(charge => charge.fault !== undefined))
  }

  /** Gives the decisions up, which are late, for that reason; true if there are changes left to make. */
  giveUpDecisions(error: StoreUnavailable): boolean {
    const changes = this.items.filter(item => 'change' in item)
    const decisions = this.items.filter(item => 'charges' in item)
    this.items = decisions
    this.fail(error)
    this.items = changes
    this.goInFull()
    return changes.length > 0
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
    return this.plain?.message ?? this.fullMessage(now)
  }

  private fullMessage(now: number): Framed {
    const specs = new Specs(now)
    let runs = ''
    /** How the run of plain decisions starts that the text now ends with. */
    let open = ''
    for (const item of this.items) {
      const run = isRun(item) ? runStart(item.charges, specs) : ''
      if (open !== '' && run !== open) runs += '],'
      if (run === '') runs += `${'change' in item ? changeText(item, specs) : decisionText(item as Asked, specs)},`
      else runs += `${run === open ? '' : run},${(item as Asked).keys.join()}`
      open = run
    }
    runs = open === '' ? runs.slice(0, -1) : `${runs}]`
    const { logs, names } = this.keys
    const args = [`{"logs":${logs.length},"specs":${specs.json},"runs":[${runs}]}`]
    return { script: this.scripts.decide, keys: names, args, amends: this.items.some(item => 'change' in item) }
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

/** Nothing to tell of it but its keys. */
function isRun(item: Item): item is Asked {
  return 'charges' in item && item.intent === TAKE && item.charges.every(canRun)
}

function canRun({ cost, role, rule }: Charge): boolean {
  if (cost !== 1 || role !== ENFORCED) return false
  return rule.kind !== 'slots' && (rule.kind !== 'fixed' || rule.policy.align !== 'key')
}

function runStart(charges: readonly Charge[], specs: Specs): string {
  let start = `[${charges.length}`
  for (const charge of charges) start += `,${specs.numberOf(charge)}`
  return start
}

/** One decision with all that can be told of it; what it would hold gets its ids now. */
function decisionText(asked: Asked, specs: Specs): string {
  const { charges, intent, keys } = asked
  asked.ids ??= charges.map(charge => (isHeld(charge, intent) ? newId() : 0))
  let text = `[0,${Number(intent.take)},${intent.holdTicks},${intent.bookTicks},${Number(intent.strikes)}`
  for (let i = 0; i < charges.length; i++) {
    const charge = charges[i]!
    text += `,${keys[i]},${specs.numberOf(charge)},${charge.cost},${charge.role},${asked.ids[i]},${phaseOf(charge)}`
  }
  return `${text}]`
}

function isHeld({ rule, limit }: Charge, { holdTicks }: Intent): boolean {
  return rule.kind === 'slots' || (holdTicks > 0 && limit.atOnce !== true)
}

function changeText({ change: { charge }, key, words: [what, ...numbers] }: Sent, specs: Specs): string {
  return JSON.stringify([what, key, specs.numberOf(charge), phaseOf(charge), ...numbers])
}

function conclude({ change, done, failed }: Sent, amount: number, now: number): void {
  if (amount !== FOREIGN) done(concluded(change, amount, now))
  else failed(new StoreUnavailable('SLUICE_FOREIGN_VALUE', 'a foreign value stands at the key'))
}
