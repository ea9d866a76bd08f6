import { startAt } from '../algorithms/bucket.ts'
import type { Rule } from '../algorithms/rule.ts'
import { remainingOf, type Verdict } from '../algorithms/verdict.ts'
import type { StoreUnavailable } from '../errors.ts'
import type { Limit } from './limit.ts'

/** `Charge.role` of an enforced charge: the request passes only if this charge is allowed. */
export const ENFORCED = -2
/**
 * `Charge.role` of a shadow that replaces no limit. A shadow that replaces one has that charge's index in the call as
 * its role.
 */
export const BESIDE = -1

/**
 * What one request asks of one limit. The limiter hands it to the store, and the store writes its verdict into it.
 *
 * One is made for every limit of every request, so it is kept small: fields that few charges need are in `rare`.
 */
export class Charge<R extends Rule = Rule> implements Verdict {
  readonly limit: Limit
  readonly rule: R
  readonly key: string
  readonly cost: number
  /**
   * `ENFORCED`, `BESIDE`, or the index of the charge a shadow replaces. A shadow is decided like an enforced charge,
   * but no other charge depends on it.
   */
  role: number
  /** 0 if nothing was taken; otherwise a number by which the store finds what it took. */
  receipt: number
  allowed: boolean
  /** The tick of the decision, by the store's clock. */
  at: number
  used: number
  resetAt: number
  retryAt: number
  private rare: Rare | undefined

  constructor(limit: Limit, rule: R, key: string, cost: number, role: number) {
    this.limit = limit
    this.rule = rule
    this.key = key
    this.cost = cost
    this.role = role
    this.receipt = 0
    this.allowed = false
    this.at = UNDECIDED
    this.used = UNDECIDED
    this.resetAt = UNDECIDED
    this.retryAt = UNDECIDED
    this.rare = undefined
  }

  /** Copies the verdict of another charge of the same limit, key and cost. */
  decideAs({ receipt, allowed, at, used, resetAt, retryAt, rare }: Charge): void {
    Object.assign(this, { receipt, allowed, at, used, resetAt, retryAt })
    this.rare = rare
  }

  get remaining(): number {
    return remainingOf(this.used, this.rule)
  }

  get taken(): boolean {
    return this.receipt > 0
  }

  /** Refused by a block rather than by the limit. */
  get blocked(): boolean {
    return this.rare?.blocked === true
  }

  set blocked(blocked: boolean) {
    this.rare = { ...this.rare, blocked }
  }

  /** Refused because there is no room for another reservation, rather than by the limit. */
  get tooManyHolds(): boolean {
    return this.rare?.tooManyHolds === true
  }

  set tooManyHolds(tooManyHolds: boolean) {
    this.rare = { ...this.rare, tooManyHolds }
  }

  /** The slot or reservation that was taken, if any. Only the store that made it can read it. */
  get hold(): unknown {
    return this.rare?.hold
  }

  set hold(hold: unknown) {
    this.rare = { ...this.rare, hold }
  }

  /** Why the store could not decide this charge. If it is set, the verdict means nothing. */
  get fault(): StoreUnavailable | undefined {
    return this.rare?.fault
  }

  set fault(fault: StoreUnavailable | undefined) {
    this.rare = { ...this.rare, fault }
  }

  /** Why this process decided the charge by the limit's `onOutage`, in place of its store. */
  get outage(): StoreUnavailable | undefined {
    return this.rare?.outage
  }

  set outage(outage: StoreUnavailable | undefined) {
    this.rare = { ...this.rare, outage }
  }

  /** The charge may pass before `retryAt`: a slot is released, a reservation settled, or another shard answers. */
  get tentative(): boolean {
    return this.rare?.tentative === true
  }

  set tentative(tentative: boolean) {
    this.rare = { ...this.rare, tentative }
  }

  /** The verdict comes from a cache: the store was not asked. */
  get cached(): boolean {
    return this.rare?.cached === true
  }

  set cached(cached: boolean) {
    this.rare = { ...this.rare, cached }
  }
}

/** Whether the store has written its verdict. */
export function isDecided(charge: Charge): boolean {
  return charge.at >= 0
}

interface Rare {
  readonly blocked?: boolean
  readonly tooManyHolds?: boolean
  readonly hold?: unknown
  readonly fault?: StoreUnavailable | undefined
  readonly outage?: StoreUnavailable | undefined
  readonly tentative?: boolean
  readonly cached?: boolean
}

/** Stands in the number fields until the store writes its verdict. */
const UNDECIDED = -1

/** How many enforced charges of a call are refused. */
export function refusedOf(charges: readonly Charge[]): number {
  let refused = 0
  for (const charge of charges) if (isRefused(charge) && charge.role === ENFORCED) refused++
  return refused
}

/**
 * Whether to take a charge once all charges of the call are judged. An enforced charge is taken if no enforced one was
 * refused; a shadow if none was, except the one it replaces. A charge with a fault neither refuses the call nor is
 * taken.
 */
export function isTaken(charge: Charge, charges: readonly Charge[], refused: number): boolean {
  if (charge.role === ENFORCED) return refused === 0
  const replaced = charge.role >= 0 && isRefused(charges[charge.role]!) ? 1 : 0
  return charge.allowed && refused === replaced
}

function isRefused(charge: Charge): boolean {
  return !charge.allowed && isDecided(charge) && charge.fault === undefined
}

/**
 * The tick at which a taken charge may start: its booked start, or, in a leaky bucket, when the requests before it have
 * drained. Every other charge starts at once.
 */
export function startOf(charge: Charge): number {
  if (charge.rule.kind !== 'bucket' || charge.retryAt > charge.at) return Math.max(charge.at, charge.retryAt)
  if (!charge.rule.queue) return charge.at
  return startAt(charge.used - charge.cost * charge.rule.perRequest, charge.rule, charge.at, charge.cost)
}
