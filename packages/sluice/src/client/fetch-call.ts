import { after, type Clock } from '../clock.ts'
import type { Limiter } from '../limiter/limiter.ts'
import type { AdaptiveThrottle } from './adaptive-throttle.ts'
import { backoff } from './backoff.ts'
import { tooLong } from './call-refused.ts'
import type { FetchEvent, FetchOptions, FetchSettings } from './fetch-options.ts'
import type { Gate, Pass } from './gate.ts'
import type { Gates, Target, Way } from './gates.ts'
import { readRateLimit } from './read-rate-limit.ts'
import { isIdempotent, isReplayable, type Outcome, outcomeOf, type RetryBudget, saysRetry } from './retry-rules.ts'

/** What the calls of one fetch share. */
export interface FetchContext {
  readonly options: FetchOptions
  readonly settings: FetchSettings
  readonly clock: Clock
  readonly random: () => number
  readonly fetch: typeof fetch
  readonly limiter: Pick<Limiter, 'wait'> | undefined
  readonly gates: Gates
  readonly budget: RetryBudget
  throttleOf(origin: string): AdaptiveThrottle | undefined
}

/** To a wait the server asked for, jitter is only added: up to this share of it, and this long. */
const JITTER_SHARE = 0.1
const JITTER_MAX_MS = 1000
/** GitHub asks for a minute at least where a secondary limit does not say. */
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
      // The gate holds those who were refused; whoever failed alone waits alone.
      if (result.outcome.kind === 'failed') await this.sleep(target, waitMs, signal)
      this.retries++
      this.tell({
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
    this.tell({ type: 'gave-up', origin: target.origin, status: response?.status ?? 0, because })
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
      const way = context.gates.wayOf(target)
      try {
        if (way.bucket !== undefined) way.bucketPass = await this.enter(way.bucket, origin, signal, deadline)
        way.originPass = way.origin.tryEnter() ?? (await this.enter(way.origin, origin, signal, deadline))
      } catch (error) {
        context.gates.arrive(way, undefined)
        throw error
      }
      const result = await this.send(way, signal)
      if (result.outcome.kind === 'answered') throttle?.accepted(clock.now())
      return result
    } finally {
      release?.()
    }
  }

  private async send(way: Way, signal: AbortSignal | undefined): Promise<Result> {
    const { context } = this
    const { clock, gates } = context
    let response: Response
    try {
      gates.depart(way)
      response = await context.fetch(this.input, signal === undefined ? this.init : { ...this.init, signal })
    } catch (error) {
      gates.arrive(way, undefined)
      if (signal?.aborted) throw error
      return { error, outcome: { kind: 'failed' }, delayMs: this.backoff(this.retries) }
    }
    const { resetUnit = 's' } = context.options
    const info = readRateLimit(response, { now: clock.now(), resetUnit })
    const concerned = gates.arrive(way, info)
    if (response.status < 400) {
      concerned.refusals = 0
      return { response, outcome: { kind: 'answered' }, delayMs: 0 }
    }
    const outcome = await outcomeOf(response, info, clock)
    if (outcome.kind !== 'limited') return { response, outcome, delayMs: this.backoff(this.retries) }
    const { secondary } = outcome
    // A secondary limit concerns everything that is asked of the server.
    const gate = secondary && info.scope === undefined ? way.origin : concerned
    const delayMs = this.refusedMs(outcome, gate)
    const retryAt = clock.now() + delayMs
    gate.close(retryAt)
    this.tell({ type: 'refused', origin: way.target.origin, status: response.status, retryAt, secondary })
    return { response, outcome, delayMs }
  }

  private refusedMs({ retryAt, secondary }: Outcome & { kind: 'limited' }, gate: Gate): number {
    const { clock, random } = this.context
    if (retryAt === undefined) {
      const refusals = gate.refusals++
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
      ...(maxWait < Infinity && { maxWait: wholeMs(maxWait) }),
      ...(signal && { signal }),
    })
    if (!decision.allowed) throw tooLong(decision.retryAfterMs)
    this.waited(clock.now() - startedAt, origin, 'policy')
    return () => decision.release()
  }

  private async enter(gate: Gate, origin: string, signal: AbortSignal | undefined, deadline: number): Promise<Pass> {
    const pass = gate.tryEnter()
    if (pass !== undefined) return pass
    const { clock, options } = this.context
    const startedAt = clock.now()
    const { waitMs } = gate
    options.onWait?.(waitMs, origin)
    this.tell({ type: 'wait', origin, ms: waitMs, reason: 'limit' })
    const entered = await gate.enter(this.latest(deadline), signal)
    this.waitedMs += clock.now() - startedAt
    return entered
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
    this.tell({ type: 'wait', origin, ms, reason })
  }

  /** The latest this call may be sent, epoch milliseconds. */
  private latest(deadline: number): number {
    const { clock, settings } = this.context
    return Math.min(deadline, clock.now() + settings.maxWaitMs - this.waitedMs)
  }

  private tell(event: FetchEvent): void {
    this.context.options.onEvent?.(event)
  }
}

/** What came of one request. */
interface Result {
  readonly response?: Response
  readonly error?: unknown
  readonly outcome: Outcome
  readonly delayMs: number
}

/** Durations are whole ticks. */
function wholeMs(ms: number): number {
  return Math.floor(ms)
}
