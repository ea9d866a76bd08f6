import { setTimeout as sleep } from 'node:timers/promises'

/** Enough to catch up after a stall, and no more in one turn than a service would get. */
const MOST_A_TURN = 128

export interface Pace {
  /** The longest that this process was kept from running: by itself, or by others on a busy machine. */
  readonly stallMs: number
  /** Comes back when the last question is asked. */
  stop(): Promise<void>
}

/** Asks so many times a millisecond, by timers, so that the event loop is never starved; a stall is caught up with. */
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
