import type { Charge } from './charge.ts'

/**
 * A store's faster way in, for requests of cost 1 to limits that are enforced under one rule each. It leaves what came of
 * a request in fields, until the next one: whoever asks then makes one object of them, whole, where a number returned
 * might have to be boxed and an object filled in piece by piece would be written twice.
 *
 * `K` is the key, or the keys, of a request, and `U` what is counted then: a number for each limit, or as many as its kind
 * is told by.
 */
export interface Lane<K, U> extends Passage<U> {
  take(key: K): void
  /** The charges that a request stands for, once somebody reads them. */
  chargesOf(key: K, passage: Passage<U>): readonly Charge[]
  /** How many further requests a limit has room for, by its index, where there are no charges. */
  remainingOf(index: number, passage: Passage<U>): number
  /** The tick at which nothing of it is counted any more. */
  resetAtOf(index: number, passage: Passage<U>): number
}

/** What came of one request. */
export interface Passage<U> {
  /** More than 0 if it was taken. */
  readonly receipt: number
  /** The tick of the decision. */
  readonly tick: number
  readonly used: U
  /** The charges themselves, where they had to be made: nothing else but the receipt means anything then. */
  readonly charges: readonly Charge[] | undefined
}

/** The lane of one limit. */
export type LoneLane = Lane<string, number>

/** A key for each of several limits, or the one that all of them have. */
export type Keys = string | readonly string[]

/** The lane of several limits. How it counts is its own matter. */
export interface SharedLane extends Lane<Keys, unknown> {
  /** What is counted, to be kept: `used` itself is written over by the next request. */
  copyOfUsed(): unknown
}
