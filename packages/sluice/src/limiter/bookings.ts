import { TICKS_PER_MS } from '../clock.ts'
import { type Charge, startOf, ticksGivenBack } from '../stores/charge.ts'
import { abortable } from './abortable.ts'
import type { Alarm, Appointment } from './alarm.ts'
import type { ChargedDecision } from './charged-decision.ts'

/** Someone whose place is booked and who waits for it to come up. */
interface Booked extends Appointment {
  readonly charge: Charge
  fail(reason: unknown): void
}

/**
 * Callers who wait for a bucket. Their place is booked at once, so nobody can overtake; one that gives up gives its
 * place back, and those booked after it move up by as much.
 */
export class Bookings {
  private readonly alarm: Alarm
  private readonly unbook: (charge: Charge) => void
  /** By key, in the order they were booked. */
  private readonly byKey = new Map<string, Booked[]>()

  constructor(alarm: Alarm, unbook: (charge: Charge) => void) {
    this.alarm = alarm
    this.unbook = unbook
  }

  /** Resolves when the booked charge may start. */
  wait(decision: ChargedDecision, charge: Charge, signal: AbortSignal | undefined): Promise<ChargedDecision> {
    return abortable(signal, ({ resolve, reject }) => {
      const key = `${charge.limit.space.path}${charge.key}`
      const booked = this.byKey.get(key) ?? []
      this.byKey.set(key, booked)
      const place: Booked = {
        at: startOf(charge) / TICKS_PER_MS,
        charge,
        fail: reject,
        ring: () => {
          this.remove(key, place)
          resolve(decision)
        },
      }
      booked.push(place)
      this.alarm.add(place)
      return { undo: () => this.giveBack(key, place) }
    })
  }

  close(reason: unknown): void {
    for (const [key, booked] of this.byKey) {
      for (const place of [...booked].reverse()) {
        this.giveBack(key, place)
        place.fail(reason)
      }
    }
  }

  private giveBack(key: string, place: Booked): void {
    const booked = this.byKey.get(key) ?? []
    const gainMs = ticksGivenBack(place.charge) / TICKS_PER_MS
    for (const later of booked.slice(booked.indexOf(place) + 1)) {
      // Those that were booked in this process while the store was away stand in another bucket.
      if (later.charge.limit.space !== place.charge.limit.space) continue
      this.alarm.remove(later)
      later.at -= gainMs
      this.alarm.add(later)
    }
    this.alarm.remove(place)
    this.remove(key, place)
    this.unbook(place.charge)
  }

  private remove(key: string, place: Booked): void {
    const left = (this.byKey.get(key) ?? []).filter(other => other !== place)
    if (left.length > 0) this.byKey.set(key, left)
    else this.byKey.delete(key)
  }
}
