import { StoreUnavailable } from '../../errors.ts'
import { type Charge, ENFORCED, type Intent, isTaken, refusedOf, TAKE } from '../store.ts'
import type { Call, Parts } from './call.ts'
import { newId } from './hold.ts'
import type { Reply, Script } from './script.ts'
import { phaseOf } from './spec.ts'

/** One decision in a call: who asked for what, and whom to tell. */
interface Asked {
  readonly charges: readonly Charge[]
  readonly intent: Intent
  readonly ids: readonly number[] | undefined
  readonly done: () => void
}

/** As many as let calls overlap, so that the server works while we write the next one. */
const MOST_DECISIONS = 128
/** Lua can hand on about 8,000 values at once. */
const MOST_KEYS = 1000

const FOREIGN = -3
const NEVER_BLOCKED = -2
const RESETS = 1
const HELD = 2

/** A batch of decisions of one shard, in the order they were asked for. See lua/decide.lua. */
export class DecideCall implements Call {
  readonly script: Script
  readonly parts: Parts
  private readonly asked: Asked[] = []
  private readonly onLate: () => void
  private runs = ''
  /** The spec of the plain decisions that the text now ends with; 0 where it does not. */
  private openRun = 0

  constructor(script: Script, parts: Parts, onLate: () => void) {
    this.script = script
    this.parts = parts
    this.onLate = onLate
  }

  get isFull(): boolean {
    return this.asked.length >= MOST_DECISIONS || this.parts.keyCount >= MOST_KEYS
  }

  get abandoned(): boolean {
    return this.asked.every(({ charges }) => charges.every(charge => charge.fault !== undefined))
  }

  add(charges: readonly Charge[], intent: Intent, done: () => void): void {
    const first = charges[0]!
    const plain = charges.length === 1 && intent === TAKE && isPlain(first)
    if (plain) this.addPlain(first)
    this.asked.push({ charges, intent, ids: plain ? undefined : this.addFull(charges, intent), done })
  }

  private addPlain(charge: Charge): void {
    const spec = this.parts.specNumber(charge)
    if (spec !== this.openRun) {
      this.closeRun()
      this.runs += `[${spec}`
      this.openRun = spec
    }
    this.runs += `,${this.parts.keyNumber(charge)}`
  }

  private addFull(charges: readonly Charge[], intent: Intent): readonly number[] {
    this.closeRun()
    const ids = charges.map(charge => idFor(charge, intent))
    this.runs += `[0,${Number(intent.take)},${intent.holdTicks},${intent.bookTicks},${Number(intent.strikes)}`
    for (const [i, charge] of charges.entries()) {
      const [key, spec] = [this.parts.keyNumber(charge), this.parts.specNumber(charge)]
      this.runs += `,${key},${spec},${charge.cost},${charge.role},${ids[i]},${phaseOf(charge)}`
    }
    this.runs += '],'
    return ids
  }

  private closeRun(): void {
    if (this.openRun !== 0) this.runs += '],'
    this.openRun = 0
  }

  body(): string {
    this.closeRun()
    return `"runs":[${this.runs.slice(0, -1)}]`
  }

  read(reply: Reply): void {
    const at = reply.at(0)
    const count = this.asked.reduce((sum, { charges }) => sum + charges.length, 0)
    const rare = rareFacts(reply, 1 + 3 * count)
    let n = 0
    for (const asked of this.asked) {
      const start = n
      let missed = false
      for (const charge of asked.charges) {
        if (charge.fault === undefined) readVerdict(charge, asked.intent, at, reply, 1 + 3 * n)
        else missed = true
        n++
      }
      if (missed) this.onLate()
      settle(asked, at, start, rare)
      asked.done()
    }
  }

  fail(error: StoreUnavailable): void {
    for (const { charges, done } of this.asked) {
      for (const charge of charges) charge.fault ??= error
      done()
    }
  }
}

/** Nothing to tell of it but its key. */
function isPlain({ cost, role, rule }: Charge): boolean {
  if (cost !== 1 || role !== ENFORCED) return false
  return rule.kind !== 'slots' && (rule.kind !== 'fixed' || rule.policy.align !== 'key')
}

function idFor(charge: Charge, intent: Intent): number {
  return charge.rule.kind === 'slots' || intent.holdTicks > 0 ? newId() : 0
}

function readVerdict(charge: Charge, intent: Intent, at: number, reply: Reply, from: number): void {
  const code = reply.at(from + 2)
  if (code === FOREIGN) {
    const where = `a value that Sluice has not written stands at a key of '${charge.limit.space.path.slice(1)}'`
    charge.fault = new StoreUnavailable('SLUICE_FOREIGN_VALUE', where)
    return
  }
  charge.at = at
  charge.used = reply.at(from)
  charge.resetAt = at + reply.at(from + 1)
  if (code < 0) {
    charge.allowed = false
    charge.retryAt = Infinity
    if (code === NEVER_BLOCKED) charge.blocked = true
    return
  }
  const flags = code % 4
  const waitTicks = (code - flags) / 4
  charge.allowed = flags % 2 === 1
  charge.retryAt = charge.allowed && intent.bookTicks < 0 ? 0 : at + waitTicks
  if (flags >= 2) charge.blocked = true
}

/** Notes what was taken, with what will be needed to give it back. */
function settle({ charges, intent, ids }: Asked, at: number, start: number, rare: RareFacts | undefined): void {
  const refused = charges.length === 1 ? 0 : refusedOf(charges)
  for (const [i, charge] of charges.entries()) {
    if (charge.fault !== undefined) continue
    if (rare?.held.has(start + i) || charge.rule.kind === 'slots') charge.tentative = true
    const id = ids?.[i] ?? 0
    const passes = charges.length === 1 ? charge.allowed : isTaken(charge, charges, refused)
    if (!intent.take || !passes || (charge.cost === 0 && intent.holdTicks === 0)) continue
    charge.receipt = 1 + (rare?.resets.get(start + i) ?? 0)
    if (id === 0) continue
    const ticks = charge.rule.kind === 'slots' ? charge.rule.ttlTicks : intent.holdTicks
    charge.hold = { id, cost: charge.cost, expiry: at + ticks, ended: undefined }
  }
}

interface RareFacts {
  readonly resets: Map<number, number>
  readonly held: Set<number>
}

function rareFacts(reply: Reply, from: number): RareFacts | undefined {
  if (reply.length <= from) return undefined
  const facts: RareFacts = { resets: new Map(), held: new Set() }
  for (let i = from; i < reply.length; i += 3) {
    const [charge, what, value] = [reply.at(i), reply.at(i + 1), reply.at(i + 2)]
    if (what === RESETS) facts.resets.set(charge, value)
    if (what === HELD) facts.held.add(charge)
  }
  return facts
}
