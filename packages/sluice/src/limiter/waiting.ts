import type { BucketRule } from '../algorithms/bucket.ts'
import { TICKS_PER_MS } from '../clock.ts'
import { SluiceError } from '../errors.ts'
import type { Charge, Store } from '../stores/store.ts'
import { Alarm, type Appointment } from './alarm.ts'
import type { ChargedDecision } from './charged-decision.ts'

/** One caller of `wait`. */
interface Waiter extends Appointment {
  readonly settle: (decision: ChargedDecision) => void
  readonly fail: (reason: unknown) => void
}

/** A caller whose bucket has booked its place. */
interface Booked extends Waiter {
  readonly charge: Charge
  readonly decision: ChargedDecision
}

/** A caller waiting in line for a limit that cannot be booked. */
interface Queued extends Waiter {
  readonly deadline: number
  readonly attempt: () => Attempt
  /** What passed while its caller was going away. */
  readonly giveBack: (decision: ChargedDecision) => void
  /** An attempt is under way: a second one would take twice. */
  asking: boolean
}

type Attempt = ChargedDecision | Promise<ChargedDecision>

/**
 * Those who wait. A bucket books a place at once, so that nobody can overtake; windows cannot be booked, so their
 * callers stand in line, first come first served within this process, and the first one asks again when its time comes.
 */
export class Waiting {
  private readonly alarm: Alarm
  private readonly store: Store
  private readonly booked = new Map<string, Booked[]>()
  private readonly lines = new Map<string, Queued[]>()

  constructor(store: Store) {
    this.store = store
    this.alarm = new Alarm(store.clock)
  }

  /** Waits for the start of a booking that was made. */
  forBooking(
    line: string,
    decision: ChargedDecision,
    charge: Charge,
    signal: AbortSignal | undefined,
  ): Promise<ChargedDecision> {
    if (charge.retryAt <= decision.atTicks) return Promise.resolve(decision)
    return this.promise(signal, (settle, fail) => {
      const waiters = this.booked.get(line) ?? []
      this.booked.set(line, waiters)
      const waiter: Booked = {
        at: charge.retryAt / TICKS_PER_MS,
        charge,
        decision,
        settle,
        fail,
        ring: () => {
          this.leave(this.booked, line, waiter)
          settle(decision)
        },
      }
      waiters.push(waiter)
      this.alarm.add(waiter)
      return () => this.unbook(line, waiter)
    })
  }

  /** Stands in line until an attempt passes, or the wait would be longer than `maxWaitMs`. */
  inLine(
    line: string,
    maxWaitMs: number,
    signal: AbortSignal | undefined,
    attempt: Queued['attempt'],
    giveBack: Queued['giveBack'],
  ): Promise<ChargedDecision> {
    return this.promise(signal, (settle, fail) => {
      const queue = this.lines.get(line) ?? []
      this.lines.set(line, queue)
      const deadline = this.store.clock.now() + maxWaitMs
      const ring = () => void this.try(line, waiter)
      const waiter: Queued = { at: deadline, deadline, attempt, giveBack, asking: false, settle, fail, ring }
      queue.push(waiter)
      if (queue.length === 1) void this.try(line, waiter)
      else if (deadline < Infinity) this.alarm.add(waiter)
      return () => this.step(line, waiter)
    })
  }

  /** Something was given back: whoever is first in a line may pass now. */
  poke(): void {
    for (const [line, queue] of this.lines) {
      const first = queue[0]!
      this.alarm.remove(first)
      void this.try(line, first)
    }
  }

  close(): void {
    this.alarm.clear()
    const reason = new SluiceError('SLUICE_CLOSED', 'the limiter was closed while a request waited')
    for (const waiters of [...this.booked.values(), ...this.lines.values()])
      for (const waiter of waiters) waiter.fail(reason)
    this.booked.clear()
    this.lines.clear()
  }

  /** An aborted wait rejects with the signal's reason and undoes what `begin` did. */
  private promise(
    signal: AbortSignal | undefined,
    begin: (settle: (decision: ChargedDecision) => void, fail: (reason: unknown) => void) => () => void,
  ): Promise<ChargedDecision> {
    return new Promise((resolve, reject) => {
      const finish = () => signal?.removeEventListener('abort', abort)
      const settle = (decision: ChargedDecision) => {
        finish()
        resolve(decision)
      }
      const fail = (reason: unknown) => {
        finish()
        reject(reason)
      }
      const undo = begin(settle, fail)
      const abort = () => {
        undo()
        fail(signal!.reason)
      }
      signal?.addEventListener('abort', abort)
    })
  }

  /** Gives a place back and lets the ones booked after it move up by as much. */
  private unbook(line: string, waiter: Booked): void {
    const waiters = this.booked.get(line)
    const place = waiters?.indexOf(waiter) ?? -1
    if (waiters === undefined || place < 0) return
    this.alarm.remove(waiter)
    const { perRequest, perTick } = waiter.charge.rule as BucketRule
    const gainMs = Math.floor((waiter.charge.cost * perRequest) / perTick) / TICKS_PER_MS
    for (const later of waiters.slice(place + 1)) {
      this.alarm.remove(later)
      later.at -= gainMs
      this.alarm.add(later)
    }
    this.leave(this.booked, line, waiter)
    void this.store.amend([{ type: 'unbook', charge: waiter.charge }])
  }

  /** Asks again for one waiter: for the first in line when its time has come, for the others when theirs is up. */
  private async try(line: string, waiter: Queued): Promise<void> {
    if (waiter.asking) return
    waiter.asking = true
    const decision = await waiter.attempt()
    waiter.asking = false
    const queue = this.lines.get(line)
    if (queue === undefined || !queue.includes(waiter)) {
      if (decision.allowed) waiter.giveBack(decision)
      return
    }
    const retryAt = decision.at + decision.retryAfterMs
    if (!decision.allowed && queue[0] === waiter && retryAt <= waiter.deadline) {
      waiter.at = retryAt
      this.alarm.add(waiter)
      return
    }
    waiter.settle(decision)
    this.step(line, waiter)
  }

  /** Leaves the line; the next one becomes first. */
  private step(line: string, waiter: Queued): void {
    const wasFirst = this.lines.get(line)?.[0] === waiter
    this.alarm.remove(waiter)
    this.leave(this.lines, line, waiter)
    const next = this.lines.get(line)?.[0]
    if (!wasFirst || next === undefined) return
    this.alarm.remove(next)
    void this.try(line, next)
  }

  private leave<W extends Waiter>(lines: Map<string, W[]>, line: string, waiter: W): void {
    const waiters = lines.get(line)
    const place = waiters?.indexOf(waiter) ?? -1
    if (waiters === undefined || place < 0) return
    waiters.splice(place, 1)
    if (waiters.length === 0) lines.delete(line)
  }
}
