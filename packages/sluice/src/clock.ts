/**
 * Where time comes from. This is the only file that may read the machine's clocks; everything else is handed a time.
 * Inside, time is a **tick**: one whole microsecond since the Unix epoch.
 */
export interface Clock {
  /** Epoch milliseconds; fractions allowed; never running backwards. */
  now(): number
  /** Runs `callback` once, `ms` from now, and returns what cancels it. Without it, the machine's timers are used. */
  after?(ms: number, callback: () => void): () => void
}

export const TICKS_PER_MS = 1000

/**
 * Milliseconds to ticks, floored. A double near today's epoch resolves about a quarter of a microsecond, so a tick
 * that went out as milliseconds may come back a hair low: the quarter brings it home without reaching the next tick.
 */
export function toTicks(ms: number): number {
  return Math.floor(ms * TICKS_PER_MS + 0.25)
}

const RECHECK_MS = 1000
const SUSPEND_MS = 100

/** Kept here because Node makes the global a getter, which would cost as much as a tenth of the reading itself. */
const monotonic = performance

/**
 * The default clock: monotonic, so a wall clock set back hands out no quota. The monotonic clock stands still while
 * the machine sleeps, so about once a second it is compared with the wall clock and moved forward, never back.
 */
class SystemClock implements Clock {
  private anchor = monotonic.timeOrigin
  private recheckAt = 0

  now(): number {
    const elapsed = monotonic.now()
    if (elapsed >= this.recheckAt) this.recheck(elapsed)
    return this.anchor + elapsed
  }

  private recheck(elapsed: number): void {
    this.recheckAt = elapsed + RECHECK_MS
    const behind = Date.now() - (this.anchor + elapsed)
    if (behind > SUSPEND_MS) this.anchor += behind
  }
}

export const systemClock: Clock = new SystemClock()

/** `setTimeout` fires at once beyond this many milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** One timer through any clock, chained where the machine's timers are too short. */
export function after(clock: Clock, ms: number, callback: () => void): () => void {
  return timer(clock, ms, callback, true)
}

/** The same, but no reason for a process to stay when it has nothing else to do. */
export function afterIfStillHere(clock: Clock, ms: number, callback: () => void): () => void {
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

/** What Node has and browsers have not. */
const host = globalThis as {
  setImmediate?: (callback: () => void) => unknown
  process?: { nextTick?: (callback: () => void) => void }
}

/** Runs `callback` once the event loop has looked for input: what has arrived by now is seen first. */
export function afterPoll(callback: () => void): void {
  if (host.setImmediate !== undefined) host.setImmediate(callback)
  else setTimeout(callback, 0)
}

/** Runs `callback` when all that runs now has come to its end, before the event loop goes on. */
export function atEndOfTurn(callback: () => void): void {
  if (host.process?.nextTick !== undefined) host.process.nextTick(callback)
  else queueMicrotask(callback)
}
