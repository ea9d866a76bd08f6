import { afterUnref, systemClock, TICKS_PER_MS } from '../../clock.ts'
import type { Charge } from '../charge.ts'
import type { Question } from '../store.ts'
import { holdOf } from './wire/hold.ts'

/** A slot to renew, as long as its decision is in use. */
interface RenewedSlot {
  readonly charge: WeakRef<Charge>
  readonly everyMs: number
  dueAt: number
}

const BEATS_PER_TTL = 3

/**
 * Renews the slots of long work three times per ttl, while the decision is in use and not released. A process that dies
 * stops renewing; a decision that has been garbage-collected is no longer renewed.
 */
export class Heartbeat {
  private readonly renew: (charge: Charge) => Promise<unknown>
  private readonly held = new Map<number, RenewedSlot>()
  private ringsAt = Infinity
  private cancelTimer: (() => void) | undefined

  constructor(renew: (charge: Charge) => Promise<unknown>) {
    this.renew = renew
    this.cancelTimer = undefined
  }

  /** The same question; its slots are renewed from the time it is decided. */
  watching(question: Question): Question {
    const { charges, intent } = question
    const done = () => {
      this.watch(charges)
      question.done()
    }
    return { charges, intent, done }
  }

  private watch(charges: readonly Charge[]): void {
    for (const charge of charges) {
      const { rule } = charge
      if (rule.kind !== 'slots' || !charge.taken) continue
      const everyMs = rule.ttlTicks / TICKS_PER_MS / BEATS_PER_TTL
      const held = { charge: new WeakRef(charge), everyMs, dueAt: systemClock.now() + everyMs }
      this.held.set(holdOf(charge)!.id, held)
      this.ringBy(held.dueAt)
    }
  }

  stop(): void {
    this.cancelTimer?.()
    this.held.clear()
  }

  private ringBy(dueAt: number): void {
    if (dueAt >= this.ringsAt) return
    this.cancelTimer?.()
    this.ringsAt = dueAt
    this.cancelTimer = afterUnref(systemClock, dueAt - systemClock.now(), () => {
      this.ringsAt = Infinity
      this.beat()
    })
  }

  private beat(): void {
    const now = systemClock.now()
    for (const [id, held] of this.held) {
      const charge = held.charge.deref()
      if (charge === undefined || holdOf(charge)?.ended !== undefined) {
        this.held.delete(id)
        continue
      }
      if (held.dueAt <= now) {
        held.dueAt = now + held.everyMs
        // A failed renewal is tried again at the next beat. A slot that has expired by then is lost.
        this.renew(charge).catch(() => undefined)
      }
      this.ringBy(held.dueAt)
    }
  }
}
