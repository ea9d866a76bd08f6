import { brand } from '../brand.ts'
import { formatMs } from '../duration.ts'
import { type ErrorCode, withCode } from '../errors.ts'

/** A call was not made. `retryAfterMs` is how long until the same call can be made; `Infinity` if no wait helps. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused'
  readonly code: ErrorCode
  readonly retryAfterMs: number

  constructor(code: ErrorCode, message: string, retryAfterMs: number) {
    super(withCode(code, message))
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}
brand('CallRefused', CallRefused)

export function tooLong(retryAfterMs: number): CallRefused {
  const again = retryAfterMs === Infinity ? 'it can never be made' : `try again in ${shownWait(retryAfterMs)}`
  return new CallRefused(
    'SLUICE_WAIT_TOO_LONG',
    `this call would have to wait longer than it may: ${again}`,
    retryAfterMs,
  )
}

/** Rounds a long wait to hours and a short one to seconds. A reader needs no more digits. */
function shownWait(ms: number): string {
  const step = ms > 172_800_000 ? 3_600_000 : ms > 7_200_000 ? 60_000 : ms > 10_000 ? 1000 : 1
  return formatMs(Math.ceil(ms / step) * step)
}
