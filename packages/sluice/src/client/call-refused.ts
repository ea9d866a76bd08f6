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

/** `1.5 s`, for a message. */
export function seconds(ms: number): string {
  return ms === Infinity ? 'for ever' : `${Number((ms / 1000).toPrecision(3))} s`
}
