import type { Clock } from '../clock.ts'
import type { Charge } from './charge.ts'
import type { KeyInspection } from './inspection.ts'
import type { Space } from './limit.ts'

/**
 * A store keeps the state of limits and decides on it.
 *
 * - `ask` is atomic over the charges of a question: every enforced charge is taken or none is (`isTaken` says which). A
 *   refused question changes nothing, except that a refusal may start a block.
 * - Now is the store's own clock, read once a question, and never runs backwards.
 * - The answer is written into the charges: a snapshot of a few numbers each, with the tick it was made at. Then
 *   `question.done()` is called, once: before `ask` returns where the mode is `'sync'`, later where it is `'async'`.
 * - A limit stands at most once among the charges of a question.
 * - A store that cannot decide a charge says so in the charge, by its `fault`, and takes nothing; it never throws for
 *   that. A fault set from outside (whoever asked has stopped waiting) is an answer too: the charge is left alone.
 * - Keys are data: never altered, never compared but for equality.
 *
 * `storeSuite` of `sluice/testing` checks all of this.
 */
export interface Store<M extends Mode = Mode> {
  /** `'sync'`: every answer is there when the call returns. `'async'`: every answer comes later. */
  readonly mode: M
  /** The clock waits are timed by. */
  readonly clock: Clock
  /** Where the state of one limit lives: the same path, the same state. */
  bind(path: string): Space
  ask(question: Question): void
  /** Changes that no limit can refuse. Of a settlement it answers what was charged, of a release or renewal 1 if the slot
   * was still held, of a penalty what was charged, of a block 0 where there was no room for it; of the others nothing of
   * meaning. */
  amend(changes: readonly Change[]): Answer<M, number[]>
  /** The state of a charge's key as data; its cost and role do not matter. */
  inspect(charge: Charge): Answer<M, KeyInspection>
  close(): Answer<M, void>
}

/** One decision on its way through the layers of a store. */
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
  /**
   * Take back a charge that was taken, by law 12. A store clears the charge's receipt before the refund may take effect: a
   * refund that failed may be tried again while the receipt stands.
   */
  | { readonly type: 'refund'; readonly charge: Charge }
  /** Give `cost` back, clamped at full. */
  | { readonly type: 'credit'; readonly charge: Charge }
  /** Take `cost` without asking the limit, until one whole limit is overdrawn. Of a rate, not of slots. */
  | { readonly type: 'penalize'; readonly charge: Charge }
  /** Count so much, in place of what is counted; what is reserved is part of it. Of a rate, not of slots. */
  | { readonly type: 'set'; readonly charge: Charge; readonly used: number }
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
  /** End a block, and forget how many there have been. */
  | { readonly type: 'unblock'; readonly charge: Charge }

/** A question to an in-process store: the charges are decided when it returns. */
export function askInline(store: Store<'sync'>, charges: readonly Charge[], intent: Intent): void {
  store.ask(new InlineQuestion(charges, intent))
}

/** A question whose answer is there when `ask` returns. */
export class InlineQuestion implements Question {
  readonly charges: readonly Charge[]
  readonly intent: Intent

  constructor(charges: readonly Charge[], intent: Intent) {
    this.charges = charges
    this.intent = intent
  }

  done(): void {}
}
