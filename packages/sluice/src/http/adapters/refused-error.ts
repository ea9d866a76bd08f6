import { brand } from '../../brand.ts'
import type { Decision } from '../../decision.ts'
import { parsedBody, type Refusal } from '../response/refusal.ts'

/** A refusal as an error. With `throw: true` the error handler gets it, and no response is sent for it. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
  readonly statusCode: number
  /** The body that would have been sent: an object if it is JSON. */
  readonly body: string | object
  /** Undefined if the address is on the `deny` list. */
  readonly decision: Decision | undefined

  constructor({ status, body }: Refusal, decision: Decision | undefined) {
    const parsed = parsedBody(body)
    super((parsed as { message?: string }).message ?? `refused with ${status}`)
    this.statusCode = status
    this.body = parsed
    this.decision = decision
  }
}
brand('RefusedError', RefusedError)
