import type { Holder } from '../../algorithms/concurrency.ts'
import type { Rule } from '../../algorithms/rule.ts'
import { type Clock, systemClock, toTicks } from '../../clock.ts'
import { expected } from '../../errors.ts'
import { KeyHash } from '../../hash.ts'
import { type Change, type Charge, ENFORCED, type Intent, LOOK, type Space, type Store, TAKE } from '../store.ts'
import type { BucketLedger } from './bucket-ledger.ts'
import type { Hold } from './holds.ts'
import type { Room } from './key-table.ts'
import type { Shared } from './keys.ts'
import type { LogLedger } from './log-ledger.ts'
import { MemorySpace, type Sweepable } from './memory-space.ts'

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
/** Every so many calls, so many slots are looked at: two a call, in strides that the processor likes. */
const CALLS_PER_SWEEP = 8
const SLOTS_PER_SWEEP = 16
const SLOTS_WHEN_FULL = 64

export function memoryStore(options: MemoryStoreOptions = {}): MemoryStore {
  const { clock = systemClock, maxKeys = DEFAULT_MAX_KEYS } = options
  if (!Number.isInteger(maxKeys) || maxKeys < 1 || maxKeys > 2 ** 30) {
    throw expected('SLUICE_BAD_OPTION', 'maxKeys as a whole number from 1 to 2^30', maxKeys)
  }
  if (typeof clock?.now !== 'function') throw expected('SLUICE_BAD_CLOCK', 'a clock with now()', clock)
  return new InProcess(clock, maxKeys, options.onOverflow)
}

class InProcess implements MemoryStore {
  readonly mode = 'sync'
  readonly clock: Clock
  private readonly room: Room
  private readonly shared: Shared
  private readonly spaces = new Map<string, MemorySpace>()
  private readonly swept: Sweepable[] = []
  private readonly onOverflow: MemoryStoreOptions['onOverflow']
  private lastNow = 0
  private calls = 0
  private sweptAt = 0
  private overflowed = 0
  /** Set while the call under way found no room, and told about after it. */
  private overflowing = false
  private toldOverflow = false

  constructor(clock: Clock, maxKeys: number, onOverflow: MemoryStoreOptions['onOverflow']) {
    this.clock = clock
    this.onOverflow = onOverflow
    this.room = { live: 0, max: maxKeys }
    const secret = crypto.getRandomValues(new Int32Array(2))
    this.shared = {
      hash: new KeyHash(secret[0]!, secret[1]!),
      room: this.room,
      overflowed: () => {
        this.overflowed++
        this.overflowing = true
      },
    }
  }

  get size(): number {
    return this.room.live
  }

  stats(): MemoryStats {
    return { keys: this.room.live, maxKeys: this.room.max, overflowed: this.overflowed }
  }

  space(path: string): Space {
    let space = this.spaces.get(path)
    if (space === undefined) {
      space = new MemorySpace(path, this.shared, this.swept)
      this.spaces.set(path, space)
    }
    return space
  }

  decide(charges: readonly Charge[], intent: Intent): number {
    const now = this.begin()
    if (charges.length === 1 && (intent === TAKE || intent === LOOK)) this.decideOne(charges[0]!, intent, now)
    else this.decideAll(charges, intent, now)
    if (this.overflowing) this.tellOverflow()
    return now
  }

  amend(changes: readonly Change[]): number[] {
    const now = this.begin()
    return changes.map(change => this.change(change, now))
  }

  history(space: Space, rule: Rule, key: string): number[] {
    return ((space as MemorySpace).ledger(rule) as LogLedger).history(key, this.begin())
  }

  close(): void {
    this.spaces.clear()
    this.swept.length = 0
  }

  /** Now, never earlier than before; and a little housekeeping. */
  private begin(): number {
    const now = toTicks(this.clock.now())
    if (now > this.lastNow) this.lastNow = now
    else if (Number.isNaN(now)) throw expected('SLUICE_BAD_CLOCK', 'epoch milliseconds from clock.now()', now)
    if (++this.calls % CALLS_PER_SWEEP === 0) this.sweep(SLOTS_PER_SWEEP)
    if (this.room.live >= this.room.max) this.sweep(SLOTS_WHEN_FULL)
    return this.lastNow
  }

  private sweep(slots: number): void {
    const turn = this.swept[this.sweptAt]
    if (turn === undefined) this.sweptAt = 0
    else if (turn.sweep(slots, this.lastNow)) this.sweptAt++
    if (this.room.live < this.room.max) this.toldOverflow = false
  }

  /** The short way: one limit, nothing blocked, nothing held. */
  private decideOne(charge: Charge, intent: Intent, now: number): void {
    const space = charge.limit.space as MemorySpace
    if (space.blocks !== undefined || space.holds !== undefined || charge.limit.block !== undefined) {
      this.decideAll([charge], intent, now)
      return
    }
    const ledger = space.ledger(charge.rule)
    ledger.locate(charge, now)
    ledger.judge(charge, charge.cost, now)
    if (charge.allowed && intent.take && charge.cost > 0) {
      ledger.take(charge, charge.cost, now)
      charge.taken = true
    }
    ledger.describe(charge, now)
  }

  private decideAll(charges: readonly Charge[], intent: Intent, now: number): void {
    let refused = 0
    for (const charge of charges) {
      this.judge(charge, now)
      if (intent.bookTicks >= 0) this.book(charge, now, intent.bookTicks)
      if (charge.role === ENFORCED && !charge.allowed) refused++
    }
    for (const charge of charges) {
      if (passes(charge, charges, refused)) this.take(charge, intent, now)
      else if (!charge.allowed && intent.take) this.strike(charge, now)
      this.describe(charge, now)
    }
  }

  private judge(charge: Charge, now: number): void {
    const space = charge.limit.space as MemorySpace
    const held = space.holds === undefined ? 0 : space.holds.held(charge.key, now)
    const ledger = space.ledger(charge.rule)
    ledger.locate(charge, now)
    ledger.judge(charge, charge.cost + held, now)
    const blockedUntil = space.blocks === undefined ? 0 : space.blocks.until(charge.key, now)
    if (blockedUntil === 0) return
    charge.blocked = true
    charge.allowed = false
    charge.retryAt = Math.max(charge.retryAt, blockedUntil)
  }

  private take(charge: Charge, intent: Intent, now: number): void {
    if (!intent.take || charge.cost === 0 || charge.taken) return
    const space = charge.limit.space as MemorySpace
    if (intent.holdTicks > 0 && charge.rule.kind !== 'slots') {
      charge.hold = space.needHolds().add(charge, now + intent.holdTicks, now)
    } else space.ledger(charge.rule).take(charge, charge.cost, now)
    charge.taken = true
  }

  private book(charge: Charge, now: number, bookTicks: number): void {
    if (charge.blocked || charge.rule.kind !== 'bucket') return
    const ledger = (charge.limit.space as MemorySpace).ledger(charge.rule) as BucketLedger
    ledger.book(charge, now, bookTicks)
    charge.taken = charge.allowed
  }

  /** A refusal by the limit itself starts its block; a cost that can never pass is a mistake, not an attack. */
  private strike(charge: Charge, now: number): void {
    const { block, space } = charge.limit
    if (block === undefined || charge.blocked || charge.cost > charge.rule.limit) return
    const until = (space as MemorySpace).needBlocks().strike(charge.key, block, now)
    charge.retryAt = Math.max(charge.retryAt, until)
  }

  private describe(charge: Charge, now: number): void {
    const space = charge.limit.space as MemorySpace
    const ledger = space.ledger(charge.rule)
    const held = space.holds === undefined ? 0 : space.holds.held(charge.key, now)
    if (held > 0) ledger.locate(charge, now) // making a reservation may have looked at other keys
    ledger.describe(charge, now)
    if (held > 0) space.holds!.foresee(charge, now)
  }

  private change(change: Change, now: number): number {
    const { charge } = change
    const space = charge.limit.space as MemorySpace
    const ledger = space.ledger(charge.rule)
    switch (change.type) {
      case 'refund':
        if (!charge.taken) return 0
        charge.taken = false
        if (charge.hold !== undefined) return Number((charge.hold as Holder).release())
        ledger.refund(charge, now, change.at)
        return charge.cost
      case 'credit':
        ledger.credit(charge, now)
        return charge.cost
      case 'release':
        return charge.hold === undefined ? 0 : Number((charge.hold as Holder).release())
      case 'settle':
        return space.needHolds().settle(charge.hold as Hold, change.actual, now)
      case 'unbook':
        if (!charge.taken) return 0
        charge.taken = false
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

  private tellOverflow(): void {
    this.overflowing = false
    if (this.toldOverflow) return
    this.toldOverflow = true
    this.onOverflow?.(this.stats())
  }
}

/** Is the charge to be taken? An enforced one if none was refused; a shadow if none but the one it replaces was. */
function passes(charge: Charge, charges: readonly Charge[], refused: number): boolean {
  if (charge.role === ENFORCED) return refused === 0
  const replaced = charge.role >= 0 && !charges[charge.role]!.allowed ? 1 : 0
  return charge.allowed && refused === replaced
}
