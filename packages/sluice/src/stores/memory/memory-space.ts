import type { Rule } from '../../algorithms/rule.ts'
import { TICKS_PER_MS } from '../../clock.ts'
import { Charge, ENFORCED } from '../charge.ts'
import { heldCosts, type KeyInspection } from '../inspection.ts'
import type { Limit, Space } from '../limit.ts'
import { type Change, type Intent, LOOK } from '../store.ts'
import { Blocks } from './blocks.ts'
import { type Hold, Holds } from './holds.ts'
import { resetBeside, retryBeside } from './holds-played.ts'
import type { BucketTable } from './kinds/bucket-table.ts'
import { newTable } from './kinds/new-table.ts'
import type { StateTable } from './kinds/state-table.ts'
import type { Sweepable } from './sweeper.ts'
import type { MemoryContext } from './table/pooled-key-table.ts'

const MOST_RESETS = 1024

/** All state of one limit: a table for each shape of rule it has had; blocks and reservations once there are any. */
export class MemorySpace implements Space {
  readonly path: string
  readonly localShare = 0.5
  blocks: Blocks | undefined
  holds: Holds | undefined
  /** True if there are no blocks and no reservations, so that only the table matters. */
  plain = true
  private readonly context: MemoryContext
  private readonly swept: Sweepable[]
  private readonly tables = new Map<string, StateTable>()
  private readonly buckets: BucketTable[] = []
  /** The store's reset count at each key's last reset. If there are too many keys, one count for all of them. */
  private readonly resets = new Map<string, number>()
  private allReset = 0
  /** The rule of the charge that was found last, which is nearly always the next one too, and its table. */
  private rule: Rule | undefined
  private table: StateTable | undefined

  constructor(path: string, context: MemoryContext, swept: Sweepable[]) {
    this.path = path
    this.context = context
    this.swept = swept
  }

  /** Finds the state of a charge, whose key was hashed last. `judge` and `conclude` go on with it. */
  find(rule: Rule, now: number): void {
    if (rule !== this.rule) {
      this.rule = rule
      this.table = this.tableOf(rule)
    }
    this.table!.keys.findHashed(now)
  }

  private tableOf(rule: Rule): StateTable {
    let table = this.tables.get(rule.shape)
    if (table === undefined) {
      table = newTable(rule, this.context, this.buckets)
      this.tables.set(rule.shape, table)
      if (this.holds !== undefined) this.settleFirst(table, this.holds)
      this.swept.push(table.keys)
    }
    return table
  }

  needBlocks(): Blocks {
    if (this.blocks === undefined) {
      this.plain = false
      this.blocks = new Blocks(this.context)
      this.swept.push(this.blocks)
    }
    return this.blocks
  }

  needHolds(): Holds {
    if (this.holds === undefined) {
      this.plain = false
      this.holds = new Holds(this.context.budget, (key, hold) => this.expired(key, hold))
      for (const table of this.tables.values()) this.settleFirst(table, this.holds)
    }
    return this.holds
  }

  /** A reservation that expires is settled at its expiry for what was reserved. */
  private expired(key: string, { limit, rule, cost, expiry }: Hold): void {
    const charge = new Charge(limit, rule, key, cost, ENFORCED)
    const table = this.tableOf(rule)
    table.locate(charge, expiry)
    table.take(charge, cost, expiry)
  }

  private settleFirst(table: StateTable, holds: Holds): void {
    table.keys.beforeSweep = now => holds.expireDue(now)
  }

  /** What is reserved for a key now. */
  heldFor(key: string, now: number): number {
    return this.holds === undefined ? 0 : this.holds.held(key, now)
  }

  forget(rule: Rule, key: string, now: number): void {
    this.tableOf(rule).forget(key, now)
    this.blocks?.forget(key)
    this.holds?.forget(key)
    if (this.resets.size >= MOST_RESETS) {
      this.resets.clear()
      this.allReset = this.context.resets
    }
    this.resets.set(key, ++this.context.resets)
  }

  /** Whether the key was reset after the charge with that receipt was taken. Then there is nothing left to refund. */
  forgottenSince(key: string, receipt: number): boolean {
    return receipt <= (this.resets.get(key) ?? this.allReset)
  }

  /**
   * Writes into the charge that was found whether it passes, and if not, when. A booking is made at once, as it is always
   * alone.
   */
  judge(charge: Charge, intent: Intent, now: number): void {
    const table = this.table!
    charge.at = now
    if (this.plain) table.judge(charge, charge.cost, now)
    else this.judgeWithExtras(table, charge, now)
    if (intent.holdTicks > 0) this.judgeHold(charge, intent, now)
    if (intent.bookTicks >= 0 && charge.role === ENFORCED) this.book(table, charge, now, intent.bookTicks)
  }

  /** Judges a charge beside the reservations and blocks of its key. */
  private judgeWithExtras(table: StateTable, charge: Charge, now: number): void {
    const { key } = charge
    const held = this.heldFor(key, now)
    table.find(key, now) // settling expired reservations may have changed the key
    table.judge(charge, charge.cost + held, now)
    if (held > 0 && !charge.allowed) charge.retryAt = retryBeside(table, this.holds!, charge, now)
    const blockedUntil = this.blocks === undefined ? 0 : this.blocks.until(key, now)
    if (blockedUntil > 0) block(charge, blockedUntil)
  }

  /** Refuses a reservation that the limit admits if there is no room to keep it. */
  private judgeHold(charge: Charge, intent: Intent, now: number): void {
    const { key, cost } = charge
    if (!isHeld(charge, intent) || !charge.allowed || cost === 0 || !this.needHolds().isFull(key)) return
    charge.allowed = false
    charge.tooManyHolds = true
    charge.retryAt = this.holds!.nextExpiry(key) ?? now + ROOM_TICKS
  }

  /** Nothing is booked beside a reservation, because it is unknown when the reservation will be settled. */
  private book(table: StateTable, charge: Charge, now: number, bookTicks: number): void {
    if (charge.blocked || charge.rule.kind !== 'bucket' || this.heldFor(charge.key, now) > 0) return
    table.book(charge, now, bookTicks)
    if (charge.allowed) charge.receipt = this.context.resets + 1
  }

  /**
   * Takes the charge that was judged, or leaves it: `taken` is what `isTaken` says once all charges of the question are
   * judged. Then it writes what is counted and until when. A refusal may start a block.
   */
  conclude(charge: Charge, taken: boolean, intent: Intent, now: number): void {
    const table = this.table!
    if (taken) this.take(table, charge, intent, now)
    else if (!charge.allowed && intent.strikes) this.strike(charge, now)
    if (!this.plain) this.describeWithExtras(table, charge, now)
    else if (!charge.taken) table.describe(charge, now)
  }

  private take(table: StateTable, charge: Charge, intent: Intent, now: number): void {
    const holds = isHeld(charge, intent)
    if (!intent.take || charge.taken || (charge.cost === 0 && !holds)) return
    const { key, limit, rule, cost } = charge
    if (holds) charge.hold = this.needHolds().add(key, limit, rule, cost, now + intent.holdTicks)
    else table.take(charge, cost, now)
    charge.receipt = this.context.resets + 1
  }

  /**
   * A refusal by the limit itself starts its block. A cost that can never pass starts none: it is a mistake, not an
   * attack.
   */
  private strike(charge: Charge, now: number): void {
    const { block: rule } = charge.limit
    if (rule === undefined || charge.blocked || charge.tooManyHolds || charge.cost > charge.rule.limit) return
    const until = this.needBlocks().strike(charge.key, rule, now)
    charge.retryAt = Math.max(charge.retryAt, until)
  }

  /** Describes the limit with the reservations and blocks of the key. */
  private describeWithExtras(table: StateTable, charge: Charge, now: number): void {
    const held = this.heldFor(charge.key, now)
    if (held > 0) table.locate(charge, now) // making a reservation may have looked at other keys
    table.describe(charge, now)
    if (held > 0) {
      charge.used += held * charge.rule.perRequest
      charge.resetAt = resetBeside(table, this.holds!, charge, now)
    }
    const blockedUntil = this.blocks === undefined ? 0 : this.blocks.until(charge.key, now)
    if (blockedUntil === 0) return
    charge.used = Math.max(charge.used, charge.rule.limit * charge.rule.perRequest)
    charge.resetAt = Math.max(charge.resetAt, blockedUntil)
  }

  inspect(limit: Limit, rule: Rule, key: string, now: number): KeyInspection {
    const look = new Charge(limit, rule, key, 0, ENFORCED)
    this.context.hash.of(key)
    this.find(rule, now)
    this.judge(look, LOOK, now)
    this.conclude(look, false, LOOK, now)
    const table = this.tableOf(rule)
    table.locate(look, now)
    const blockedUntil = this.blocks?.until(key, now) ?? 0
    return {
      at: now / TICKS_PER_MS,
      used: look.used,
      blockedUntil: blockedUntil === 0 ? undefined : blockedUntil / TICKS_PER_MS,
      holds: heldCosts(this.holds?.of(key) ?? []),
      bytes: table.bytes,
      state: table.inspect(rule, now),
    }
  }

  change(change: Change, now: number): number {
    const { charge } = change
    const table = this.tableOf(charge.rule)
    this.heldFor(charge.key, now) // settles what has expired, before anything else happens to the key
    switch (change.type) {
      case 'refund': {
        const { receipt } = charge
        if (receipt === 0) return 0
        charge.receipt = 0
        if (charge.rule.kind === 'slots') return this.change({ type: 'release', charge }, now)
        if (charge.hold !== undefined) return this.change({ type: 'settle', charge, actual: 0 }, now)
        if (this.forgottenSince(charge.key, receipt)) return 0
        table.refund(charge, now, Math.max(charge.at, charge.retryAt)) // until its start, a booking has used nothing
        return charge.cost
      }
      case 'credit':
        table.credit(charge, now)
        return charge.cost
      case 'penalize':
        return this.charge(charge, charge.cost, 0, now)
      case 'set': {
        const { limit, rule, key } = charge
        table.credit(new Charge(limit, rule, key, Infinity, ENFORCED), now)
        const used = change.used - this.heldFor(key, now)
        table.locate(charge, now)
        if (used > 0) table.take(charge, used, now)
        return 0
      }
      case 'release':
        return table.endSlot(charge, now, false)
      case 'renew':
        return table.endSlot(charge, now, true)
      case 'settle':
        return this.settle(charge, change.actual, now)
      case 'unbook':
        if (!charge.taken) return 0
        charge.receipt = 0
        table.credit(charge, now)
        return charge.cost
      case 'reset':
        this.forget(charge.rule, charge.key, now)
        return 0
      case 'block':
        return this.needBlocks().set(charge.key, change.ticks, now) ? change.ticks : 0
      case 'unblock':
        this.blocks?.forget(charge.key)
        return 0
    }
  }

  /**
   * Ends a reservation for what it really used, and returns what was charged. An excess over the reservation is charged
   * without refusal, until the limit is overdrawn by a whole one.
   */
  private settle(charge: Charge, actual: number, now: number): number {
    const hold = charge.hold as Hold
    const holds = this.needHolds()
    if (hold.charged !== undefined) return hold.charged
    // A reservation of cost 0 is not kept anywhere, so neither its expiry nor a reset has ended it.
    const isKept = hold.owner !== undefined
    const isOver = !isKept && (hold.expiry <= now || this.forgottenSince(charge.key, charge.receipt))
    holds.end(hold, 0)
    if (isOver) return 0
    hold.charged = this.charge(charge, actual, charge.cost, now)
    return hold.charged
  }

  /**
   * Charges without refusal until the limit is overdrawn by a whole one, but at least `least`. Returns what was
   * charged.
   */
  private charge(charge: Charge, cost: number, least: number, now: number): number {
    const table = this.tableOf(charge.rule)
    table.locate(charge, now)
    const room = 2 * charge.rule.limit - table.countedFor(charge, now) - this.heldFor(charge.key, now)
    const charged = Math.min(cost, Math.max(least, room))
    if (charged > 0) table.take(charge, charged, now)
    return Math.max(0, charged)
  }
}

/**
 * When to ask again if the store is full and no reservation of this limit will expire: keys may be forgotten by then.
 */
const ROOM_TICKS = 1_000_000

function isHeld({ rule, limit }: Charge, { holdTicks }: Intent): boolean {
  return holdTicks > 0 && rule.kind !== 'slots' && !limit.atOnce
}

function block(charge: Charge, until: number): void {
  charge.blocked = true
  charge.allowed = false
  charge.retryAt = Math.max(charge.retryAt, until)
}
