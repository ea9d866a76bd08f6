import { after, afterPoll, type Clock } from '../../clock.ts'
import { StoreUnavailable } from '../../errors.ts'

/** A call to a store. */
export interface WatchedCall {
  /** The turn it was asked in; undefined once it is settled. */
  turn: CallTurn | undefined
  /** The next call of the same turn. */
  next: WatchedCall | undefined
  /** The deadline has passed without an answer: its caller waits no longer. */
  late(sentIn: number, error: StoreUnavailable): void
}

/** All calls between two departures, mostly of one turn of the event loop. They share one deadline. */
export class CallTurn {
  /** Turns are numbered in the order they began. */
  readonly number: number
  /** Epoch milliseconds. */
  dueAt = Infinity
  unanswered = 0
  first: WatchedCall | undefined
  last: WatchedCall | undefined

  constructor(number: number) {
    this.number = number
  }

  add(asked: WatchedCall): void {
    asked.turn = this
    if (this.last === undefined) this.first = asked
    else this.last.next = asked
    this.last = asked
    this.unanswered++
  }

  /** Stops watching a settled call. After the last one the turn lets go of all of them. */
  remove(asked: WatchedCall): void {
    asked.turn = undefined
    if (--this.unanswered > 0) return
    this.first = undefined
    this.last = undefined
  }

  expire(error: StoreUnavailable): void {
    for (let asked = this.first; asked !== undefined; asked = asked.next) {
      if (asked.turn === undefined) continue
      this.remove(asked)
      asked.late(this.number, error)
    }
  }
}

/** Times that went through a double may be off by less than half a tick. */
const HAIR_MS = 0.0005

/**
 * Settles every call by its deadline, with one timer for all calls. The time counts from the departure of a call, since
 * the store is not to blame for what ran before. When the timer rings, answers that have arrived are read first, since a
 * stalled event loop does not make an answer late.
 */
export class Deadlines {
  private readonly clock: Clock
  private readonly deadlineMs: number
  private readonly atDeparture: (callback: () => void) => void
  private underWay: CallTurn | undefined
  /** Turns that have ended, oldest first. All have the same time to answer, so they are due in that order. */
  private ended: CallTurn[] = []
  private cancelTimer: (() => void) | undefined
  private begun = 0
  /** The number of the last turn that has ended. All its calls and those before it have been sent. */
  sent = 0

  constructor(clock: Clock, deadlineMs: number, atDeparture: (callback: () => void) => void) {
    this.clock = clock
    this.deadlineMs = deadlineMs
    this.atDeparture = atDeparture
  }

  watch(asked: WatchedCall): void {
    const turn = this.underWay ?? this.begin()
    turn.add(asked)
  }

  /** Stops the timer, unless a call still depends on it. */
  close(): void {
    if (this.ended.some(turn => turn.unanswered > 0)) return
    this.cancelTimer?.()
    this.cancelTimer = undefined
  }

  private begin(): CallTurn {
    const turn = new CallTurn(++this.begun)
    this.underWay = turn
    this.atDeparture(() => this.end(turn))
    return turn
  }

  private end(turn: CallTurn): void {
    this.underWay = undefined
    this.sent = turn.number
    if (turn.unanswered === 0) return
    turn.dueAt = this.clock.now() + this.deadlineMs
    this.ended.push(turn)
    // A running timer belongs to an older turn. It runs on when that turn is answered: a restart for every answer would
    // cost more than a timer that rings in vain.
    if (this.cancelTimer === undefined) this.arm(this.deadlineMs)
  }

  private arm(ms: number): void {
    this.cancelTimer = after(this.clock, ms, () => this.ring())
  }

  private ring(): void {
    this.cancelTimer = undefined
    const now = this.clock.now() + HAIR_MS
    const waiting = this.ended.filter(turn => turn.unanswered > 0)
    const due = waiting.filter(turn => turn.dueAt <= now)
    this.ended = waiting.slice(due.length)
    if (due.length > 0) afterPoll(() => this.expire(due))
    if (this.ended.length > 0) this.arm(this.ended[0]!.dueAt - now)
  }

  private expire(turns: readonly CallTurn[]): void {
    const late = turns.filter(turn => turn.unanswered > 0)
    if (late.length === 0) return
    // One error for all calls: its stack trace costs more than a decision.
    const error = new StoreUnavailable('SLUICE_STORE_TIMEOUT', `the store did not answer within ${this.deadlineMs} ms`)
    for (const turn of late) turn.expire(error)
  }
}
