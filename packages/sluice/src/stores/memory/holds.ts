import type { Rule } from '../../algorithms/rule.ts'
import type { Limit } from '../limit.ts'
import { MOST_HOLDS } from '../store.ts'
import { type Expiring, ExpiryHeap } from './expiry-heap.ts'
import { type KeyBudget, occupy } from './table/key-table.ts'

/** One reservation: an amount of a limit, kept until it is settled or expires. */
export class Hold implements Expiring {
  readonly limit: Limit
  readonly rule: Rule
  readonly cost: number
  readonly expiry: number
  /** What it finally cost; undefined while it is held. */
  charged: number | undefined = undefined
  /** The key it belongs to; undefined for a reservation of cost 0, which is not kept anywhere. */
  readonly owner: KeyHolds | undefined
  place = -1

  constructor(limit: Limit, rule: Rule, cost: number, expiry: number, owner: KeyHolds | undefined) {
    this.limit = limit
    this.rule = rule
    this.cost = cost
    this.expiry = expiry
    this.owner = owner
  }
}

/** The reservations of one key. */
class KeyHolds implements Expiring {
  readonly key: string
  readonly holds = new ExpiryHeap<Hold>()
  /** Sum of the costs. */
  held = 0
  /** No reservation of the key expires later. It may be too late once the last one to expire is settled. */
  lastExpiry = 0
  place = -1

  constructor(key: string) {
    this.key = key
  }

  get expiry(): number {
    return this.holds.first!.expiry
  }
}

/**
 * Bytes, measured with `--expose-gc`: of one more reservation, and of one more key with reservations. Each letter of
 * the key adds two.
 */
const HOLD_BYTES = 120
const OWNER_BYTES = 320

/**
 * The reservations of one limit: each key's amounts and their expiry. A reserved amount is added to the counted level
 * and does not drain. `expired` is called for each reservation that expires, to charge it as of then.
 *
 * Each key keeps its sum, and expiry is a heap of keys with a heap in each key. So a decision beside n reservations
 * takes O(log n). Everything kept counts as room of the store.
 */
export class Holds {
  /** How many reservations there are. */
  count = 0
  /** About how many bytes they take. */
  bytes = 0
  private readonly budget: KeyBudget
  private readonly expired: (key: string, hold: Hold) => void
  private readonly byKey = new Map<string, KeyHolds>()
  private readonly keys = new ExpiryHeap<KeyHolds>()

  constructor(budget: KeyBudget, expired: (key: string, hold: Hold) => void) {
    this.budget = budget
    this.expired = expired
  }

  /** What is reserved for a key now, after charging what has expired. */
  held(key: string, now: number): number {
    this.expireDue(now)
    return this.byKey.get(key)?.held ?? 0
  }

  countOf(key: string): number {
    return this.byKey.get(key)?.holds.size ?? 0
  }

  /** Whether there is no room for another reservation of this key. */
  isFull(key: string): boolean {
    return this.budget.live >= this.budget.max || this.countOf(key) >= MOST_HOLDS
  }

  /**
   * The tick at which the key's next reservation expires; if the key has none, the limit's next; undefined if the limit
   * has none.
   */
  nextExpiry(key: string): number | undefined {
    return (this.byKey.get(key) ?? this.keys.first)?.expiry
  }

  /** The key's reservations that expire first, in that order. */
  soonest(key: string, most: number): readonly Hold[] {
    return this.byKey.get(key)?.holds.soonest(most) ?? []
  }

  /** All reservations of a key, in order of expiry. */
  of(key: string): readonly Hold[] {
    return this.byKey.get(key)?.holds.sorted() ?? []
  }

  /** The tick at which the key's last reservation expires. */
  lastExpiry(key: string): number {
    return this.byKey.get(key)?.lastExpiry ?? 0
  }

  add(key: string, limit: Limit, rule: Rule, cost: number, expiry: number): Hold {
    if (cost === 0) return new Hold(limit, rule, cost, expiry, undefined)
    const owner = this.byKey.get(key) ?? this.newOwner(key)
    const hold = new Hold(limit, rule, cost, expiry, owner)
    owner.holds.add(hold)
    owner.held += cost
    owner.lastExpiry = Math.max(owner.lastExpiry, expiry)
    if (owner.place < 0) this.keys.add(owner)
    else this.keys.moved(owner)
    this.count++
    this.occupy(HOLD_BYTES)
    return hold
  }

  /** Ends a reservation and records what it is charged. */
  end(hold: Hold, charged: number): void {
    hold.charged = charged
    const { owner } = hold
    if (owner === undefined) return
    owner.holds.remove(hold)
    owner.held -= hold.cost
    this.count--
    this.occupy(-HOLD_BYTES)
    if (owner.holds.size > 0) this.keys.moved(owner)
    else this.drop(owner)
  }

  /** Drops all reservations of a key without charging them. */
  forget(key: string): void {
    const owner = this.byKey.get(key)
    while (owner?.holds.first !== undefined) this.end(owner.holds.first, 0)
  }

  /** Ends the expired reservations of every key: otherwise a key that is never asked about would look idle. */
  expireDue(now: number): void {
    for (let owner = this.keys.first; owner !== undefined && owner.expiry <= now; owner = this.keys.first) {
      const hold = owner.holds.first!
      this.end(hold, hold.cost)
      this.expired(owner.key, hold)
    }
  }

  private newOwner(key: string): KeyHolds {
    const owner = new KeyHolds(key)
    this.byKey.set(key, owner)
    this.budget.live++
    this.occupy(OWNER_BYTES + 2 * key.length)
    return owner
  }

  private drop(owner: KeyHolds): void {
    this.keys.remove(owner)
    this.byKey.delete(owner.key)
    this.budget.live--
    this.occupy(-OWNER_BYTES - 2 * owner.key.length)
  }

  private occupy(bytes: number): void {
    this.bytes += bytes
    occupy(this.budget, bytes)
  }
}
