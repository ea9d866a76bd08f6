import { after, type Clock, TICKS_PER_MS, toTicks } from '../../clock.ts'

/** Something to do at a time. */
export interface Timer {
  /** The tick it is due at. Only its queue changes it while it is in there. */
  at: number
  /** Of timers due at the same tick, the one with the lower order rings first. */
  readonly order: number
  /** Where its queue keeps it; -1 while it is in none. */
  place: number
  ring(): void
}

/** Many timers on one timer of the machine: a binary heap, in which each timer knows its place, so that it can leave. */
export class TimerQueue {
  private readonly heap: Timer[] = []
  private readonly clock: Clock
  private cancel: (() => void) | undefined
  /** The tick the machine's timer fires at. It may fire too early, never too late. */
  private firesAt = Infinity
  private isRinging = false

  constructor(clock: Clock) {
    this.clock = clock
  }

  add(timer: Timer, at: number): void {
    timer.at = at
    this.put(timer, this.heap.length)
    this.rise(timer)
    this.arm()
  }

  remove(timer: Timer): void {
    if (timer.place < 0) return
    const last = this.heap.pop()!
    if (last !== timer) {
      this.put(last, timer.place)
      this.rise(last)
      this.sink(last)
    }
    timer.place = -1
    this.arm()
  }

  /**
   * Where the soonest is due later than before, the machine's timer stays: it fires for nothing, once, and is set anew.
   * To set it at every removal would cost more than the removals.
   */
  private arm(): void {
    if (this.isRinging) return
    const at = this.heap[0]?.at ?? Infinity
    if (at < Infinity && at >= this.firesAt) return
    this.cancel?.()
    this.cancel = undefined
    this.firesAt = at
    if (at === Infinity) return
    this.cancel = after(this.clock, at / TICKS_PER_MS - this.clock.now(), () => this.ring())
  }

  private ring(): void {
    this.cancel = undefined
    this.firesAt = Infinity
    const now = toTicks(this.clock.now())
    this.isRinging = true
    for (let soonest = this.heap[0]; soonest !== undefined && soonest.at <= now; soonest = this.heap[0]) {
      this.remove(soonest)
      soonest.ring()
    }
    this.isRinging = false
    this.arm()
  }

  private rise(timer: Timer): void {
    while (timer.place > 0) {
      const parent = this.heap[(timer.place - 1) >> 1]!
      if (!isBefore(timer, parent)) return
      this.swap(timer, parent)
    }
  }

  private sink(timer: Timer): void {
    for (;;) {
      const left = this.heap[2 * timer.place + 1]
      const right = this.heap[2 * timer.place + 2]
      const child = left !== undefined && right !== undefined && isBefore(right, left) ? right : left
      if (child === undefined || !isBefore(child, timer)) return
      this.swap(child, timer)
    }
  }

  private swap(a: Timer, b: Timer): void {
    const { place } = a
    this.put(a, b.place)
    this.put(b, place)
  }

  private put(timer: Timer, place: number): void {
    this.heap[place] = timer
    timer.place = place
  }
}

function isBefore(a: Timer, b: Timer): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
