import { after, type Clock } from '../clock.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { AdaptiveThrottle } from './adaptive-throttle.ts'
import { backoff } from './backoff.ts'
import { tooLong } from './call-refused.ts'
import type { FetchEvent, FetchOptions, FetchSettings } from './fetch-options.ts'
import { readRateLimit } from './fields/read-rate-limit.ts'
import type { Permit, RequestQueue } from './request-queue.ts'
import type { QueuedRequest, RequestQueues, Target } from './request-queues.ts'
import {
  isIdempotent,
  isReplayable,
  outcomeOf,
  type ResponseOutcome,
  type RetryBudget,
  saysRetry,
} from './retry-rules.ts'

/** What all calls of one `createFetch` share. */
export interface FetchContext {
  readonly options: FetchOptions
  readonly settings: FetchSettings
  readonly clock: Clock
  readonly random: () => number
  readonly fetch: typeof fetch
  readonly limiter: Pick<Limiter, 'wait'> | undefined
  readonly queues: RequestQueues
  readonly budget: RetryBudget
  throttleOf(origin: string): AdaptiveThrottle | undefined
}

/** Jitter is added to the wait the server asked for, never subtracted: at most this share of it, and at most this long. */
const JITTER_SHARE = 0.1
const JITTER_MAX_MS = 1000
/** GitHub asks for at least a minute if a secondary limit does not say how long. */
const SECONDARY_MS = 60_000

/** One call, from the first wait to the last answer. */
export class FetchCall {
  private readonly context: FetchContext
  private readonly input: Parameters<typeof fetch>[0]
  private readonly init: RequestInit | undefined
  private waitedMs = 0
  private retries = 0

  constructor(context: FetchContext, input: Parameters<typeof fetch>[0], init: RequestInit | undefined) {
    this.context = context
    this.input = input
    this.init = init
  }

  async run(): Promise<Response> {
    const { input, init, context } = this
    const isRequest = input instanceof Request
    const url = new URL(isRequest ? input.url : input, (globalThis as { location?: { href: string } }).location?.href)
    const target: Target = {
      url,
      origin: url.origin,
      method: (init?.method ?? (isRequest ? input.method : 'GET')).toUpperCase(),
    }
    const signal = init?.signal ?? (isRequest ? input.signal : undefined)
    const { deadlineMs } = context.settings
    if (deadlineMs === Infinity) return this.attempts(target, signal ?? undefined, Infinity)

    const timeout = new AbortController()
    const cancel = after(context.clock, deadlineMs, () =>
      timeout.abort(new DOMException('the deadline has passed', 'TimeoutError')),
    )
    const both = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal
    try {
      return await this.attempts(target, both, context.clock.now() + deadlineMs)
    } finally {
      cancel()
    }
  }

  private async attempts(target: Target, signal: AbortSignal | undefined, deadline: number): Promise<Response> {
    const { context } = this
    context.budget.deposit()
    for (;;) {
      signal?.throwIfAborted()
      const result = await this.attempt(target, signal, deadline)
      const mayRetry = this.mayRetry(target, result)
      if (!mayRetry) {
        if (result.response === undefined) throw result.error
        return result.response
      }
      const waitMs = result.delayMs
      if (context.clock.now() + waitMs > this.latest(deadline)) return this.giveUp(target, result, 'wait')
      if (this.retries >= context.settings.maxRetries) return this.giveUp(target, result, 'retries')
      if (!isReplayable(this.input, this.init)) return this.giveUp(target, result, 'body')
      if (!context.budget.withdraw(context.clock.now())) return this.giveUp(target, result, 'budget')
      await result.response?.body?.cancel().catch(() => {})
      // After a refusal all requests to that limit wait in the queue; after a failure only this one waits.
      if (result.outcome.kind === 'failed') await this.sleep(target, waitMs, signal)
      this.retries++
      this.emit({
        type: 'retry',
        origin: target.origin,
        attempt: this.retries,
        status: result.response?.status ?? 0,
      })
    }
  }

  private giveUp(
    target: Target,
    { response, error }: Result,
    because: 'budget' | 'retries' | 'wait' | 'body',
  ): Response {
    this.emit({ type: 'gave-up', origin: target.origin, status: response?.status ?? 0, because })
    if (response === undefined) throw error
    return response
  }

  private async attempt(target: Target, signal: AbortSignal | undefined, deadline: number): Promise<Result> {
    const { context } = this
    const { clock } = context
    const { origin } = target
    const throttle = context.throttleOf(origin)
    throttle?.check(clock.now())
    const release =
      context.limiter === undefined ? undefined : await this.ownPolicy(context.limiter, target, signal, deadline)
    try {
      const queued = context.queues.queuesFor(target)
      try {
        if (queued.bucket !== undefined)
          queued.bucketPermit = await this.acquire(queued.bucket, origin, signal, deadline)
        queued.originPermit =
          queued.origin.tryAcquire() ?? (await this.acquire(queued.origin, origin, signal, deadline))
      } catch (error) {
        context.queues.ended(queued, undefined)
        throw error
      }
      const result = await this.send(queued, signal)
      if (result.outcome.kind === 'answered') throttle?.accepted(clock.now())
      return result
    } finally {
      release?.()
    }
  }

  private async send(queued: QueuedRequest, signal: AbortSignal | undefined): Promise<Result> {
    const { context } = this
    const { clock, queues } = context
    let response: Response
    try {
      queues.sent(queued)
      response = await context.fetch(this.input, signal === undefined ? this.init : { ...this.init, signal })
    } catch (error) {
      queues.ended(queued, undefined)
      if (signal?.aborted) throw error
      return { error, outcome: { kind: 'failed' }, delayMs: this.backoff(this.retries) }
    }
    const { resetUnit = 's' } = context.options
    const info = readRateLimit(response, { now: clock.now(), resetUnit })
    const affected = queues.ended(queued, info)
    if (response.status < 400) {
      affected.refusals = 0
      return { response, outcome: { kind: 'answered' }, delayMs: 0 }
    }
    const outcome = await outcomeOf(response, info, clock)
    if (outcome.kind !== 'limited') return { response, outcome, delayMs: this.backoff(this.retries) }
    const { secondary } = outcome
    // A secondary limit applies to every request to the server.
    const queue = secondary && info.scope === undefined ? queued.origin : affected
    const delayMs = this.refusedMs(outcome, queue)
    const retryAt = clock.now() + delayMs
    queue.close(retryAt)
    this.emit({ type: 'refused', origin: queued.target.origin, status: response.status, retryAt, secondary })
    return { response, outcome, delayMs }
  }

  private refusedMs({ retryAt, secondary }: ResponseOutcome & { kind: 'limited' }, queue: RequestQueue): number {
    const { clock, random } = this.context
    if (retryAt === undefined) {
      const refusals = queue.refusals++
      return secondary
        ? SECONDARY_MS * 2 ** Math.min(refusals, 10) * (1 + JITTER_SHARE * random())
        : this.backoff(refusals)
    }
    const waitMs = Math.max(0, retryAt - clock.now())
    return waitMs + random() * Math.min(JITTER_MAX_MS, JITTER_SHARE * waitMs)
  }

  private backoff(attempt: number): number {
    return backoff(attempt, { ...this.context.options.backoff, random: this.context.random })
  }

  private mayRetry({ method }: Target, { response, outcome }: Result): boolean {
    if (outcome.kind === 'answered') return false
    const said = response === undefined ? undefined : saysRetry(response)
    if (said !== undefined) return said
    if (outcome.kind === 'limited' && response!.status !== 503) return true
    const { input, init } = this
    return isIdempotent(method, new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined)))
  }

  private async ownPolicy(
    limiter: Pick<Limiter, 'wait'>,
    { url, origin }: Target,
    signal: AbortSignal | undefined,
    deadline: number,
  ): Promise<() => void> {
    const { clock, options } = this.context
    const startedAt = clock.now()
    const maxWait = Math.max(0, this.latest(deadline) - startedAt)
    const key = options.key === undefined ? origin : options.key(url)
    const decision = await limiter.wait(key, {
      ...(maxWait < Infinity && { maxWait: `${wholeMs(maxWait)}ms` as const }),
      ...(signal && { signal }),
    })
    if (!decision.allowed) throw tooLong(decision.retryAfterMs)
    this.waited(clock.now() - startedAt, origin, 'policy')
    return () => decision.release()
  }

  private async acquire(
    queue: RequestQueue,
    origin: string,
    signal: AbortSignal | undefined,
    deadline: number,
  ): Promise<Permit> {
    const permit = queue.tryAcquire()
    if (permit !== undefined) return permit
    const { clock, options } = this.context
    const startedAt = clock.now()
    const { waitMs } = queue
    options.onWait?.(waitMs, origin)
    this.emit({ type: 'wait', origin, ms: waitMs, reason: 'limit' })
    const acquired = await queue.acquire(this.latest(deadline), signal)
    this.waitedMs += clock.now() - startedAt
    return acquired
  }

  private async sleep({ origin }: Target, ms: number, signal: AbortSignal | undefined): Promise<void> {
    this.waited(ms, origin, 'retry')
    signal?.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const abort = () => {
        cancel()
        reject(signal!.reason)
      }
      const cancel = after(this.context.clock, ms, () => {
        signal?.removeEventListener('abort', abort)
        resolve()
      })
      signal?.addEventListener('abort', abort, { once: true })
    })
  }

  private waited(ms: number, origin: string, reason: 'policy' | 'retry'): void {
    if (ms <= 0) return
    this.waitedMs += ms
    this.context.options.onWait?.(ms, origin)
    this.emit({ type: 'wait', origin, ms, reason })
  }

  /** The latest this call may be sent, epoch milliseconds. */
  private latest(deadline: number): number {
    const { clock, settings } = this.context
    return Math.min(deadline, clock.now() + settings.maxWaitMs - this.waitedMs)
  }

  private emit(event: FetchEvent): void {
    this.context.options.onEvent?.(event)
  }
}

/** How one request ended. */
interface Result {
  readonly response?: Response
  readonly error?: unknown
  readonly outcome: ResponseOutcome
  readonly delayMs: number
}

/** Drops the fraction, because a `Duration` must be a whole number of ticks. */
function wholeMs(ms: number): number {
  return Math.floor(ms)
}
