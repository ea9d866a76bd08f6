import type { Charge } from '../stores/charge.ts'
import { abortable, type Settle } from './abortable.ts'
import type { Alarm, Appointment } from './alarm.ts'
import type { ChargedDecision } from './charged-decision.ts'
import { andThen, type Maybe } from './maybe.ts'

/** How one caller asks. */
export interface Asking {
  /** Takes, if it passes. */
  attempt(): Maybe<ChargedDecision>
  /** Only looks: the answer for one who must not wait any longer. */
  look(): Maybe<ChargedDecision>
  /** For what passed while its caller was going away. */
  giveBack(decision: ChargedDecision): void
}

interface Waiter extends Appointment, Settle<ChargedDecision> {
  readonly asking: Asking
  /** Epoch milliseconds. */
  readonly deadline: number
  /** An attempt is under way: a second one would take twice. */
  busy: boolean
  /** Something was given back meanwhile: ask again at once. */
  again: boolean
}

interface Line {
  readonly id: string
  /** The keys it waits for. */
  readonly places: readonly string[]
  queue: Waiter[]
}

/**
 * Callers who wait for what cannot be booked: windows, slots, several limits at once. They stand in line, first come
 * first served within this process; the first one asks again when its time has come or something was given back.
 */
export class Lines {
  private readonly alarm: Alarm
  private readonly lines = new Map<string, Line>()
  private readonly byPlace = new Map<string, Set<Line>>()

  constructor(alarm: Alarm) {
    this.alarm = alarm
  }

  /** Waits until an attempt passes; refused as soon as that would be after `deadline`. */
  join(
    charges: readonly Charge[],
    deadline: number,
    signal: AbortSignal | undefined,
    asking: Asking,
  ): Promise<ChargedDecision> {
    return abortable(signal, settle => {
      const line = this.lineOf(charges)
      const ring = () => (line.queue[0] === waiter ? this.advance(line) : this.refuse(line, waiter))
      const waiter: Waiter = { ...settle, asking, deadline, at: deadline, busy: false, again: false, ring }
      const first = line.queue[0]
      line.queue.push(waiter)
      if (first === undefined) this.advance(line)
      else if (!first.busy && first.at > deadline) this.refuse(line, waiter)
      else if (deadline < Infinity) this.alarm.add(waiter)
      return { undo: () => this.leave(line, waiter) }
    })
  }

  /** Something was given back to these keys: whoever waits first for one of them may pass now. */
  poke(charges: readonly Charge[]): void {
    if (this.lines.size === 0) return
    const lines = new Set(charges.flatMap(charge => [...(this.byPlace.get(placeOf(charge)) ?? [])]))
    for (const line of lines) this.advance(line)
  }

  close(reason: unknown): void {
    for (const line of [...this.lines.values()]) {
      for (const waiter of line.queue) {
        this.alarm.remove(waiter)
        waiter.reject(reason)
      }
      line.queue = []
      this.forget(line)
    }
  }

  /** Lets the first ask, and the next as long as they pass. */
  private advance(line: Line): void {
    for (let first = line.queue[0]; first !== undefined; first = line.queue[0]) {
      if (first.busy) {
        first.again = true
        return
      }
      const waiter = first
      this.alarm.remove(waiter)
      waiter.busy = true
      let asked: Maybe<ChargedDecision>
      try {
        asked = waiter.asking.attempt()
      } catch (error) {
        asked = Promise.reject(error)
      }
      if (asked instanceof Promise) {
        asked.then(
          decision => this.answered(line, waiter, decision) && this.advance(line),
          error => {
            this.leave(line, waiter)
            waiter.reject(error)
          },
        )
        return
      }
      if (!this.answered(line, waiter, asked)) return
    }
    this.forget(line)
  }

  /** True if the line can go on. */
  private answered(line: Line, waiter: Waiter, decision: ChargedDecision): boolean {
    const { again } = waiter
    waiter.busy = false
    waiter.again = false
    if (!line.queue.includes(waiter)) {
      if (decision.allowed) waiter.asking.giveBack(decision)
      return true
    }
    if (!decision.allowed && again) return true
    const retryAt = decision.at + decision.retryAfterMs
    if (!decision.allowed && retryAt < Infinity && retryAt <= waiter.deadline) {
      waiter.at = retryAt
      this.alarm.add(waiter)
      return false
    }
    line.queue.shift()
    waiter.resolve(decision)
    return true
  }

  /** One whose time is up before its turn. It may not overtake, even if its cost alone would pass. */
  private refuse(line: Line, waiter: Waiter): void {
    const turn = line.queue[0]!.at
    this.leave(line, waiter)
    andThen(waiter.asking.look(), decision => waiter.resolve(decision.refusedUntil(turn)))
  }

  private leave(line: Line, waiter: Waiter): void {
    const wasFirst = line.queue[0] === waiter
    this.alarm.remove(waiter)
    line.queue = line.queue.filter(other => other !== waiter)
    if (wasFirst) this.advance(line)
  }

  private lineOf(charges: readonly Charge[]): Line {
    const places = charges.map(placeOf)
    const id = places.map(place => `${place.length}:${place}`).join('')
    const known = this.lines.get(id)
    if (known !== undefined) return known
    const line: Line = { id, places, queue: [] }
    this.lines.set(id, line)
    for (const place of places) this.byPlace.set(place, (this.byPlace.get(place) ?? new Set()).add(line))
    return line
  }

  private forget(line: Line): void {
    if (line.queue.length > 0 || this.lines.get(line.id) !== line) return
    this.lines.delete(line.id)
    for (const place of line.places) {
      const lines = this.byPlace.get(place)
      lines?.delete(line)
      if (lines?.size === 0) this.byPlace.delete(place)
    }
  }
}

function placeOf(charge: Charge): string {
  return `${charge.limit.space.path}${charge.key}`
}
