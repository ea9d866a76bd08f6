import { after, type Clock } from '../clock.ts'

/** Something to do at a time. */
export interface Appointment {
  /** Epoch milliseconds. */
  at: number
  ring(): void
}

/** Times that went through a double may be off by less than half a tick. */
const HAIR_MS = 0.0005

/** Many appointments, one timer. */
export class Alarm {
  /** Soonest first; of equals, the one made first. */
  private readonly appointments: Appointment[] = []
  private readonly clock: Clock
  private cancelTimer: (() => void) | undefined
  private timerAt = Infinity

  constructor(clock: Clock) {
    this.clock = clock
  }

  add(appointment: Appointment): void {
    let low = 0
    let high = this.appointments.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.appointments[middle]!.at <= appointment.at) low = middle + 1
      else high = middle
    }
    this.appointments.splice(low, 0, appointment)
    this.arm()
  }

  remove(appointment: Appointment): void {
    const place = this.appointments.indexOf(appointment)
    if (place < 0) return
    this.appointments.splice(place, 1)
    this.arm()
  }

  clear(): void {
    this.appointments.length = 0
    this.arm()
  }

  private arm(): void {
    const at = this.appointments[0]?.at ?? Infinity
    if (at === this.timerAt) return
    this.cancelTimer?.()
    this.cancelTimer = undefined
    this.timerAt = at
    if (at < Infinity) this.cancelTimer = after(this.clock, at - this.clock.now(), () => this.ring())
  }

  private ring(): void {
    this.timerAt = Infinity
    this.cancelTimer = undefined
    // A timer may fire early by this clock: what is not due yet waits for the next.
    const now = this.clock.now() + HAIR_MS
    while (this.appointments.length > 0 && this.appointments[0]!.at <= now) this.appointments.shift()!.ring()
    this.arm()
  }
}
