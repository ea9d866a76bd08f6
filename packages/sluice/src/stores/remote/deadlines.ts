import { after, afterPoll, type Clock } from '../../clock.ts'
import { StoreUnavailable } from '../../errors.ts'

/** Something asked of a store. */
export interface WatchedCall {
  /** The turn it was asked in; undefined once it is settled. */
  turn: CallTurn | undefined
  /** The one asked after it in the same turn. */
  next: WatchedCall | undefined
  /** It was not answered in time, and nobody waits for it any longer. */
  late(sentIn: number, error: StoreUnavailable): void
}

/** All that was asked between two departures, mostly in one turn of the event loop: it has one deadline. */
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

  /** What is settled is not watched any longer, and with the last of them all are let go. */
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
 * Sees to it that whatever is asked is settled at the deadline, with one timer for all of it. Time counts from its
 * departure: what else ran until then is not the store's fault. And when the timer rings, what has arrived meanwhile is
 * read first: a stalled event loop is no late answer.
 */
export class Deadlines {
  private readonly clock: Clock
  private readonly deadlineMs: number
  private readonly atDeparture: (callback: () => void) => void
  private underWay: CallTurn | undefined
  /** Turns that have ended, oldest first: having the same deadline, they are due in that order. */
  private ended: CallTurn[] = []
  private cancelTimer: (() => void) | undefined
  private begun = 0
  /** The number of the last turn that has ended: all that was asked until then is on its way. */
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

  /** Stops the timer, unless somebody still depends on it. */
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
    // A timer that runs is for an older turn. It is let run when that is answered: stopping and starting it for every
    // answer would cost more than ringing in vain.
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
    // One for all of them: its stack costs more than a decision does.
    const error = new StoreUnavailable('SLUICE_STORE_TIMEOUT', `the store did not answer within ${this.deadlineMs} ms`)
    for (const turn of late) turn.expire(error)
  }
}
