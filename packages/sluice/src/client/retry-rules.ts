import { after, type Clock } from '../clock.ts'
import type { RateLimitInfo } from './fields/rate-limit-info.ts'

/** What an answer means for a retry. */
export type ResponseOutcome =
  /** Not a failure: the caller gets it. */
  | { readonly kind: 'answered' }
  /** Refused by a limit: the server did nothing, and all requests to that limit have to wait. */
  | { readonly kind: 'limited'; readonly retryAt: number | undefined; readonly secondary: boolean }
  /** Failed, perhaps halfway: only an idempotent request is retried. */
  | { readonly kind: 'failed' }

const ANSWERED: ResponseOutcome = { kind: 'answered' }
const FAILED: ResponseOutcome = { kind: 'failed' }
const FAILURES = new Set([408, 425, 500, 502, 503, 504])

export async function outcomeOf(response: Response, info: RateLimitInfo, clock: Clock): Promise<ResponseOutcome> {
  const { status } = response
  const { retryAt, remaining, resetAt } = info
  if (status === 503 && retryAt !== undefined) return { kind: 'limited', retryAt, secondary: false }
  if (status !== 429 && status !== 403) return FAILURES.has(status) ? FAILED : ANSWERED
  // GitHub: with nothing remaining it is the primary limit, which ends at the reset. Any other is the secondary one.
  const exhausted = remaining === 0 ? resetAt : undefined
  if (retryAt !== undefined) return { kind: 'limited', retryAt, secondary: exhausted === undefined }
  if (exhausted !== undefined) return { kind: 'limited', retryAt: exhausted, secondary: false }
  const body = await shortJson(response, clock)
  if (typeof body.retry_after === 'number' && body.retry_after >= 0) {
    return { kind: 'limited', retryAt: clock.now() + body.retry_after * 1000, secondary: body.global === true }
  }
  const secondary = typeof body.message === 'string' && /secondary rate limit|abuse detection/i.test(body.message)
  if (secondary) return { kind: 'limited', retryAt: undefined, secondary }
  return status === 429 ? { kind: 'limited', retryAt: undefined, secondary } : ANSWERED
}

const BODY_MAX_BYTES = 8192
const BODY_MAX_MS = 1000

/** The body of a refusal, if it is short JSON and arrives soon. The caller still gets the whole body. */
async function shortJson(response: Response, clock: Clock): Promise<Record<string, unknown>> {
  const length = Number(response.headers.get('content-length') ?? 0)
  if (!/json/.test(response.headers.get('content-type') ?? '') || !(length <= BODY_MAX_BYTES)) return {}
  const reader = response.clone().body?.getReader()
  if (reader === undefined) return {}
  const cancel = () => void reader.cancel().catch(() => {})
  const cancelTimer = after(clock, BODY_MAX_MS, cancel)
  try {
    let text = ''
    const decoder = new TextDecoder()
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      text += decoder.decode(part.value, { stream: true })
      if (text.length > BODY_MAX_BYTES) return {}
    }
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch {
    return {}
  } finally {
    cancelTimer()
    cancel()
  }
}

const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])

/** Whether a request may be repeated when it is not known what the server did. */
export function isIdempotent(method: string, headers: Headers): boolean {
  return IDEMPOTENT.has(method) || headers.has('idempotency-key')
}

/** What the server says about a retry: `Stripe-Should-Retry`, `x-should-retry`. */
export function saysRetry(response: Response): boolean | undefined {
  const said = response.headers.get('stripe-should-retry') ?? response.headers.get('x-should-retry')
  return said === 'true' ? true : said === 'false' ? false : undefined
}

/** Whether the same body can be sent twice: a stream can be read only once. */
export function isReplayable(input: string | URL | Request, init: RequestInit | undefined): boolean {
  if (init?.body !== undefined && init.body !== null)
    return !(init.body instanceof ReadableStream) && !isIterator(init.body)
  return !(input instanceof Request) || input.body === null
}

/** Node's fetch takes an async iterable, too. */
function isIterator(body: object | string): boolean {
  return typeof body === 'object' && Symbol.asyncIterator in body && !(body instanceof Blob)
}

const SHARE = 0.2
const PER_MS = 10 / 1000
const MAX_BALANCE = 100

/**
 * Bounds retries: one for every five calls, and ten a second on top. When a server is in trouble, retries add at most a
 * fifth to its load.
 */
export class RetryBudget {
  private balance = MAX_BALANCE
  private at = 0

  deposit(): void {
    this.balance = Math.min(MAX_BALANCE, this.balance + SHARE)
  }

  withdraw(now: number): boolean {
    this.balance = Math.min(MAX_BALANCE, this.balance + Math.max(0, now - this.at) * PER_MS)
    this.at = now
    if (this.balance < 1) return false
    this.balance--
    return true
  }
}
