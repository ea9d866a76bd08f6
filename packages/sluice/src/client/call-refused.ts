import type { ErrorCode } from '../errors.ts'

/** A call was not made. `retryAfterMs` says how long it would have had to wait: `Infinity` where no wait helps. */
export class CallRefused extends Error {
  override readonly name = 'CallRefused'
  readonly code: ErrorCode
  readonly retryAfterMs: number

  constructor(code: ErrorCode, message: string, retryAfterMs: number) {
    super(`${message} [${code}, see docs/reference/errors.md#${code.toLowerCase()}]`)
    this.code = code
    this.retryAfterMs = retryAfterMs
  }
}

/** The wait is known, and longer than the call may wait. */
export function tooLong(waitMs: number): CallRefused {
  const long = waitMs === Infinity ? 'for ever' : `${Number((waitMs / 1000).toPrecision(3))} s`
  return new CallRefused('SLUICE_WAIT_TOO_LONG', `this call would have to wait ${long}, longer than it may`, waitMs)
}
