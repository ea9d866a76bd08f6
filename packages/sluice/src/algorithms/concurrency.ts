import { TICKS_PER_MS } from '../clock.ts'
import type { ConcurrencyPolicy } from '../policy.ts'
import type { Verdict } from './verdict.ts'

/**
 * Concurrency: how many may be under way at once. Each holder has a slot with an id and an expiry, so that a holder
 * that died without releasing gives its slot back after the ttl.
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

  /** Gives the slot back; true if it was still held. */
  release(now: number): boolean {
    if (this.slots === undefined) return false
    this.slots.unlink(this)
    this.slots = undefined
    return now < this.expiry
  }

  /** Holds the slot until `expiry`; true if it was still held. */
  renew(now: number, expiry: number): boolean {
    if (this.slots === undefined || this.expiry <= now) return false
    this.slots.unlink(this)
    this.expiry = expiry
    this.slots.insert(this)
    return true
  }
}

/** The holders of one key, queued by expiry, so that both ends are at hand and any one leaves in one step. */
export class Slots {
  /** Sum of the costs held. */
  held = 0
  /** How many hold them. */
  count = 0
  private first: Holder | undefined
  private last: Holder | undefined

  /** 0 where nothing is held. */
  get lastExpiry(): number {
    return this.last === undefined ? 0 : this.last.expiry
  }

  acquire(cost: number, expiry: number): Holder {
    const holder = new Holder(this, cost, expiry)
    this.insert(holder)
    return holder
  }

  insert(holder: Holder): void {
    // With one ttl the newest expires last, so this looks at one link; a changed ttl may walk a little.
    let before = this.last
    while (before !== undefined && before.expiry > holder.expiry) before = before.prev
    this.link(holder, before)
    this.count++
    this.held += holder.cost
  }

  expire(now: number): void {
    while (this.first !== undefined && this.first.expiry <= now) this.first.release(now)
  }

  /** Soonest expiry first. */
  get holders(): readonly Holder[] {
    const all: Holder[] = []
    for (let holder = this.first; holder !== undefined; holder = holder.next) all.push(holder)
    return all
  }

  /** The expiry after which `amount` is free; the caller knows that so much is held. */
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

/** `slots` holds only live holders: call `expire` first. */
export function decide(slots: Slots, rule: SlotsRule, cost: number, out: Verdict): void {
  const over = slots.held + cost - rule.limit
  out.allowed = over <= 0
  out.retryAt = over <= 0 ? 0 : cost > rule.limit ? Infinity : slots.freedAt(over)
}

export function describe(slots: Slots, now: number, out: Verdict): void {
  out.used = slots.held
  out.resetAt = Math.max(now, slots.lastExpiry)
}
