import { after, type Clock, TICKS_PER_MS, toTicks } from '../../clock.ts'

/** Something to do at a given time. */
export interface Timer {
  /** Of timers due at the same tick, the one with the lower order rings first. */
  readonly order: number
  /** Its index in the queue; -1 while it is in none. */
  place: number
  /** `at` is the tick at which the timer was due. */
  ring(at: number): void
}

/**
 * Many timers on one timer of the machine: a binary heap in which each timer knows its place, so that it can be
 * removed.
 */
export class TimerQueue {
  private readonly heap: Timer[] = []
  /** The tick at which each timer is due, at the timer's index. */
  private readonly ticks: number[] = []
  private readonly clock: Clock
  private cancel: (() => void) | undefined
  /** The tick at which the machine's timer fires. It may fire too early, never too late. */
  private firesAt = Infinity
  private isRinging = false

  constructor(clock: Clock) {
    this.clock = clock
  }

  add(timer: Timer, at: number): void {
    this.put(timer, at, this.heap.length)
    this.rise(timer.place)
    this.arm()
  }

  remove(timer: Timer): void {
    if (timer.place < 0) return
    const last = this.heap.pop()!
    const at = this.ticks.pop()!
    if (last !== timer) {
      this.put(last, at, timer.place)
      this.rise(last.place)
      this.sink(last.place)
    }
    timer.place = -1
    this.arm()
  }

  /**
   * If the soonest timer is now due later than before, the machine's timer stays: it fires once for nothing and is set
   * again. Setting it at every removal would cost more than the removals.
   */
  private arm(): void {
    if (this.isRinging) return
    const at = this.ticks[0] ?? Infinity
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
    for (let at = this.ticks[0]; at !== undefined && at <= now; at = this.ticks[0]) {
      const soonest = this.heap[0]!
      this.remove(soonest)
      soonest.ring(at)
    }
    this.isRinging = false
    this.arm()
  }

  private rise(place: number): void {
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!this.isBefore(place, parent)) return
      this.swap(place, parent)
      place = parent
    }
  }

  private sink(place: number): void {
    for (;;) {
      const left = 2 * place + 1
      const right = left + 1
      const child = right < this.heap.length && this.isBefore(right, left) ? right : left
      if (child >= this.heap.length || !this.isBefore(child, place)) return
      this.swap(child, place)
      place = child
    }
  }

  private isBefore(a: number, b: number): boolean {
    const atA = this.ticks[a]!
    const atB = this.ticks[b]!
    return atA < atB || (atA === atB && this.heap[a]!.order < this.heap[b]!.order)
  }

  private swap(a: number, b: number): void {
    const timer = this.heap[a]!
    const at = this.ticks[a]!
    this.put(this.heap[b]!, this.ticks[b]!, a)
    this.put(timer, at, b)
  }

  private put(timer: Timer, at: number, place: number): void {
    this.heap[place] = timer
    this.ticks[place] = at
    timer.place = place
  }
}
