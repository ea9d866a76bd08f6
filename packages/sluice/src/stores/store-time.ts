import { type Clock, inTicks, TICKS_PER_MS, type TickClock } from '../clock.ts'
import { expected } from '../errors.ts'

/** If the clock is set back by less than this, the time stands still until the clock has caught up. */
const SET_BACK_TICKS = 1_000_000

/**
 * A store's time: its clock in ticks. It never runs backwards, so a clock set back hands out no quota. If the clock is
 * set back far, the time goes on from where it was and stays ahead of the clock. If it stood still that long, every
 * refused caller would stay refused.
 */
export class StoreTime {
  /** The tick last read. */
  now = 0
  /** The same time in milliseconds, for timers. */
  readonly clock: Clock
  private readonly source: TickClock
  private readonly onSetBack: (ticks: number) => void
  /** How far the time is ahead of the clock, in ticks. */
  private ahead = 0

  constructor(clock: Clock, onSetBack: (ticks: number) => void) {
    this.source = inTicks(clock)
    this.onSetBack = onSetBack
    const now = () => this.read() / TICKS_PER_MS
    this.clock = clock.after === undefined ? { now } : { now, after: (ms, callback) => clock.after!(ms, callback) }
  }

  read(): number {
    const now = this.source.ticks() + this.ahead
    if (now > this.now) {
      this.now = now
      return now
    }
    if (Number.isNaN(now)) throw expected('SLUICE_BAD_CLOCK', 'epoch milliseconds from clock.now()', now)
    const back = this.now - now
    if (back > SET_BACK_TICKS) {
      this.ahead += back
      this.onSetBack(back)
    }
    return this.now
  }
}
