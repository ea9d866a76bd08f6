import type { Holder, SlotsRule } from '../../algorithms/concurrency.ts'
import type { Rule } from '../../algorithms/rule.ts'
import { Charge, ENFORCED } from '../charge.ts'
import type { Change, Intent, Space } from '../store.ts'
import { Blocks } from './blocks.ts'
import { BucketLedger } from './bucket-ledger.ts'
import { FixedLedger } from './fixed-ledger.ts'
import { type Hold, Holds } from './holds.ts'
import { resetBeside, retryBeside } from './holds-played.ts'
import type { Sweepable } from './house.ts'
import type { Shared } from './keys.ts'
import type { Ledger } from './ledger.ts'
import { LogLedger } from './log-ledger.ts'
import { SlidingLedger } from './sliding-ledger.ts'
import { SlotLedger } from './slot-ledger.ts'

const MOST_RESETS = 1024

/** All state of one limit: a ledger for each shape of rule it has had, and blocks and reservations once there are any. */
export class MemorySpace implements Space {
  readonly path: string
  blocks: Blocks | undefined
  holds: Holds | undefined
  /** Neither of them: nothing to look at but the ledger. */
  plain = true
  private readonly shared: Shared
  private readonly swept: Sweepable[]
  private readonly ledgers = new Map<string, Ledger>()
  private readonly buckets: BucketLedger[] = []
  /** Which reset of the store was a key's last; where these are too many, only that all had one. */
  private readonly resets = new Map<string, number>()
  private allReset = 0
  /** Nearly always the rule asked for next. */
  private lastRule: Rule | undefined
  private lastLedger: Ledger | undefined

  constructor(path: string, shared: Shared, swept: Sweepable[]) {
    this.path = path
    this.shared = shared
    this.swept = swept
  }

  ledger(rule: Rule): Ledger {
    return rule === this.lastRule ? this.lastLedger! : this.ledgerOf(rule)
  }

  private ledgerOf(rule: Rule): Ledger {
    let ledger = this.ledgers.get(rule.shape)
    if (ledger === undefined) {
      ledger = this.newLedger(rule)
      this.ledgers.set(rule.shape, ledger)
      if (this.holds !== undefined) this.settleFirst(ledger, this.holds)
      this.swept.push(ledger.keys)
    }
    this.lastRule = rule
    this.lastLedger = ledger
    return ledger
  }

  needBlocks(): Blocks {
    if (this.blocks === undefined) {
      this.plain = false
      this.blocks = new Blocks(this.shared)
      this.swept.push(this.blocks)
    }
    return this.blocks
  }

  needHolds(): Holds {
    if (this.holds === undefined) {
      this.plain = false
      this.holds = new Holds(this.shared.room, (key, hold) => this.expired(key, hold))
      for (const ledger of this.ledgers.values()) this.settleFirst(ledger, this.holds)
    }
    return this.holds
  }

  /** A reservation that expires is settled, at its expiry, for what was reserved. */
  private expired(key: string, { limit, rule, cost, expiry }: Hold): void {
    const charge = new Charge(limit, rule, key, cost, ENFORCED)
    const ledger = this.ledger(rule)
    ledger.locate(charge, expiry)
    ledger.take(charge, cost, expiry)
  }

  private settleFirst(ledger: Ledger, holds: Holds): void {
    ledger.keys.beforeSweep = now => holds.expireDue(now)
  }

  /** What is reserved for a key now. */
  heldFor(key: string, now: number): number {
    return this.holds === undefined ? 0 : this.holds.held(key, now)
  }

  forget(rule: Rule, key: string, now: number): void {
    this.ledger(rule).forget(key, now)
    this.blocks?.forget(key)
    this.holds?.forget(key)
    const { room } = this.shared
    if (this.resets.size >= MOST_RESETS) {
      this.resets.clear()
      this.allReset = room.resets
    }
    this.resets.set(key, ++room.resets)
  }

  /** Was the key forgotten after a charge with that receipt was taken? Then there is nothing left of it to refund. */
  forgottenSince(key: string, receipt: number): boolean {
    return receipt <= (this.resets.get(key) ?? this.allReset)
  }

  /** Judges a charge whose key its ledger has located. */
  judge(charge: Charge, now: number): void {
    const ledger = this.ledger(charge.rule)
    if (this.plain) ledger.judge(charge, charge.cost, now)
    else this.judgeBesides(ledger, charge, now)
  }

  /** The limit with what is held of it, and its blocks. */
  private judgeBesides(ledger: Ledger, charge: Charge, now: number): void {
    const held = this.heldFor(charge.key, now)
    ledger.locate(charge, now) // settling what has expired may have changed it
    ledger.judge(charge, charge.cost + held, now)
    if (held > 0 && !charge.allowed) charge.retryAt = retryBeside(ledger, this.holds!, charge, now)
    const blockedUntil = this.blocks === undefined ? 0 : this.blocks.until(charge.key, now)
    if (blockedUntil > 0) block(charge, blockedUntil)
  }

  /** A reservation that the limit lets pass is refused where there is no room to keep it. */
  judgeHold(charge: Charge, intent: Intent, now: number): void {
    const { key, cost } = charge
    if (!isHeld(charge, intent) || !charge.allowed || cost === 0 || !this.needHolds().isFull(key)) return
    charge.allowed = false
    charge.tooManyHolds = true
    charge.retryAt = this.holds!.nextExpiry(key) ?? now + ROOM_TICKS
  }

  take(charge: Charge, intent: Intent, now: number): void {
    const holds = isHeld(charge, intent)
    if (!intent.take || charge.taken || (charge.cost === 0 && !holds)) return
    const { key, limit, rule, cost } = charge
    if (holds) charge.hold = this.needHolds().add(key, limit, rule, cost, now + intent.holdTicks)
    else this.ledger(charge.rule).take(charge, charge.cost, now)
    charge.receipt = this.shared.room.resets + 1
  }

  /** Beside a reservation nothing is booked: when that will be settled, nobody knows. */
  book(charge: Charge, now: number, bookTicks: number): void {
    if (charge.blocked || charge.rule.kind !== 'bucket' || this.heldFor(charge.key, now) > 0) return
    const ledger = this.ledger(charge.rule) as BucketLedger
    ledger.book(charge, now, bookTicks)
    if (charge.allowed) charge.receipt = this.shared.room.resets + 1
  }

  /** A refusal by the limit itself starts its block; a cost that can never pass is a mistake, not an attack. */
  strike(charge: Charge, now: number): void {
    const { block: rule } = charge.limit
    if (rule === undefined || charge.blocked || charge.tooManyHolds || charge.cost > charge.rule.limit) return
    const until = this.needBlocks().strike(charge.key, rule, now)
    charge.retryAt = Math.max(charge.retryAt, until)
  }

  describe(charge: Charge, now: number): void {
    const ledger = this.ledger(charge.rule)
    if (this.plain) ledger.describe(charge, now)
    else this.describeBesides(ledger, charge, now)
  }

  private describeBesides(ledger: Ledger, charge: Charge, now: number): void {
    const held = this.heldFor(charge.key, now)
    if (held > 0) ledger.locate(charge, now) // making a reservation may have looked at other keys
    ledger.describe(charge, now)
    if (held > 0) {
      charge.used += held * charge.rule.perRequest
      charge.resetAt = resetBeside(ledger, this.holds!, charge, now)
    }
    const blockedUntil = this.blocks === undefined ? 0 : this.blocks.until(charge.key, now)
    if (blockedUntil === 0) return
    charge.used = Math.max(charge.used, charge.rule.limit * charge.rule.perRequest)
    charge.resetAt = Math.max(charge.resetAt, blockedUntil)
  }

  change(change: Change, now: number): number {
    const { charge } = change
    const ledger = this.ledger(charge.rule)
    this.heldFor(charge.key, now) // settles what has expired, before anything else happens to the key
    switch (change.type) {
      case 'refund': {
        const { receipt } = charge
        if (receipt === 0) return 0
        charge.receipt = 0
        if (charge.rule.kind === 'slots') return this.change({ type: 'release', charge }, now)
        if (charge.hold !== undefined) return this.change({ type: 'settle', charge, actual: 0 }, now)
        if (this.forgottenSince(charge.key, receipt)) return 0
        ledger.refund(charge, now, Math.max(charge.at, charge.retryAt)) // a booking was but a promise until its start
        return charge.cost
      }
      case 'credit':
        ledger.credit(charge, now)
        return charge.cost
      case 'release':
        return charge.hold === undefined ? 0 : Number((charge.hold as Holder).release(now))
      case 'renew':
        return charge.hold === undefined
          ? 0
          : Number((charge.hold as Holder).renew(now, now + (charge.rule as SlotsRule).ttlTicks))
      case 'settle':
        return this.settle(charge, change.actual, now)
      case 'unbook':
        if (!charge.taken) return 0
        charge.receipt = 0
        ledger.credit(charge, now)
        return charge.cost
      case 'reset':
        this.forget(charge.rule, charge.key, now)
        return 0
      case 'block':
        this.needBlocks().set(charge.key, change.ticks, now)
        return change.ticks
    }
  }

  /**
   * Ends a reservation for what it really used, and says what was charged. More than was reserved is charged without
   * refusal, until one whole limit has been overdrawn.
   */
  private settle(charge: Charge, actual: number, now: number): number {
    const hold = charge.hold as Hold
    const holds = this.needHolds()
    if (hold.charged !== undefined) return hold.charged
    // One of cost 0 was kept nowhere, so nobody has ended it.
    const isKept = hold.owner !== undefined
    const isOver = !isKept && (hold.expiry <= now || this.forgottenSince(charge.key, charge.receipt))
    holds.end(hold, 0)
    if (isOver) return 0
    const ledger = this.ledger(charge.rule)
    ledger.locate(charge, now)
    const room = 2 * charge.rule.limit - ledger.counted(charge, now) - holds.held(charge.key, now)
    hold.charged = Math.min(actual, Math.max(charge.cost, room))
    if (hold.charged > 0) ledger.take(charge, hold.charged, now)
    return hold.charged
  }

  private newLedger(rule: Rule): Ledger {
    const { shared } = this
    switch (rule.kind) {
      case 'bucket': {
        const ledger = new BucketLedger(rule, shared, this.buckets)
        this.buckets.push(ledger)
        return ledger
      }
      case 'fixed':
        return new FixedLedger(shared)
      case 'sliding':
        return new SlidingLedger(rule, shared)
      case 'log':
        return new LogLedger(rule, shared)
      case 'slots':
        return new SlotLedger(shared)
    }
  }
}

/** When to ask again where the store is full and no reservation of this limit is to expire: keys may be forgotten by then. */
const ROOM_TICKS = 1_000_000

function isHeld({ rule, limit }: Charge, { holdTicks }: Intent): boolean {
  return holdTicks > 0 && rule.kind !== 'slots' && limit.atOnce !== true
}

function block(charge: Charge, until: number): void {
  charge.blocked = true
  charge.allowed = false
  charge.retryAt = Math.max(charge.retryAt, until)
}
