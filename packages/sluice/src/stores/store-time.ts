import { type Clock, inTicks, TICKS_PER_MS, type TickClock } from '../clock.ts'
import { expected } from '../errors.ts'

/** A clock set back by less stands still until it gets there again. */
const SET_BACK_TICKS = 1_000_000

/**
 * A store's time: its clock in ticks, and never running backwards, so that a clock set back hands out no quota. If a clock
 * is set back far, time goes on from where it was, ahead of the clock from then on. It must not stand still for so long:
 * everybody who is refused would stay refused.
 */
export class StoreTime {
  /** The tick last read. */
  now = 0
  /** This time, for timers. */
  readonly clock: Clock
  private readonly source: TickClock
  private readonly onSetBack: (ticks: number) => void
  /** In ticks, of the clock. */
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
