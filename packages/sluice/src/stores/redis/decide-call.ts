import type { Rule } from '../../algorithms/rule.ts'
import type { StoreUnavailable } from '../../errors.ts'
import { type Charge, ENFORCED, type Intent, TAKE } from '../store.ts'
import { type Call, Keys, type Message, Specs } from './call.ts'
import { newId } from './hold.ts'
import { plainMessage } from './plain-message.ts'
import type { Reply, Scripts } from './script.ts'
import { isPlainRule, phaseOf } from './spec.ts'
import { type Asked, rareFacts, readVerdicts } from './verdicts.ts'

/** As many as let calls overlap, so that the server works while we write the next one. */
const MOST_DECISIONS = 128
/** Lua can hand on about 8,000 values at once. */
const MOST_KEYS = 1000

/**
 * A batch of decisions of one shard, in the order they were asked for. Where all of them are plain decisions under one
 * limit it goes the short way: see lua/plain.lua, and lua/decide.lua for the other.
 */
export class DecideCall implements Call {
  private readonly scripts: Scripts
  private readonly keys: Keys
  private readonly asked: Asked[] = []
  private readonly onLate: () => void
  /** The rule all decisions so far are plain under; undefined where there is more to them. */
  private plainRule: Rule | undefined
  /** Where the verdict of each decision stands in the reply, if not one after the other. */
  private places: readonly number[] | undefined

  constructor(scripts: Scripts, tagOf: (key: string) => number, onLate: () => void) {
    this.scripts = scripts
    this.keys = new Keys(tagOf)
    this.onLate = onLate
    this.plainRule = undefined
    this.places = undefined
  }

  get isFull(): boolean {
    return this.asked.length >= MOST_DECISIONS || this.keys.count >= MOST_KEYS
  }

  get abandoned(): boolean {
    return this.asked.every(({ charges }) => charges.every(charge => charge.fault !== undefined))
  }

  /** The rule that a server has found not to be so plain. */
  get plainly(): Rule | undefined {
    return this.plainRule
  }

  add(charges: readonly Charge[], intent: Intent, done: () => void): void {
    const first = charges[0]!
    const isPlain = charges.length === 1 && intent === TAKE && isPlainCharge(first)
    if (this.asked.length === 0) this.plainRule = isPlain ? first.rule : undefined
    else if (!isPlain || first.rule !== this.plainRule) this.plainRule = undefined
    this.asked.push({ charges, intent, done, keys: charges.map(charge => this.keys.numberOf(charge)), ids: undefined })
  }

  /** Takes the long way from now on. */
  goInFull(): void {
    this.plainRule = undefined
    this.places = undefined
  }

  message(now: number): Message {
    if (this.plainRule === undefined) return this.fullMessage(now)
    const { message, places } = plainMessage(this.scripts, this.plainRule, this.keys.values, this.asked)
    this.places = places
    return message
  }

  private fullMessage(now: number): Message {
    const specs = new Specs(now)
    let runs = ''
    let openRun = 0
    for (const asked of this.asked) {
      const first = asked.charges[0]!
      const spec = specs.numberOf(first)
      const isPlain = asked.charges.length === 1 && asked.intent === TAKE && canRun(first)
      if (openRun !== 0 && (!isPlain || spec !== openRun)) runs += '],'
      if (isPlain) runs += spec === openRun ? `,${asked.keys[0]}` : `[${spec},${asked.keys[0]}`
      else runs += `${textOf(asked, specs)},`
      openRun = isPlain ? spec : 0
    }
    runs = openRun === 0 ? runs.slice(0, -1) : `${runs}]`
    const { logs, names } = this.keys
    const args = [`{"logs":${logs.length},"specs":${specs.json},"runs":[${runs}]}`]
    return { script: this.scripts.decide, keys: names, args }
  }

  read(reply: Reply): void {
    const { asked, places } = this
    const count = asked.reduce((sum, { charges }) => sum + charges.length, 0)
    const rare = rareFacts(reply, 1 + 3 * count)
    let place = 0
    for (let i = 0; i < asked.length; i++) {
      const one = asked[i]!
      if (readVerdicts(one, reply, places === undefined ? place : places[i]!, rare)) this.onLate()
      place += one.charges.length
      one.done()
    }
  }

  fail(error: StoreUnavailable): void {
    for (const { charges, done } of this.asked) {
      for (const charge of charges) charge.fault ??= error
      done()
    }
  }
}

function isPlainCharge(charge: Charge): boolean {
  return charge.cost === 1 && charge.role === ENFORCED && charge.limit.block === undefined && isPlainRule(charge.rule)
}

/** Nothing to tell of it but its key. */
function canRun({ cost, role, rule }: Charge): boolean {
  if (cost !== 1 || role !== ENFORCED) return false
  return rule.kind !== 'slots' && (rule.kind !== 'fixed' || rule.policy.align !== 'key')
}

/** One decision with all that can be told of it; what it would hold gets its ids now. */
function textOf(asked: Asked, specs: Specs): string {
  const { charges, intent, keys } = asked
  asked.ids ??= charges.map(charge => (charge.rule.kind === 'slots' || intent.holdTicks > 0 ? newId() : 0))
  let text = `[0,${Number(intent.take)},${intent.holdTicks},${intent.bookTicks},${Number(intent.strikes)}`
  for (let i = 0; i < charges.length; i++) {
    const charge = charges[i]!
    text += `,${keys[i]},${specs.numberOf(charge)},${charge.cost},${charge.role},${asked.ids[i]},${phaseOf(charge)}`
  }
  return `${text}]`
}
