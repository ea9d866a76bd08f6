import type { Clock } from '../clock.ts'
import { type ErrorCode, SluiceError, StoreUnavailable } from '../errors.ts'
import type { Breaker } from './breaker.ts'
import { type Asked, Deadlines, type Turn } from './deadlines.ts'
import type { RemoteStore } from './remote-store.ts'
import type { Charge, Intent } from './store.ts'

/** Faults of a key, not of its shard. */
const OF_THE_KEY: readonly ErrorCode[] = ['SLUICE_FOREIGN_VALUE', 'SLUICE_KEY_TOO_LONG']

/** What is asked of a store: each call is settled by its answer or at the deadline, and breakers hear how it went. */
export class Calls {
  /** Charges that were not decided in time. */
  timeouts = 0
  private readonly deadlines: Deadlines
  private readonly breakerOf: (charge: Charge) => Breaker

  constructor(clock: Clock, deadlineMs: number, breakerOf: (charge: Charge) => Breaker) {
    this.deadlines = new Deadlines(clock, deadlineMs)
    this.breakerOf = breakerOf
  }

  /** Asks a store, and calls back when the charges are decided; those that are not in time have a fault then. */
  decide(store: RemoteStore, charges: readonly Charge[], intent: Intent, done: () => void): void {
    const call = new Deciding(this, charges, done)
    this.deadlines.watch(call)
    store.ask(charges, intent, () => {
      if (call.turn !== undefined) this.answered(call, call.turn, undefined)
    })
  }

  /** The answer, or a rejection at the deadline. */
  inTime<T>(charges: readonly Charge[], answer: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => this.watch(new Call(this, charges, resolve, reject), answer))
  }

  close(): void {
    this.deadlines.close()
  }

  /** Charges that missed the deadline of what was sent in that turn. */
  missed(charges: readonly Charge[], sentIn: number, error: StoreUnavailable): void {
    for (const charge of charges) this.breakerOf(charge).missed(sentIn, error)
  }

  private watch<T>(call: Call<T>, answer: Promise<T>): void {
    this.deadlines.watch(call)
    answer.then(
      value => call.turn !== undefined && this.answered(call, call.turn, value),
      error => call.turn !== undefined && this.rejected(call, call.turn, error),
    )
  }

  private answered<T>(call: Call<T>, sentIn: Turn, value: T): void {
    sentIn.remove(call)
    for (const charge of call.charges) {
      const { fault } = charge
      if (charge.cached) continue // which says nothing about the shard
      if (fault === undefined) this.breakerOf(charge).answered(this.deadlines.sent)
      else this.faulted(charge, sentIn, fault)
    }
    call.resolve(value)
  }

  private rejected<T>(call: Call<T>, sentIn: Turn, error: unknown): void {
    sentIn.remove(call)
    const fault = faultOf(error)
    if (fault === undefined) {
      call.reject(error)
      return
    }
    for (const charge of call.charges) this.faulted(charge, sentIn, fault)
    call.fail(fault)
  }

  private faulted(charge: Charge, sentIn: Turn, fault: StoreUnavailable): void {
    if (!OF_THE_KEY.includes(fault.code)) this.breakerOf(charge).failed(sentIn.number, fault)
  }
}

/** A call that is rejected when it fails. */
class Call<T> implements Asked {
  turn: Turn | undefined
  next: Asked | undefined
  protected readonly calls: Calls
  readonly charges: readonly Charge[]
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void

  constructor(calls: Calls, charges: readonly Charge[], resolve: (value: T) => void, reject: (error: unknown) => void) {
    this.turn = undefined
    this.next = undefined
    this.calls = calls
    this.charges = charges
    this.resolve = resolve
    this.reject = reject
  }

  late(sentIn: number, error: StoreUnavailable): void {
    this.calls.missed(this.charges, sentIn, error)
    this.fail(error)
  }

  fail(error: StoreUnavailable): void {
    this.reject(error)
  }
}

/** A call for decisions: when it fails, the charges say so. What is decided by then stays decided. */
class Deciding extends Call<void> {
  constructor(calls: Calls, charges: readonly Charge[], done: () => void) {
    super(calls, charges, done, done)
  }

  override late(sentIn: number, error: StoreUnavailable): void {
    const undecided = this.charges.filter(isUndecided)
    this.calls.timeouts += undecided.length
    this.calls.missed(undecided, sentIn, error)
    this.fail(error)
  }

  override fail(error: StoreUnavailable): void {
    for (const charge of this.charges) if (isUndecided(charge)) charge.fault = error
    this.resolve()
  }
}

/** What a rejection says about the store; undefined where it is about the caller. */
function faultOf(error: unknown): StoreUnavailable | undefined {
  if (error instanceof SluiceError) return undefined
  if (error instanceof StoreUnavailable) return error
  return new StoreUnavailable('SLUICE_STORE_FAILED', 'the store failed, for the cause given', error)
}

function isUndecided(charge: Charge): boolean {
  return charge.at === undefined && charge.fault === undefined
}
