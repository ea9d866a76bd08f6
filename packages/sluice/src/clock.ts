/**
 * Where time comes from. Only this file may read the machine's clocks; all other code gets the time passed in.
 * Internally, time is a **tick**: one whole microsecond since the Unix epoch.
 */
export interface Clock {
  /** Epoch milliseconds; fractions allowed. It never runs backwards. */
  now(): number
  /**
   * Runs `callback` once, `ms` from now, and returns a function that cancels it. Without it, the machine's timers are
   * used.
   */
  after?(ms: number, callback: () => void): () => void
}

export const TICKS_PER_MS = 1000

/**
 * Milliseconds to ticks, rounded down. A double near today's epoch resolves about a quarter of a microsecond, so a tick
 * converted to milliseconds may come back slightly low. Adding a quarter corrects that and never reaches the next tick.
 */
export function toTicks(ms: number): number {
  return Math.floor(ms * TICKS_PER_MS + 0.25)
}

/** A clock as stores read it. */
export interface TickClock {
  ticks(): number
}

/** Any clock in ticks. The machine's clock gives ticks directly, without converting to milliseconds. */
export function inTicks(clock: Clock): TickClock {
  return clock === systemClock ? systemClock : { ticks: () => toTicks(clock.now()) }
}

/** What Node has and browsers do not. */
const host = globalThis as {
  setImmediate?: (callback: () => void) => unknown
  process?: { nextTick?: (callback: () => void) => void; hrtime?: { bigint?: () => bigint } }
}

/** Kept here because Node makes the global a getter, which would cost a tenth of the reading itself. */
const monotonic = performance
const nanoseconds = host.process?.hrtime?.bigint

/** A bigint stored here is read as two halves, so no object is allocated for it. */
const bigint = new BigUint64Array(1)
const halves = new Uint32Array(bigint.buffer)
bigint[0] = 1n
const isLittleEndian = halves[0] === 1
const TICKS_PER_NANOSECOND = 1e-3

/**
 * The monotonic clock in ticks and fractions. Node's `hrtime` is the same clock as `performance.now`, and a fifth
 * faster to read.
 */
const elapsedTicks =
  nanoseconds !== undefined && isLittleEndian
    ? () => {
        bigint[0] = nanoseconds()
        return (halves[1]! * 2 ** 32 + halves[0]!) * TICKS_PER_NANOSECOND
      }
    : () => monotonic.now() * TICKS_PER_MS

const RECHECK_TICKS = 1_000_000
const SUSPEND_TICKS = 100_000

/**
 * The default clock is monotonic, so a wall clock set back hands out no quota. The monotonic clock stops while the
 * machine sleeps, so about once a second it is compared with the wall clock and moved forward, never back.
 */
class SystemClock implements Clock, TickClock {
  private anchor = (monotonic.timeOrigin + monotonic.now()) * TICKS_PER_MS - elapsedTicks()
  private recheckAt = 0

  now(): number {
    return this.ticks() / TICKS_PER_MS
  }

  ticks(): number {
    const elapsed = elapsedTicks()
    if (elapsed >= this.recheckAt) this.recheck(elapsed)
    return Math.floor(this.anchor + elapsed)
  }

  private recheck(elapsed: number): void {
    this.recheckAt = elapsed + RECHECK_TICKS
    const behind = Date.now() * TICKS_PER_MS - (this.anchor + elapsed)
    if (behind > SUSPEND_TICKS) this.anchor += behind
  }
}

export const systemClock: Clock & TickClock = new SystemClock()

/** `setTimeout` fires at once for delays above this many milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** One timer on any clock. Longer delays than the machine's timers allow are split. */
export function after(clock: Clock, ms: number, callback: () => void): () => void {
  return timer(clock, ms, callback, true)
}

/** The same, but the timer does not keep the process alive. */
export function afterUnref(clock: Clock, ms: number, callback: () => void): () => void {
  return timer(clock, ms, callback, false)
}

function timer(clock: Clock, ms: number, callback: () => void, keepsProcess: boolean): () => void {
  if (clock.after !== undefined) return clock.after(ms, callback)
  let handle: ReturnType<typeof setTimeout>
  const arm = (leftMs: number) => {
    const stepMs = Math.min(leftMs, LONGEST_TIMER_MS)
    handle = setTimeout(() => (leftMs > stepMs ? arm(leftMs - stepMs) : callback()), stepMs)
    if (!keepsProcess) (handle as { unref?(): void }).unref?.()
  }
  arm(Math.max(0, Math.ceil(ms)))
  return () => clearTimeout(handle)
}

/** Runs `callback` after the event loop has polled for input, so that input that has arrived is handled first. */
export function afterPoll(callback: () => void): void {
  if (host.setImmediate !== undefined) host.setImmediate(callback)
  else setTimeout(callback, 0)
}

/** Runs `callback` when the current code has finished, before the event loop goes on. */
export function atEndOfTurn(callback: () => void): void {
  if (host.process?.nextTick !== undefined) host.process.nextTick(callback)
  else queueMicrotask(callback)
}
