import type { DecisionJson, LimitMode, Settlement, ShadowState } from 'sluice'
import type { Attributes, Explanation } from 'sluice/rules'
import type { Readings } from '../metrics/metrics.ts'
import type { Throttle, ThrottleRequest, ThrottleVerdict } from '../resp/throttle/throttle.ts'
import type { RateLimitRequest, RateLimitResponse } from '../rls/service.ts'
import type { Actual, Block, CheckRequest, Decider, Reserved } from './decider.ts'
import { type RemoteCall, type RemoteCalls, RemoteError, type RemoteResults } from './wire.ts'

/**
 * Decides by asking the process that owns the state. All that is asked in one turn of the event loop travels in one
 * message, so that under load a message between processes is shared by many decisions.
 */
export class RemoteDecider implements Decider {
  readonly throttle: Throttle
  private readonly send: (asked: RemoteCalls) => void
  private readonly waiting = new Map<number, { resolve: (value: never) => void; reject: (error: unknown) => void }>()
  private queue: RemoteCall[] = []
  private nextId = 0

  constructor(send: (asked: RemoteCalls) => void) {
    this.send = send
    this.throttle = {
      decide: (ask, verdict) => this.decide(ask, verdict),
      forget: (bytes, start, end) => this.ask('forget', Buffer.from(bytes.subarray(start, end))),
      stats: () => ({ keys: 0, overflowed: 0 }),
    }
  }

  /** What the owner has answered. */
  receive(answers: RemoteResults): void {
    for (const { id, value, error } of answers) {
      const waiting = this.waiting.get(id)
      this.waiting.delete(id)
      if (error === undefined) waiting?.resolve(value as never)
      else waiting?.reject(new RemoteError(error))
    }
  }

  check(ask: CheckRequest): Promise<DecisionJson> {
    return this.ask('check', ask)
  }

  peek(ask: CheckRequest): Promise<DecisionJson> {
    return this.ask('peek', ask)
  }

  refund(ask: CheckRequest): Promise<void> {
    return this.ask('refund', ask)
  }

  reset(subject: Attributes, limits: readonly string[] | undefined): Promise<void> {
    return this.ask('reset', subject, limits)
  }

  block(subject: Attributes, options: Block): Promise<void> {
    return this.ask('block', subject, options)
  }

  reserve(ask: CheckRequest, ttlMs: number): Promise<Reserved> {
    return this.ask('reserve', ask, ttlMs)
  }

  settle(id: string, actual: Actual | undefined): Promise<Settlement | undefined> {
    return this.ask('settle', id, actual)
  }

  explain(ask: CheckRequest): Promise<readonly Explanation[]> {
    return this.ask('explain', ask)
  }

  setMode(limit: string, mode: LimitMode): Promise<void> {
    return this.ask('setMode', limit, mode)
  }

  shadows(): Promise<readonly ShadowState[]> {
    return this.ask('shadows')
  }

  shouldRateLimit(request: RateLimitRequest): Promise<RateLimitResponse> {
    return this.ask('shouldRateLimit', request)
  }

  /** The text for Prometheus, which the owner keeps for all; with `readings` of this process, where each decides by itself. */
  metrics(readings?: Readings): Promise<string> {
    return this.ask('metrics', readings)
  }

  private async decide(ask: ThrottleRequest, verdict: ThrottleVerdict): Promise<void> {
    const { bytes, start, end, interval, limit, quantity } = ask
    const key = Buffer.from(bytes.subarray(start, end))
    Object.assign(verdict, await this.ask<ThrottleVerdict>('throttle', { key, interval, limit, quantity }))
  }

  private ask<T>(method: RemoteCall['method'], ...args: unknown[]): Promise<T> {
    return new Promise((resolve, reject) => {
      const id = this.nextId++
      this.waiting.set(id, { resolve, reject })
      if (this.queue.push({ id, method, args }) === 1) setImmediate(() => this.flush())
    })
  }

  private flush(): void {
    const { queue } = this
    this.queue = []
    this.send({ asked: queue })
  }
}
