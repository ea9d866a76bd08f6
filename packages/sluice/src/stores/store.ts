import type { Rule } from '../algorithms/rule.ts'
import type { Clock } from '../clock.ts'
import type { Charge } from './charge.ts'
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

/** So many reservations a key may have at a time. Each is of 1 at least, so a smaller limit caps them before. */
export const MOST_HOLDS = 16_384
/** So many of those that expire first are played through to tell a retry: beyond them it is the earliest possible. */
export const HOLDS_PLAYED = 32

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
