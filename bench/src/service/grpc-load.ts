import { GrpcConnection } from './grpc-connection.ts'

export interface GrpcLoadOptions {
  readonly port: number
  readonly connections: number
  /** Calls under way on each connection. */
  readonly inFlight: number
  /** Whole request bodies, sent in turn. */
  readonly bodies: readonly Buffer[]
}

/** Reading the clock for every call would be a good part of the work. */
const TIMED_EVERY = 17

/** A few connections to one server with many calls on each. No library: the other core is the server's. */
export class GrpcLoad {
  private readonly options: GrpcLoadOptions
  private readonly connections: readonly GrpcConnection[]
  private readonly latenciesMs: number[] = []
  private asked = 0

  private constructor(options: GrpcLoadOptions, connections: readonly GrpcConnection[]) {
    this.options = options
    this.connections = connections
  }

  static async to(options: GrpcLoadOptions): Promise<GrpcLoad> {
    const connecting = Array.from({ length: options.connections }, () => GrpcConnection.to(options.port))
    return new GrpcLoad(options, await Promise.all(connecting))
  }

  /** Makes `count` calls, each as soon as an earlier one has ended, and resolves to the number of admitted ones. */
  send(count: number): Promise<number> {
    let left = count
    const ask = (connection: GrpcConnection) => {
      if (left-- > 0) connection.ask(this.nextBody(), this.asked % TIMED_EVERY === 0 ? performance.now() : undefined)
    }
    const ended = this.ended(count, ask)
    for (let i = 0; i < this.options.inFlight; i++) for (const connection of this.connections) ask(connection)
    return ended
  }

  /**
   * Makes so many calls a second, whether or not any has ended, and resolves with the number of those admitted. Each is
   * timed from when it was due: a server that keeps its callers waiting does not get away with it.
   */
  pace(perSecond: number, forMs: number): Promise<number> {
    const count = Math.ceil((perSecond * forMs) / 1000)
    const startedAt = performance.now()
    const dueAt = (call: number) => startedAt + (call * 1000) / perSecond
    let sent = 0
    const timer = setInterval(() => {
      for (const now = performance.now(); sent < count && dueAt(sent) <= now; sent++) {
        this.connections[sent % this.connections.length]!.ask(this.nextBody(), dueAt(sent))
      }
    }, 1)
    return this.ended(count, () => {}).finally(() => clearInterval(timer))
  }

  /** The latencies since the last time, in milliseconds. */
  takeLatencies(): number[] {
    return this.latenciesMs.splice(0)
  }

  close(): void {
    for (const connection of this.connections) connection.close()
  }

  private nextBody(): Buffer {
    const { bodies } = this.options
    return bodies[this.asked++ % bodies.length]!
  }

  private ended(count: number, onFree: (connection: GrpcConnection) => void): Promise<number> {
    return new Promise((resolve, reject) => {
      let left = count
      let admitted = 0
      for (const connection of this.connections) {
        connection.onFailure = reject
        connection.onEnded = (isAdmitted, tookMs) => {
          if (isAdmitted) admitted++
          if (tookMs !== undefined) this.latenciesMs.push(tookMs)
          if (--left === 0) resolve(admitted)
          else onFree(connection)
        }
      }
    })
  }
}
