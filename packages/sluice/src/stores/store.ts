import { startAt, ticksOf } from '../algorithms/bucket.ts'
import type { Rule } from '../algorithms/rule.ts'
import { remainingOf, type Verdict } from '../algorithms/verdict.ts'
import type { Clock } from '../clock.ts'
import type { StoreUnavailable } from '../errors.ts'
import type { LoneLane, SharedLane } from './lane.ts'

/** A policy made ready for a store: what every charge carries. */
export { type Rule, ruleOf } from '../algorithms/rule.ts'

/**
 * A store keeps the state of limits and decides on it.
 *
 * - `decideAll` is atomic over the charges of a call: every enforced charge is taken or none is. A refused call changes
 *   nothing, except that a refusal may start a block. `decide` is the same for one charge, without the list.
 * - Now is the store's own clock, read once a call, and never runs backwards.
 * - Verdicts are written into the charges, with the tick they were made at; the call itself answers nothing, so that an
 *   in-process store has no number to box.
 * - A limit stands at most once among the charges of a call.
 * - A store that cannot decide a charge says so in the charge, by its `fault`, and takes nothing; it never rejects for
 *   that. A fault set from outside (whoever asked has stopped waiting) is an answer too: the charge is left alone.
 * - Keys are data: never altered, never compared but for equality.
 */
export interface Store<M extends Mode = Mode> {
  /** `'sync'`: every answer is there when the call returns. `'async'`: every answer is a promise. */
  readonly mode: M
  /** The clock waits are timed by. */
  readonly clock: Clock
  /** Where the state of one limit lives: the same path, the same state. */
  space(path: string): Space
  decide(charge: Charge, intent: Intent): Answer<M, void>
  decideAll(charges: readonly Charge[], intent: Intent): Answer<M, void>
  /** `decide` and `decideAll` without the promise, where every answer is one. */
  ask?(question: Question): void
  /** A faster way in for requests of cost 1 to one limit under one rule, where a store has one. */
  lane?(limit: Limit, rule: Rule): LoneLane
  /** The same for several limits, given the lane of each; undefined where these have none. */
  sharedLane?(lanes: readonly LoneLane[]): SharedLane | undefined
  /** Changes that no limit can refuse. Of a settlement it answers what was charged, of a release or renewal 1 if the slot
   * was still held; of the others nothing of meaning. */
  amend(changes: readonly Change[]): Answer<M, number[]>
  /** The ticks still in the window of a sliding log, oldest first. */
  history(space: Space, rule: Rule, key: string): Answer<M, number[]>
  /** Which part of a limit this process may let through by itself while the store cannot be asked. */
  readonly localShare?: number | undefined
  close(): Answer<M, void>
}

/**
 * One decision on its way through the layers of a store. A promise in every layer, or a closure, would cost more than the
 * layers themselves.
 */
export interface Question {
  readonly charges: readonly Charge[]
  readonly intent: Intent
  /** Called once, when all charges are decided or at fault. */
  done(): void
}

export type Mode = 'sync' | 'async'
export type Answer<M extends Mode, T> = M extends 'sync' ? T : Promise<T>

/** A store's handle for one limit; what is in it is the store's own business. */
export interface Space {
  readonly path: string
}

/** The limit a charge is made against, as far as a store must know it. */
export interface Limit {
  readonly space: Space
  readonly block: BlockRule | undefined
  /** A reservation takes from it at once, as any other call does: it counts requests, not what they use. */
  readonly atOnce?: boolean
}

/** How long a refusal blocks, in ticks: `first`, then each time `factor` longer, up to `max`. */
export interface BlockRule {
  readonly first: number
  readonly factor: number
  readonly max: number
}

/** What a call means to do with its charges. */
export interface Intent {
  /** False only looks. */
  readonly take: boolean
  /** More than 0: take it as a reservation that expires so many ticks from now. */
  readonly holdTicks: number
  /** 0 or more: a bucket too full now takes it all the same, to start within so many ticks. One charge a call. */
  readonly bookTicks: number
  /** A refusal may start a block. */
  readonly strikes: boolean
}

export const LOOK: Intent = { take: false, holdTicks: 0, bookTicks: -1, strikes: false }
export const TAKE: Intent = { take: true, holdTicks: 0, bookTicks: -1, strikes: true }
/** One who waits in line is not an offender. */
export const WAIT: Intent = { take: true, holdTicks: 0, bookTicks: -1, strikes: false }

export function reserving(holdTicks: number): Intent {
  return { take: true, holdTicks, bookTicks: -1, strikes: true }
}

export function booking(bookTicks: number): Intent {
  return { take: true, holdTicks: 0, bookTicks, strikes: false }
}

/** `Charge.role` of a charge that must pass. */
export const ENFORCED = -2
/** `Charge.role` of a shadow beside the others. In place of one of them, the role is that one's index in the call. */
export const BESIDE = -1

/**
 * What one request asks of one limit. It goes down with the question and comes back with the verdict.
 *
 * One is made for every limit of every request, so it is kept small: what few charges have stands in `rare`, and the
 * numbers of the verdict are left out until there is one (a number put in place first would be allocated twice).
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

interface Rare {
  readonly blocked?: boolean
  readonly hold?: unknown
  readonly fault?: StoreUnavailable | undefined
  readonly tentative?: boolean
  readonly cached?: boolean
}

const UNDECIDED = undefined as unknown as number

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
  return !charge.allowed && charge.fault === undefined
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

/** How much sooner the ones after it start when a booked charge is given back: rounded down, so that none is too early. */
export function ticksGivenBack(charge: Charge): number {
  return charge.rule.kind === 'bucket' ? ticksOf(charge.cost, charge.rule) : 0
}

export type Change =
  /** Take back a charge that was taken, by law 12. */
  | { readonly type: 'refund'; readonly charge: Charge }
  /** Give `cost` back, clamped at full. */
  | { readonly type: 'credit'; readonly charge: Charge }
  /** Give the slot of a concurrency charge back. */
  | { readonly type: 'release'; readonly charge: Charge }
  /** Hold the slot of a concurrency charge for another ttl. */
  | { readonly type: 'renew'; readonly charge: Charge }
  /** End a reservation: `actual` is charged in place of what was reserved. */
  | { readonly type: 'settle'; readonly charge: Charge; readonly actual: number }
  /** Take back a booking that has not started. */
  | { readonly type: 'unbook'; readonly charge: Charge }
  /** Forget the key: state, blocks and reservations. */
  | { readonly type: 'reset'; readonly charge: Charge }
  /** Refuse the key for so many ticks from now. */
  | { readonly type: 'block'; readonly charge: Charge; readonly ticks: number }
