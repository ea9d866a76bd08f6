import type { Holder } from '../../algorithms/concurrency.ts'
import type { Rule } from '../../algorithms/rule.ts'
import { type Clock, systemClock } from '../../clock.ts'
import { expected } from '../../errors.ts'
import { KeyHash } from '../../hash.ts'
import {
  type Change,
  type Charge,
  ENFORCED,
  type Intent,
  type Lane,
  type Limit,
  type Space,
  type Store,
  TAKE,
} from '../store.ts'
import { BucketLane } from './bucket-lane.ts'
import type { BucketLedger } from './bucket-ledger.ts'
import type { Hold } from './holds.ts'
import { House } from './house.ts'
import type { Room } from './key-table.ts'
import type { Shared } from './keys.ts'
import type { LogLedger } from './log-ledger.ts'
import { MemorySpace } from './memory-space.ts'
import { StoreTime } from './store-time.ts'

export interface MemoryStoreOptions {
  clock?: Clock
  /** How many keys to keep at most; beyond it, new keys share pooled buckets. 2^22 by default: 160 MB at the worst. */
  maxKeys?: number
  /** Told when the store starts to be too full for new keys. */
  onOverflow?: (stats: MemoryStats) => void
}

export interface MemoryStats {
  /** Keys held now, those of blocks included. */
  readonly keys: number
  readonly maxKeys: number
  /** Decisions made on a shared bucket because there was no room for the key. */
  readonly overflowed: number
}

export interface MemoryStore extends Store<'sync'> {
  /** Keys held now: idle ones are forgotten by and by. */
  readonly size: number
  stats(): MemoryStats
}

const DEFAULT_MAX_KEYS = 2 ** 22
export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const known = ['clock', 'maxKeys', 'onOverflow']
  const unknown = options === null ? options : Object.keys(options).find(option => !known.includes(option))
  if (unknown !== undefined) throw expected('SLUICE_BAD_OPTION', `memoryStore options ${known.join(', ')}`, unknown)
  const { clock = systemClock, maxKeys = DEFAULT_MAX_KEYS } = options
  if (!Number.isInteger(maxKeys) || maxKeys < 1 || maxKeys > 2 ** 30) {
    throw expected('SLUICE_BAD_OPTION', 'maxKeys as a whole number from 1 to 2^30', maxKeys)
  }
  if (typeof clock?.now !== 'function') throw expected('SLUICE_BAD_CLOCK', 'a clock with now()', clock)
  if (options.onOverflow !== undefined && typeof options.onOverflow !== 'function') {
    throw expected('SLUICE_BAD_OPTION', 'onOverflow as a function', options.onOverflow)
  }
  return new InProcess(clock, maxKeys, options.onOverflow)
}

class InProcess implements MemoryStore {
  readonly mode = 'sync'
  readonly clock: Clock
  private readonly time: StoreTime
  private readonly room: Room
  private readonly shared: Shared
  private readonly spaces = new Map<string, MemorySpace>()
  private readonly house: House

  constructor(clock: Clock, maxKeys: number, onOverflow: MemoryStoreOptions['onOverflow']) {
    this.clock = clock
    this.time = new StoreTime(clock)
    this.room = { live: 0, max: maxKeys, resets: 0 }
    this.house = new House(this.room, this.time, () => onOverflow?.(this.stats()))
    const secret = crypto.getRandomValues(new Int32Array(2))
    this.shared = {
      hash: new KeyHash(secret[0]!, secret[1]!),
      time: this.time,
      room: this.room,
      overflowed: () => this.house.overflow(),
    }
  }

  get size(): number {
    return this.room.live
  }

  stats(): MemoryStats {
    return { keys: this.room.live, maxKeys: this.room.max, overflowed: this.house.overflowed }
  }

  space(path: string): Space {
    let space = this.spaces.get(path)
    if (space === undefined) {
      space = new MemorySpace(path, this.shared, this.house.tables)
      this.spaces.set(path, space)
    }
    return space
  }

  decide(charge: Charge, intent: Intent): void {
    this.time.read()
    const { now } = this.time
    const space = charge.limit.space as MemorySpace
    if (intent.plain && charge.limit.block === undefined && space.plain) this.decideAlone(charge, intent, now)
    else this.decideTogether([charge], intent, now)
    this.house.keep()
  }

  decideAll(charges: readonly Charge[], intent: Intent): void {
    this.time.read()
    this.decideTogether(charges, intent, this.time.now)
    this.house.keep()
  }

  lane(limit: Limit, rule: Rule): Lane | undefined {
    if (rule.kind !== 'bucket' || rule.limit === 0 || limit.block !== undefined) return undefined
    return new BucketLane(limit, rule, this.shared, this.house, charge => this.decide(charge, TAKE))
  }

  amend(changes: readonly Change[]): number[] {
    this.time.read()
    return changes.map(change => this.change(change, this.time.now))
  }

  history(space: Space, rule: Rule, key: string): number[] {
    this.time.read()
    return ((space as MemorySpace).ledger(rule) as LogLedger).history(key, this.time.now)
  }

  close(): void {
    this.spaces.clear()
    this.house.tables.length = 0
  }

  /** One limit, nothing blocked, nothing held. */
  private decideAlone(charge: Charge, intent: Intent, now: number): void {
    const ledger = (charge.limit.space as MemorySpace).ledger(charge.rule)
    charge.at = now
    ledger.locate(charge, now)
    ledger.judge(charge, charge.cost, now)
    if (charge.allowed) this.take(charge, intent, now)
    ledger.describe(charge, now)
  }

  private decideTogether(charges: readonly Charge[], intent: Intent, now: number): void {
    let refused = 0
    for (const charge of charges) {
      charge.at = now
      this.judge(charge, now)
      if (intent.bookTicks >= 0 && charge.role === ENFORCED) this.book(charge, now, intent.bookTicks)
      if (charge.role === ENFORCED && !charge.allowed) refused++
    }
    for (const charge of charges) {
      if (passes(charge, charges, refused)) this.take(charge, intent, now)
      else if (!charge.allowed && intent.strikes) this.strike(charge, now)
      this.describe(charge, now)
    }
  }

  private judge(charge: Charge, now: number): void {
    const space = charge.limit.space as MemorySpace
    const held = space.heldFor(charge.key, now)
    const ledger = space.ledger(charge.rule)
    ledger.locate(charge, now)
    ledger.judge(charge, charge.cost + held, now)
    if (held > 0 && !charge.allowed) charge.retryAt = space.holds!.retryAt(charge, now)
    const blockedUntil = space.blocks === undefined ? 0 : space.blocks.until(charge.key, now)
    if (blockedUntil > 0) block(charge, blockedUntil)
  }

  private take(charge: Charge, intent: Intent, now: number): void {
    const holds = intent.holdTicks > 0 && charge.rule.kind !== 'slots'
    if (!intent.take || charge.taken || (charge.cost === 0 && !holds)) return
    const space = charge.limit.space as MemorySpace
    if (holds) charge.hold = space.needHolds().add(charge, now + intent.holdTicks, now)
    else space.ledger(charge.rule).take(charge, charge.cost, now)
    charge.receipt = this.room.resets + 1
  }

  /** Beside a reservation nothing is booked: when that will be settled, nobody knows. */
  private book(charge: Charge, now: number, bookTicks: number): void {
    const space = charge.limit.space as MemorySpace
    if (charge.blocked || charge.rule.kind !== 'bucket' || space.heldFor(charge.key, now) > 0) return
    const ledger = space.ledger(charge.rule) as BucketLedger
    ledger.book(charge, now, bookTicks)
    if (charge.allowed) charge.receipt = this.room.resets + 1
  }

  /** A refusal by the limit itself starts its block; a cost that can never pass is a mistake, not an attack. */
  private strike(charge: Charge, now: number): void {
    const { block: rule, space } = charge.limit
    if (rule === undefined || charge.blocked || charge.cost > charge.rule.limit) return
    const until = (space as MemorySpace).needBlocks().strike(charge.key, rule, now)
    charge.retryAt = Math.max(charge.retryAt, until)
  }

  private describe(charge: Charge, now: number): void {
    const space = charge.limit.space as MemorySpace
    const ledger = space.ledger(charge.rule)
    const held = space.heldFor(charge.key, now)
    if (held > 0) ledger.locate(charge, now) // making a reservation may have looked at other keys
    ledger.describe(charge, now)
    if (held > 0) {
      charge.used += held * charge.rule.perRequest
      charge.resetAt = space.holds!.resetAt(charge, now)
    }
    const blockedUntil = space.blocks === undefined ? 0 : space.blocks.until(charge.key, now)
    if (blockedUntil === 0) return
    charge.used = Math.max(charge.used, charge.rule.limit * charge.rule.perRequest)
    charge.resetAt = Math.max(charge.resetAt, blockedUntil)
  }

  private change(change: Change, now: number): number {
    const { charge } = change
    const space = charge.limit.space as MemorySpace
    const ledger = space.ledger(charge.rule)
    space.heldFor(charge.key, now) // settles what has expired, before anything else happens to the key
    switch (change.type) {
      case 'refund': {
        const { receipt } = charge
        if (receipt === 0) return 0
        charge.receipt = 0
        if (charge.rule.kind === 'slots') return this.change({ type: 'release', charge }, now)
        if (charge.hold !== undefined) return this.change({ type: 'settle', charge, actual: 0 }, now)
        if (space.forgottenSince(charge.key, receipt)) return 0
        ledger.refund(charge, now, Math.max(charge.at, charge.retryAt)) // a booking was but a promise until its start
        return charge.cost
      }
      case 'credit':
        ledger.credit(charge, now)
        return charge.cost
      case 'release':
        return charge.hold === undefined ? 0 : Number((charge.hold as Holder).release())
      case 'settle':
        return space.needHolds().settle(charge.hold as Hold, change.actual, now)
      case 'unbook':
        if (!charge.taken) return 0
        charge.receipt = 0
        ledger.credit(charge, now)
        return charge.cost
      case 'reset':
        space.forget(charge.rule, charge.key, now)
        return 0
      case 'block':
        space.needBlocks().set(charge.key, change.ticks, now)
        return change.ticks
    }
  }
}

/** Is the charge to be taken? An enforced one if none was refused; a shadow if none but the one it replaces was. */
function passes(charge: Charge, charges: readonly Charge[], refused: number): boolean {
  if (charge.role === ENFORCED) return refused === 0
  const replaced = charge.role >= 0 && !charges[charge.role]!.allowed ? 1 : 0
  return charge.allowed && refused === replaced
}

function block(charge: Charge, until: number): void {
  charge.blocked = true
  charge.allowed = false
  charge.retryAt = Math.max(charge.retryAt, until)
}
