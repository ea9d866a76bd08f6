import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'

const TICKS_PER_SECOND = 100
/** The position of `steal` in the first line of /proc/stat. */
const STEAL = 8

/**
 * The CPU time that the host gave to other machines instead of this one, in seconds since the start. A slice that lost
 * time in this way says nothing about its contestant. 0 if the system does not count it.
 */
export function stolenSeconds(): number {
  try {
    const fields = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.split(/\s+/)
    return Number(fields[STEAL] ?? 0) / TICKS_PER_SECOND
  } catch {
    return 0
  }
}

/** The stolen time as a share of all CPU time in `elapsedMs`. */
export function stolenShare(seconds: number, elapsedMs: number): number {
  return seconds / ((elapsedMs / 1000) * availableParallelism())
}
