import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

const TICKS_PER_SECOND = 100
/** Which number of the first line of /proc/stat it is. */
const STEAL = 8

/**
 * How long the machine's CPUs were kept from it by the host it shares with others, in seconds of CPU since it started. What
 * was taken during a slice is no property of whoever ran in it. Where nobody counts it, 0.
 */
export function stolenSeconds(): number {
  try {
    const fields = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.split(/\s+/)
    return Number(fields[STEAL] ?? 0) / TICKS_PER_SECOND
  } catch {
    return 0
  }
}

/** As a share of all there was in `elapsedMs`. */
export function stolenShare(seconds: number, elapsedMs: number): number {
  return seconds / ((elapsedMs / 1000) * availableParallelism())
}
