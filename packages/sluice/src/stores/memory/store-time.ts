import { type Clock, inTicks, type TickClock } from '../../clock.ts'
import { expected } from '../../errors.ts'

/** A store's time: its clock in ticks, and never running backwards, so that a clock set back hands out no quota. */
export class StoreTime {
  /** The tick last read. */
  now = 0
  private readonly clock: TickClock

  constructor(clock: Clock) {
    this.clock = inTicks(clock)
  }

  read(): number {
    const now = this.clock.ticks()
    if (now > this.now) {
      this.now = now
      return now
    }
    if (Number.isNaN(now)) throw expected('SLUICE_BAD_CLOCK', 'epoch milliseconds from clock.now()', now)
    return this.now
  }
}
