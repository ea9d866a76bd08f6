import type { Readings } from '../metrics/metrics.ts'
import type { Throttle, ThrottleRequest, ThrottleVerdict } from '../resp/throttle/throttle.ts'
import type { Decider } from './decider.ts'
import { type RemoteCall, type RemoteCalls, RemoteError, type RemoteResults, remotePart } from './wire.ts'

/**
 * Decides by asking the process that owns the state. All calls of one turn of the event loop travel in one message, so
 * that under load many decisions share the cost of a message.
 */
export class RemoteDecider implements Decider {
  readonly checks: Decider['checks']
  readonly operations: Decider['operations']
  readonly descriptors: Decider['descriptors']
  readonly throttle: Throttle
  private readonly send: (asked: RemoteCalls) => void
  private readonly waiting = new Map<number, { resolve: (value: never) => void; reject: (error: unknown) => void }>()
  private queue: RemoteCall[] = []
  private nextId = 0

  constructor(send: (asked: RemoteCalls) => void) {
    this.send = send
    const call = (method: string, ...args: unknown[]) => this.ask(method, ...args)
    this.checks = remotePart('checks', call)
    this.operations = remotePart('operations', call)
    this.descriptors = remotePart('descriptors', call)
    this.throttle = {
      decide: (ask, verdict) => this.decide(ask, verdict),
      forget: (bytes, start, end) => this.ask('forget', Buffer.from(bytes.subarray(start, end))),
      left: (bytes, start, end) => this.ask('left', Buffer.from(bytes.subarray(start, end))),
      stats: () => ({ keys: 0, overflowed: 0 }),
    }
  }

  /** Takes the answers of the owner. */
  receive(answers: RemoteResults): void {
    for (const { id, value, error } of answers) {
      const waiting = this.waiting.get(id)
      this.waiting.delete(id)
      if (error === undefined) waiting?.resolve(value as never)
      else waiting?.reject(new RemoteError(error))
    }
  }

  /** The text for Prometheus, which the owner keeps for all. `readings` are those of this process if it decides by itself. */
  metrics(readings?: Readings): Promise<string> {
    return this.ask('metrics', readings)
  }

  private async decide(ask: ThrottleRequest, verdict: ThrottleVerdict): Promise<void> {
    const { bytes, start, end, interval, limit, quantity } = ask
    const key = Buffer.from(bytes.subarray(start, end))
    Object.assign(verdict, await this.ask<ThrottleVerdict>('throttle', { key, interval, limit, quantity }))
  }

  private ask<T>(method: string, ...args: unknown[]): Promise<T> {
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
