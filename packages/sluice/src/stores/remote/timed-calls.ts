import { type ErrorCode, SluiceError, StoreUnavailable } from '../../errors.ts'
import { type Charge, isDecided } from '../charge.ts'
import type { Intent, Question, Store } from '../store.ts'
import type { Breaker } from './breaker.ts'
import type { CallTurn, Deadlines, WatchedCall } from './deadlines.ts'

/** Faults of one key. They say nothing about its shard. */
const OF_THE_KEY: readonly ErrorCode[] = ['SLUICE_FOREIGN_VALUE', 'SLUICE_KEY_TOO_LONG']

/**
 * Calls to a store. Each is settled by its answer or at the deadline, and the breaker of its shard is told the outcome.
 */
export class TimedCalls {
  /** Charges that were not decided in time. */
  timeouts = 0
  private readonly deadlines: Deadlines
  private readonly breakerOf: (charge: Charge) => Breaker

  constructor(deadlines: Deadlines, breakerOf: (charge: Charge) => Breaker) {
    this.deadlines = deadlines
    this.breakerOf = breakerOf
  }

  /** Asks a store. The question is done when each charge is decided or, at the deadline, has a fault. */
  decide(store: Store<'async'>, question: Question): void {
    const call = new TimedDecision(this, question)
    this.deadlines.watch(call)
    store.ask(call)
  }

  /** The answer, or a rejection at the deadline. */
  inTime<T>(charges: readonly Charge[], answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const call = new TimedCall(this, charges, reject)
      this.deadlines.watch(call)
      answer.then(
        value => {
          if (call.turn === undefined) return
          this.answered(call, call.turn)
          resolve(value)
        },
        error => call.turn !== undefined && this.rejected(call, call.turn, error),
      )
    })
  }

  close(): void {
    this.deadlines.close()
  }

  /** Charges sent in that turn that missed their deadline. */
  missed(charges: readonly Charge[], sentIn: number, error: StoreUnavailable): void {
    for (const charge of charges) this.breakerOf(charge).missed(sentIn, error)
  }

  answered(call: TimedCharges, sentIn: CallTurn): void {
    sentIn.remove(call)
    for (const charge of call.charges) {
      const { fault } = charge
      if (charge.cached) continue // which says nothing about the shard
      if (fault === undefined) this.breakerOf(charge).answered(this.deadlines.sent)
      else this.faulted(charge, sentIn, fault)
    }
  }

  private rejected(call: TimedCall, sentIn: CallTurn, error: unknown): void {
    sentIn.remove(call)
    const fault = faultOf(error)
    if (fault !== undefined) for (const charge of call.charges) this.faulted(charge, sentIn, fault)
    call.reject(fault ?? error)
  }

  private faulted(charge: Charge, sentIn: CallTurn, fault: StoreUnavailable): void {
    if (!OF_THE_KEY.includes(fault.code)) this.breakerOf(charge).failed(sentIn.number, fault)
  }
}

/** A call about some charges. */
interface TimedCharges extends WatchedCall {
  readonly charges: readonly Charge[]
}

/** A call that is rejected when it fails. */
class TimedCall implements TimedCharges {
  turn: CallTurn | undefined
  next: WatchedCall | undefined
  readonly charges: readonly Charge[]
  readonly reject: (error: unknown) => void
  private readonly calls: TimedCalls

  constructor(calls: TimedCalls, charges: readonly Charge[], reject: (error: unknown) => void) {
    this.turn = undefined
    this.next = undefined
    this.calls = calls
    this.charges = charges
    this.reject = reject
  }

  late(sentIn: number, error: StoreUnavailable): void {
    this.calls.missed(this.charges, sentIn, error)
    this.reject(error)
  }
}

/** A call for decisions. When it is late, its undecided charges get a fault; decided ones stay decided. */
class TimedDecision implements TimedCharges, Question {
  turn: CallTurn | undefined
  next: WatchedCall | undefined
  readonly charges: readonly Charge[]
  readonly intent: Intent
  private readonly calls: TimedCalls
  private readonly question: Question

  constructor(calls: TimedCalls, question: Question) {
    this.turn = undefined
    this.next = undefined
    this.charges = question.charges
    this.intent = question.intent
    this.calls = calls
    this.question = question
  }

  done(): void {
    if (this.turn === undefined) return
    this.calls.answered(this, this.turn)
    this.question.done()
  }

  late(sentIn: number, error: StoreUnavailable): void {
    const undecided = this.charges.filter(isUndecided)
    this.calls.timeouts += undecided.length
    this.calls.missed(undecided, sentIn, error)
    for (const charge of this.charges) if (isUndecided(charge)) charge.fault = error
    this.question.done()
  }
}

/** The fault of the store behind a rejection; undefined if the caller is at fault. */
function faultOf(error: unknown): StoreUnavailable | undefined {
  if (error instanceof SluiceError) return undefined
  if (error instanceof StoreUnavailable) return error
  return new StoreUnavailable('SLUICE_STORE_FAILED', 'the store failed, for the cause given', error)
}

function isUndecided(charge: Charge): boolean {
  return !isDecided(charge) && charge.fault === undefined
}
