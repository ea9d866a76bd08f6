import type { Rule } from '../algorithms/rule.ts'
import type { Verdict } from '../algorithms/verdict.ts'
import type { Clock } from '../clock.ts'

/**
 * A store keeps the state of limits and decides on it.
 *
 * - `decide` is atomic over all charges of a call: every enforced charge is taken or none is. A refused call changes
 *   nothing, except that a refusal may start a block.
 * - Now is the store's own clock, read once a call, and never runs backwards.
 * - Verdicts are written into the charges; the call returns (or resolves to) now, in ticks.
 * - A limit stands at most once among the charges of a call.
 * - Keys are data: never altered, never compared but for equality.
 */
export interface Store<M extends Mode = Mode> {
  /** `'sync'`: every answer is there when the call returns. `'async'`: every answer is a promise. */
  readonly mode: M
  /** The clock waits are timed by. */
  readonly clock: Clock
  /** Where the state of one limit lives: the same path, the same state. */
  space(path: string): Space
  decide(charges: readonly Charge[], intent: Intent): Answer<M, number>
  /** Changes that no limit can refuse. Answers what each came to: the cost given back or charged, 1 for a slot released. */
  amend(changes: readonly Change[]): Answer<M, number[]>
  /** The ticks still in the window of a sliding log, oldest first. */
  history(space: Space, rule: Rule, key: string): Answer<M, number[]>
  close(): Answer<M, void>
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
}

export const LOOK: Intent = { take: false, holdTicks: 0, bookTicks: -1 }
export const TAKE: Intent = { take: true, holdTicks: 0, bookTicks: -1 }

/** `Charge.role` of a charge that must pass. */
export const ENFORCED = -2
/** `Charge.role` of a shadow beside the others. In place of one of them, the role is that one's index in the call. */
export const BESIDE = -1

/** What one request asks of one limit. It goes down with the question and comes back with the verdict. */
export class Charge implements Verdict {
  readonly limit: Limit
  readonly rule: Rule
  readonly key: string
  readonly cost: number
  /** A shadow is decided as if it were enforced, and nothing depends on it. */
  role: number

  allowed: boolean
  remaining: number
  resetAt: number
  retryAt: number
  /** Refused by a block rather than by the limit. */
  blocked: boolean
  taken: boolean
  /** The slot, reservation or booking that was taken, if it was one; the store that made it knows what it is. */
  hold: unknown

  constructor(limit: Limit, rule: Rule, key: string, cost: number, role: number) {
    this.limit = limit
    this.rule = rule
    this.key = key
    this.cost = cost
    this.role = role
    this.allowed = false
    this.remaining = 0
    this.resetAt = 0
    this.retryAt = 0
    this.blocked = false
    this.taken = false
    this.hold = undefined
  }
}

export type Change =
  /** Take back a charge that was taken at tick `at`. */
  | { readonly type: 'refund'; readonly charge: Charge; readonly at: number }
  /** Give `cost` back, clamped at full. */
  | { readonly type: 'credit'; readonly charge: Charge }
  /** Give the slot of a concurrency charge back. */
  | { readonly type: 'release'; readonly charge: Charge }
  /** End a reservation: `actual` is charged in place of what was reserved. */
  | { readonly type: 'settle'; readonly charge: Charge; readonly actual: number }
  /** Take back a booking that has not started. */
  | { readonly type: 'unbook'; readonly charge: Charge }
  /** Forget the key: state, blocks and reservations. */
  | { readonly type: 'reset'; readonly charge: Charge }
  /** Refuse the key for so many ticks from now. */
  | { readonly type: 'block'; readonly charge: Charge; readonly ticks: number }
