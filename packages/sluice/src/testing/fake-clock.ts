import { type Clock, TICKS_PER_MS } from '../clock.ts'

/** A clock that moves only when told to, and fires its timers on the way. */
export interface FakeClock extends Clock {
  after(ms: number, callback: () => void): () => void
  advance(ms: number): void
  /** Sets the time, which may be in the past: a store must handle that too. */
  set(ms: number): void
}

export function fakeClock(startMs = 0): FakeClock {
  // Whole ticks, so that advancing by `retryAfterMs` arrives exactly there, any number of times.
  let ticks = Math.round(startMs * TICKS_PER_MS)
  const timers: { at: number; callback: () => void }[] = []
  const goTo = (end: number) => {
    for (;;) {
      const next = timers.reduce((soonest, timer) => Math.min(soonest, timer.at), Infinity)
      if (next > end) break
      ticks = Math.max(ticks, next)
      const [timer] = timers.splice(
        timers.findIndex(({ at }) => at === next),
        1,
      )
      timer!.callback()
    }
    ticks = end
  }
  return {
    now: () => ticks / TICKS_PER_MS,
    advance: ms => goTo(ticks + Math.round(ms * TICKS_PER_MS)),
    set: ms => goTo(Math.round(ms * TICKS_PER_MS)),
    after(ms, callback) {
      const timer = { at: ticks + Math.max(0, Math.round(ms * TICKS_PER_MS)), callback }
      timers.push(timer)
      return () => {
        if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1)
      }
    },
  }
}
