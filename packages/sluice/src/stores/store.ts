import type { Clock } from '../clock.ts'
import type { Charge } from './charge.ts'
import type { KeyInspection } from './inspection.ts'
import type { Space } from './limit.ts'

/**
 * A store keeps the state of limits and decides on it.
 *
 * - `ask` is atomic over the charges of a question: it takes every enforced charge or none (`isTaken` says which). A
 *   refused question changes nothing, except that a refusal may start a block.
 * - Now is the store's own clock. It is read once per question and never runs backwards.
 * - The store writes its answer into the charges: a few numbers each, with the tick of the decision. Then it calls
 *   `question.done()` once: before `ask` returns if the mode is `'sync'`, later if it is `'async'`.
 * - A limit occurs at most once among the charges of a question.
 * - A store that cannot decide a charge sets the charge's `fault` and takes nothing; it does not throw. A fault that
 *   the caller sets (it has stopped waiting) is an answer too: the store leaves that charge alone.
 * - Keys are data: a store never alters them and compares them only for equality.
 *
 * `storeSuite` of `sluice/testing` checks all of this.
 */
export interface Store<M extends Mode = Mode> {
  /** `'sync'`: every answer is there when the call returns. `'async'`: every answer comes later. */
  readonly mode: M
  /** The clock that times waits. */
  readonly clock: Clock
  /** Makes the handle for one limit's state. The same path finds the same state. */
  bind(path: string): Space
  ask(question: Question): void
  /**
   * Makes changes that no limit can refuse, and answers a number for each. For `settle` and `penalty` it is the cost
   * that was charged; for `release` and `renew` 1 if the slot was still held, otherwise 0; for `block` 0 if the store
   * has no room for the block. The other numbers mean nothing.
   */
  amend(changes: readonly Change[]): Answer<M, number[]>
  /** The state of a charge's key as data. The charge's cost and role do not matter. */
  inspect(charge: Charge): Answer<M, KeyInspection>
  close(): Answer<M, void>
}

/** One question to a store: the charges to decide, and what to do with them. */
export interface Question {
  readonly charges: readonly Charge[]
  readonly intent: Intent
  /** The store calls it once, when every charge is decided or has a fault. */
  done(): void
}

/** How many reservations a key may have at a time. Each costs at least 1, so a limit below this number allows fewer. */
export const MOST_HOLDS = 16_384
/**
 * To compute a retry, a store simulates this many of the reservations that expire first. If that does not suffice, the
 * retry is the earliest possible time.
 */
export const HOLDS_PLAYED = 32

export type Mode = 'sync' | 'async'
export type Answer<M extends Mode, T> = M extends 'sync' ? T : Promise<T>

/** What a call does with its charges. */
export interface Intent {
  /** If false, the call only looks. */
  readonly take: boolean
  /** If more than 0, the charges are taken as a reservation that expires after this many ticks. */
  readonly holdTicks: number
  /**
   * If 0 or more and the bucket is full, the charge is booked to start within this many ticks. Such a call has one
   * charge.
   */
  readonly bookTicks: number
  /** A refusal may start a block. */
  readonly strikes: boolean
}

export const LOOK: Intent = { take: false, holdTicks: 0, bookTicks: -1, strikes: false }
export const TAKE: Intent = { take: true, holdTicks: 0, bookTicks: -1, strikes: true }
/** What a waiting request does. Its refusals start no block, because waiting in line is no offence. */
export const WAIT: Intent = { take: true, holdTicks: 0, bookTicks: -1, strikes: false }

export function reserving(holdTicks: number): Intent {
  return { take: true, holdTicks, bookTicks: -1, strikes: true }
}

export function booking(bookTicks: number): Intent {
  return { take: true, holdTicks: 0, bookTicks, strikes: false }
}

export type Change =
  /**
   * Refunds a charge that was taken, but lets no more through than if the request had not happened. A store clears the
   * charge's receipt before the refund may take effect, so a failed refund may be retried only while the receipt
   * stands.
   */
  | { readonly type: 'refund'; readonly charge: Charge }
  /** Gives `cost` back, up to a full limit. */
  | { readonly type: 'credit'; readonly charge: Charge }
  /** Takes `cost` without asking the limit, until it is overdrawn by one whole limit. For rates, not for slots. */
  | { readonly type: 'penalize'; readonly charge: Charge }
  /** Sets what is counted to `used`, reservations included. For rates, not for slots. */
  | { readonly type: 'set'; readonly charge: Charge; readonly used: number }
  /** Gives back the slot of a concurrency charge. */
  | { readonly type: 'release'; readonly charge: Charge }
  /** Holds the slot of a concurrency charge for another ttl. */
  | { readonly type: 'renew'; readonly charge: Charge }
  /** Ends a reservation: charges `actual` in place of what was reserved. */
  | { readonly type: 'settle'; readonly charge: Charge; readonly actual: number }
  /** Cancels a booking that has not started. */
  | { readonly type: 'unbook'; readonly charge: Charge }
  /** Forgets the key: its state, blocks and reservations. */
  | { readonly type: 'reset'; readonly charge: Charge }
  /** Refuses the key for this many ticks from now. */
  | { readonly type: 'block'; readonly charge: Charge; readonly ticks: number }
  /** Ends a block, and forgets how many blocks the key has had. */
  | { readonly type: 'unblock'; readonly charge: Charge }

/** Asks an in-process store: the charges are decided when this returns. */
export function askInline(store: Store<'sync'>, charges: readonly Charge[], intent: Intent): void {
  store.ask(new InlineQuestion(charges, intent))
}

/** A question for a store that answers before `ask` returns. */
export class InlineQuestion implements Question {
  readonly charges: readonly Charge[]
  readonly intent: Intent

  constructor(charges: readonly Charge[], intent: Intent) {
    this.charges = charges
    this.intent = intent
  }

  done(): void {}
}
