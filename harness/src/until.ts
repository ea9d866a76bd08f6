import { setTimeout as sleep } from 'node:timers/promises'

export interface UntilOptions {
  withinMs?: number
  everyMs?: number
}

/**
 * Repeats a check until it returns neither false nor undefined. After a time it throws, with the last error in its
 * message. A check that throws counts as false, because servers that start or stop refuse connections.
 */
export async function until<T>(
  what: string,
  check: () => Promise<T | false | undefined>,
  { withinMs = 5000, everyMs = 20 }: UntilOptions = {},
): Promise<T> {
  const deadline = performance.now() + withinMs
  let reason: unknown
  do {
    try {
      const answer = await check()
      if (answer !== false && answer !== undefined) return answer
      reason = undefined
    } catch (error) {
      reason = error
    }
    await sleep(everyMs)
  } while (performance.now() < deadline)
  const because = reason instanceof Error ? `: ${reason.message}` : ''
  throw new Error(`Not within ${withinMs} ms: ${what}${because}`, { cause: reason })
}
