import { startAt } from '../algorithms/bucket.ts'
import type { Rule } from '../algorithms/rule.ts'
import { remainingOf, type Verdict } from '../algorithms/verdict.ts'
import type { StoreUnavailable } from '../errors.ts'
import type { Limit } from './limit.ts'

/** `Charge.role` of a charge that must pass. */
export const ENFORCED = -2
/** `Charge.role` of a shadow beside the others. In place of one of them, the role is that one's index in the call. */
export const BESIDE = -1

/**
 * What one request asks of one limit. It goes down with the question and comes back with the verdict.
 *
 * One is made for every limit of every request, so it is kept small: what few charges have stands in `rare`.
 */
export class Charge implements Verdict {
  readonly limit: Limit
  readonly rule: Rule
  readonly key: string
  readonly cost: number
  /** A shadow is decided as if it were enforced, and nothing depends on it. */
  role: number
  /** 0, or the store's own note of having taken it. */
  receipt: number
  allowed: boolean
  /** The tick of the decision, by the store's clock. */
  at: number
  used: number
  resetAt: number
  retryAt: number
  private rare: Rare | undefined

  constructor(limit: Limit, rule: Rule, key: string, cost: number, role: number) {
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

  /** Takes over the verdict on another charge of the same limit, key and cost. */
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

  /** The slot or reservation that was taken, if it was one; the store that made it knows what it is. */
  get hold(): unknown {
    return this.rare?.hold
  }

  set hold(hold: unknown) {
    this.rare = { ...this.rare, hold }
  }

  /** Why the store could not decide this charge; then nothing of the verdict means anything. */
  get fault(): StoreUnavailable | undefined {
    return this.rare?.fault
  }

  set fault(fault: StoreUnavailable | undefined) {
    this.rare = { ...this.rare, fault }
  }

  /** Why this process decided it in place of its store, by the limit's `onOutage`. */
  get outage(): StoreUnavailable | undefined {
    return this.rare?.outage
  }

  set outage(outage: StoreUnavailable | undefined) {
    this.rare = { ...this.rare, outage }
  }

  /** A refusal that may be lifted before `retryAt`: a slot released, a reservation settled, another shard asked again. */
  get tentative(): boolean {
    return this.rare?.tentative === true
  }

  set tentative(tentative: boolean) {
    this.rare = { ...this.rare, tentative }
  }

  /** Answered from what was already known, without asking the store. */
  get cached(): boolean {
    return this.rare?.cached === true
  }

  set cached(cached: boolean) {
    this.rare = { ...this.rare, cached }
  }
}

/** Whether a store has written its verdict. */
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

/** In place of the numbers of a verdict that is not there yet. */
const UNDECIDED = -1

/** How many of the enforced charges of a call are refused. */
export function refusedOf(charges: readonly Charge[]): number {
  let refused = 0
  for (const charge of charges) if (isRefused(charge) && charge.role === ENFORCED) refused++
  return refused
}

/**
 * Is a charge to be taken, once all of a call are judged? An enforced one if none was refused; a shadow if none but the
 * one it replaces was. What could not be judged neither refuses nor is taken.
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
 * The tick at which a charge that was taken may start: when its booking comes up, or, in a leaky bucket, when those
 * before it have drained. All others start at once.
 */
export function startOf(charge: Charge): number {
  if (charge.rule.kind !== 'bucket' || charge.retryAt > charge.at) return Math.max(charge.at, charge.retryAt)
  if (!charge.rule.queue) return charge.at
  return startAt(charge.used - charge.cost * charge.rule.perRequest, charge.rule, charge.at, charge.cost)
}
