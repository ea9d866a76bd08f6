import type { ServerHttp2Session } from 'node:http2'
import type { GrpcCall } from './grpc-call.ts'
import type { OpenCalls } from './open-calls.ts'

export interface CallLimits {
  readonly patienceMs: number
  readonly keepaliveMs: number
}

const LONGEST_ROUND_MS = 1000
const ROUNDS_PER_PATIENCE = 4

/** Ends calls that take too long, and connections that do not answer pings. */
export class CallReaper {
  private readonly calls: NodeJS.Timeout
  private readonly pings: NodeJS.Timeout
  private readonly silent = new WeakSet<ServerHttp2Session>()

  constructor(
    open: OpenCalls<GrpcCall>,
    sessions: ReadonlySet<ServerHttp2Session>,
    { patienceMs, keepaliveMs }: CallLimits,
  ) {
    const roundMs = Math.min(LONGEST_ROUND_MS, patienceMs / ROUNDS_PER_PATIENCE)
    this.calls = setInterval(() => {
      const now = performance.now()
      for (const call of open.all()) call.expire(now, patienceMs)
    }, roundMs).unref()
    this.pings = setInterval(() => {
      for (const session of sessions) this.ping(session)
    }, keepaliveMs).unref()
  }

  stop(): void {
    clearInterval(this.calls)
    clearInterval(this.pings)
  }

  private ping(session: ServerHttp2Session): void {
    if (session.destroyed) return
    if (this.silent.has(session)) {
      session.destroy()
      return
    }
    this.silent.add(session)
    session.ping(error => {
      if (error === null) this.silent.delete(session)
    })
  }
}
