import { setTimeout as sleep } from 'node:timers/promises'

/** Enough calls to catch up after a stall, but no more in one turn than a service would get. */
const MOST_A_TURN = 128

export interface Pace {
  /** The longest time that this process did not run, because of itself or a busy machine. */
  readonly stallMs: number
  /** Resolves when the last question is asked. */
  stop(): Promise<void>
}

/**
 * Asks this many times a millisecond. It uses timers, so that the event loop is never starved, and catches up after a
 * stall.
 */
export function steadily(perMs: number, ask: (n: number) => void): Pace {
  const startedAt = performance.now()
  let [asked, stallMs, stopped] = [0, 0, false]
  const asking = (async () => {
    for (let wokenAt = startedAt; !stopped; ) {
      const due = Math.floor((performance.now() - startedAt) * perMs)
      for (const until = Math.min(due, asked + MOST_A_TURN); asked < until; asked++) ask(asked)
      await sleep(1)
      const now = performance.now()
      stallMs = Math.max(stallMs, now - wokenAt)
      wokenAt = now
    }
  })()
  return {
    get stallMs() {
      return stallMs
    },
    stop() {
      stopped = true
      return asking
    },
  }
}
