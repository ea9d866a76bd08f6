import { type Clock, memoryStore, SluiceError } from 'sluice'
import { decide, decideLong, isExact } from './cell.ts'
import type { Throttle, ThrottleRequest, ThrottleVerdict } from './throttle.ts'
import { ThrottleTable } from './throttle-table.ts'

export interface MemoryThrottleOptions {
  clock?: Clock
  /** How many keys to keep at most; beyond it, new keys share pooled cells. 2^22 by default: 200 MB at the worst. */
  maxKeys?: number
}

/** CL.THROTTLE decided in this process, to the nanosecond. */
export function memoryThrottle(options: MemoryThrottleOptions = {}): Throttle {
  const { clock = memoryStore().clock, maxKeys = 2 ** 22 } = options
  if (!Number.isInteger(maxKeys) || maxKeys < 1 || maxKeys > 2 ** 30) {
    throw new SluiceError('SLUICE_BAD_OPTION', `expected maxKeys as a whole number from 1 to 2^30, got ${maxKeys}`)
  }
  return new MemoryThrottle(clock, new ThrottleTable(maxKeys))
}

const NS_PER_US = 1000

class MemoryThrottle implements Throttle {
  private readonly clock: Clock
  private readonly cells: ThrottleTable
  /** Now in whole microseconds. It never runs backwards, so that a clock that is set back does not change decisions. */
  private now = 0

  constructor(clock: Clock, cells: ThrottleTable) {
    this.clock = clock
    this.cells = cells
  }

  decide(ask: ThrottleRequest, verdict: ThrottleVerdict): undefined {
    const { cells } = this
    const { interval, limit, quantity } = ask
    this.readClock()
    const { now } = this
    cells.seek(ask.bytes, ask.start, ask.end, now)
    const ahead = this.ahead()
    if (
      typeof interval === 'number' &&
      typeof limit === 'number' &&
      typeof quantity === 'number' &&
      isExact(ahead, interval, limit, quantity)
    ) {
      const left = decide(ahead, interval, limit, quantity, verdict)
      if (left === ahead) return
      const micros = Math.floor(left / NS_PER_US)
      cells.write(now + micros, left - micros * NS_PER_US, now)
    } else this.decideLong(ask, verdict)
  }

  forget(bytes: Buffer, start: number, end: number): boolean {
    this.readClock()
    const { cells, now } = this
    cells.seek(bytes, start, end, now)
    cells.forget()
    return this.ahead() > 0
  }

  left(bytes: Buffer, start: number, end: number): number {
    this.readClock()
    this.cells.seek(bytes, start, end, this.now)
    return this.ahead() / 1e6
  }

  stats() {
    return { keys: this.cells.size, overflowed: this.cells.overflowed }
  }

  private decideLong({ interval, limit, quantity }: ThrottleRequest, verdict: ThrottleVerdict): void {
    const { cells, now } = this
    const ahead = cells.micros < now ? 0n : BigInt(cells.micros - now) * 1000n + BigInt(cells.nanos)
    const left = decideLong(ahead, BigInt(interval), BigInt(limit), BigInt(quantity), verdict)
    if (left !== ahead) cells.write(now + Number(left / 1000n), Number(left % 1000n), now)
  }

  /** Nanoseconds from now to the time of the last key that was looked up; exact if `isExact` says so. */
  private ahead(): number {
    const { cells, now } = this
    return cells.micros < now ? 0 : (cells.micros - now) * NS_PER_US + cells.nanos
  }

  /** Adds 0.25 µs before rounding down, since a double near today's epoch may be too small by that much. */
  private readClock(): void {
    const now = Math.floor(this.clock.now() * 1000 + 0.25)
    if (now > this.now) this.now = now
  }
}
