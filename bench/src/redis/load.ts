import type { Run } from '../entrant.ts'
import { after, type Keys } from '../keys.ts'

/** Callers that each ask for the next decision as soon as they have the last one. */
export interface Load {
  readonly callers: number
  readonly keys: Keys
  /** Receives the time of a sample of the decisions, in milliseconds. */
  readonly latenciesMs: number[]
}

export const IN_FLIGHT = 200

/** Timing costs a tenth of a decision, so only a sample is timed. A prime, so that its place in a batch varies. */
const TIMED_EVERY = 17

/**
 * A server's handlers await each decision before they go on, but many of them do so at once. A promise that rejects with
 * anything but an Error is a refusal.
 */
export function asking<A>(load: Load, ask: (key: string) => Promise<A>, isAdmitted: (answer: A) => boolean): Run {
  const { callers, keys, latenciesMs } = load
  const timedEvery = callers === 1 ? 1 : TIMED_EVERY
  let at = 0
  return async count => {
    let left = count
    let admitted = 0
    const caller = async () => {
      while (left > 0) {
        const isTimed = (count - left--) % timedEvery === 0
        const key = `user:${keys.order[at]}`
        at = after(keys, at)
        const askedAt = isTimed ? performance.now() : 0
        try {
          if (isAdmitted(await ask(key))) admitted++
        } catch (reason) {
          if (reason instanceof Error) throw reason
        }
        if (isTimed) latenciesMs.push(performance.now() - askedAt)
      }
    }
    await Promise.all(Array.from({ length: callers }, caller))
    return admitted
  }
}
