import { type Clock, toTicks } from '../../clock.ts'
import { expected } from '../../errors.ts'

/** A store's time: its clock in ticks, and never running backwards, so that a clock set back hands out no quota. */
export class StoreTime {
  /** The tick last read: a field, because a number returned from a function may have to be boxed. */
  now = 0
  private readonly clock: Clock

  constructor(clock: Clock) {
    this.clock = clock
  }

  read(): void {
    const now = toTicks(this.clock.now())
    if (now > this.now) this.now = now
    else if (now !== this.now) this.check(now)
  }

  private check(now: number): void {
    if (Number.isNaN(now)) throw expected('SLUICE_BAD_CLOCK', 'epoch milliseconds from clock.now()', now)
  }
}
