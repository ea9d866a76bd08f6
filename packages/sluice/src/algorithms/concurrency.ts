import { TICKS_PER_MS } from '../clock.ts'
import type { ConcurrencyPolicy } from '../policy.ts'
import type { Verdict } from './verdict.ts'

/**
 * Concurrency: how many requests may run at once. Each holder has a slot with an id and an expiry, so that the slot of
 * a holder that died comes back after the ttl.
 */
export interface SlotsRule {
  readonly kind: 'slots'
  readonly policy: ConcurrencyPolicy
  readonly limit: number
  readonly perRequest: 1
  readonly ttlTicks: number
  readonly shape: string
}

export function slotsRule(policy: ConcurrencyPolicy): SlotsRule {
  const ttlTicks = Math.round(policy.ttlMs * TICKS_PER_MS)
  return { kind: 'slots', policy, limit: policy.limit, perRequest: 1, ttlTicks, shape: 'slots' }
}

/** One holder: a link in its key's queue. */
export class Holder {
  prev: Holder | undefined
  next: Holder | undefined
  private slots: Slots | undefined
  readonly cost: number
  expiry: number

  constructor(slots: Slots, cost: number, expiry: number) {
    this.slots = slots
    this.cost = cost
    this.expiry = expiry
  }

  /** Gives the slot back. Returns true if it was still held. */
  release(now: number): boolean {
    if (this.slots === undefined) return false
    this.slots.unlink(this)
    this.slots = undefined
    return now < this.expiry
  }

  /** Holds the slot until `expiry`. Returns true if it was still held. */
  renew(now: number, expiry: number): boolean {
    if (this.slots === undefined || this.expiry <= now) return false
    this.slots.unlink(this)
    this.expiry = expiry
    this.slots.insert(this)
    return true
  }
}

/** The holders of one key in order of expiry. Both ends are at hand, and any holder can leave in one step. */
export class Slots {
  /** Sum of the costs held. */
  held = 0
  /** How many holders there are. */
  count = 0
  private first: Holder | undefined
  private last: Holder | undefined

  /** The expiry of the last holder; 0 if there is none. */
  get lastExpiry(): number {
    return this.last === undefined ? 0 : this.last.expiry
  }

  acquire(cost: number, expiry: number): Holder {
    const holder = new Holder(this, cost, expiry)
    this.insert(holder)
    return holder
  }

  insert(holder: Holder): void {
    // With one ttl the new holder expires last, so this looks at one link. A changed ttl may walk a little.
    let before = this.last
    while (before !== undefined && before.expiry > holder.expiry) before = before.prev
    this.link(holder, before)
    this.count++
    this.held += holder.cost
  }

  expire(now: number): void {
    while (this.first !== undefined && this.first.expiry <= now) this.first.release(now)
  }

  /** The holders in order of expiry. */
  get holders(): readonly Holder[] {
    const all: Holder[] = []
    for (let holder = this.first; holder !== undefined; holder = holder.next) all.push(holder)
    return all
  }

  /** The expiry after which `amount` is free. The caller knows that at least that much is held. */
  freedAt(amount: number): number {
    let holder = this.first!
    for (let freed = holder.cost; freed < amount; freed += holder.cost) holder = holder.next!
    return holder.expiry
  }

  unlink(holder: Holder): void {
    const { prev, next } = holder
    if (prev === undefined) this.first = next
    else prev.next = next
    if (next === undefined) this.last = prev
    else next.prev = prev
    this.held -= holder.cost
    this.count--
  }

  private link(holder: Holder, before: Holder | undefined): void {
    const after = before === undefined ? this.first : before.next
    holder.prev = before
    holder.next = after
    if (before === undefined) this.first = holder
    else before.next = holder
    if (after === undefined) this.last = holder
    else after.prev = holder
  }
}

/** `slots` must hold only live holders: call `expire` first. */
export function decide(slots: Slots, rule: SlotsRule, cost: number, out: Verdict): void {
  const over = slots.held + cost - rule.limit
  out.allowed = over <= 0
  out.retryAt = over <= 0 ? 0 : cost > rule.limit ? Infinity : slots.freedAt(over)
}

export function describe(slots: Slots, now: number, out: Verdict): void {
  out.used = slots.held
  out.resetAt = Math.max(now, slots.lastExpiry)
}
