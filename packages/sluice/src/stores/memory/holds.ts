import type { Rule } from '../../algorithms/rule.ts'
import type { Limit } from '../limit.ts'
import { MOST_HOLDS } from '../store.ts'
import { type Expiring, ExpiryHeap } from './expiry-heap.ts'
import { type KeyBudget, occupy } from './key-table.ts'

/** One reservation: so much of a limit, kept until it is settled or expires. */
export class Hold implements Expiring {
  readonly limit: Limit
  readonly rule: Rule
  readonly cost: number
  readonly expiry: number
  /** What it ended up costing; undefined while it is held. */
  charged: number | undefined = undefined
  /** Whose it is; undefined where it is kept nowhere: a reservation of cost 0 has nothing to keep. */
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
  /** No reservation expires later. It is exact until the last one to expire is settled. */
  lastExpiry = 0
  place = -1

  constructor(key: string) {
    this.key = key
  }

  get expiry(): number {
    return this.holds.first!.expiry
  }
}

/** Measured with `--expose-gc`: one more reservation, and one more key that has some. Two bytes a letter besides. */
const HOLD_BYTES = 120
const OWNER_BYTES = 320

/**
 * The reservations of one limit: who holds how much until when. What is held stands beside the counted level and does
 * not drain; `expired` is told of each reservation that expires, to charge it as of then.
 *
 * The sum of each key is kept and expiry is a heap, of the keys and within each key, so a decision beside n
 * reservations takes O(log n). All that is kept counts as room of the store.
 */
export class Holds {
  /** How many there are. */
  count = 0
  /** What they take, about. */
  bytes = 0
  private readonly budget: KeyBudget
  private readonly expired: (key: string, hold: Hold) => void
  private readonly byKey = new Map<string, KeyHolds>()
  private readonly keys = new ExpiryHeap<KeyHolds>()

  constructor(budget: KeyBudget, expired: (key: string, hold: Hold) => void) {
    this.budget = budget
    this.expired = expired
  }

  /** What is held for a key now, after charging what has expired. */
  held(key: string, now: number): number {
    this.expireDue(now)
    return this.byKey.get(key)?.held ?? 0
  }

  countOf(key: string): number {
    return this.byKey.get(key)?.holds.size ?? 0
  }

  /** Is there no room for one more of this key? */
  isFull(key: string): boolean {
    return this.budget.live >= this.budget.max || this.countOf(key) >= MOST_HOLDS
  }

  /** The tick at which the next reservation of the key expires, or, if it has none, of the limit; undefined without any. */
  nextExpiry(key: string): number | undefined {
    return (this.byKey.get(key) ?? this.keys.first)?.expiry
  }

  /** The key's reservations that expire soonest, in that order. */
  soonest(key: string, most: number): readonly Hold[] {
    return this.byKey.get(key)?.holds.soonest(most) ?? []
  }

  /** All of a key, soonest expiry first. */
  of(key: string): readonly Hold[] {
    return this.byKey.get(key)?.holds.sorted() ?? []
  }

  /** The tick at which none of the key's reservations is left. */
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

  /** Ends a reservation that is held, for what it is charged. */
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

  /** Drops all of a key, for nothing. */
  forget(key: string): void {
    const owner = this.byKey.get(key)
    while (owner?.holds.first !== undefined) this.end(owner.holds.first, 0)
  }

  /** Ends what has expired, whosever it is: a key that nobody asks about must not look idle. */
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
