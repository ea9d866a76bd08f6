import {
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import { SluiceError } from 'sluice'
import { ResponseQueue } from '../../net/response-queue.ts'
import type { RateLimitService } from '../service.ts'
import { CallReaper } from './call-reaper.ts'
import { type CallContext, GrpcCall } from './grpc-call.ts'
import { refuse } from './grpc-refusal.ts'
import { GrpcError, toldOf } from './grpc-status.ts'
import { Health } from './health.ts'
import { methodsOf } from './methods.ts'
import { OpenCalls } from './open-calls.ts'

export interface GrpcOptions {
  service: RateLimitService
  /** Loopback by default. */
  host?: string
  /** 0 takes a free one. */
  port: number
  /** Without it, HTTP/2 in clear. With `ca`, only clients with a certificate from there are served. */
  tls?: { key: string | Buffer; cert: string | Buffer; ca?: string | Buffer }
  /** Hears of the server that has `tls`, so that it can be given another certificate. */
  onTls?: (server: Pick<TlsServer, 'setSecureContext'>) => void
  /** Whether the value of an `authorization` header may ask; health checks need none. Without it, everybody may. */
  opens?: (authorization: string | undefined) => boolean
  /** Of a request; 256 KiB by default. */
  maxMessageBytes?: number
  /** On one connection; 1,000 by default. What is more is refused by the protocol, and the caller may ask again. */
  maxConcurrentStreams?: number
  /** A call is given up after so long, whether it waits for its sender, an answer or its reader: 5 s by default. */
  patienceMs?: number
  /** A connection is asked so often whether it is still there, and closed if it has not said so by the next time: 30 s. */
  keepaliveMs?: number
  /** Hears of what the service threw, other than errors that carry a gRPC status. */
  onError?: (error: unknown) => void
}

export interface GrpcServer {
  readonly port: number
  /** Goes on serving, but says NOT_SERVING, and sends GOAWAY: what clients ask next comes over another connection. */
  drain(): void
  /** Says NOT_SERVING, accepts nobody any more, answers what has come in, and closes; after `graceMs`, 5 s by default, whatever is left. */
  close(graceMs?: number): Promise<void>
}

/** Nobody who is meant to be here needs more: Envoy sends ten headers. */
const MOST_HEADERS = 100
const MOST_HEADER_BYTES = 16 * 1024
const TLS_HANDSHAKE_MS = 10_000

/** Of anything that is counted or timed here. */
const MOST = 2 ** 31 - 1

const GRPC = /^application\/grpc(\+proto)?(;|$)/i

/** Envoy's rate limit service, version 3, and the health service, over gRPC. Comes back when it listens. */
export async function startGrpc(options: GrpcOptions): Promise<GrpcServer> {
  const { host = '127.0.0.1', port, service, onError = () => {} } = options
  const { maxMessageBytes = 256 * 1024, maxConcurrentStreams = 1000 } = options
  const { patienceMs = 5000, keepaliveMs = 30_000 } = options
  for (const [name, value] of Object.entries({ maxMessageBytes, maxConcurrentStreams, patienceMs, keepaliveMs })) {
    if (!Number.isInteger(value) || value < 1 || value > MOST) {
      throw bad(`${name} as a whole number from 1 to ${MOST}`, value)
    }
  }

  const health = new Health()
  const methods = methodsOf(service, health)
  const context: CallContext = {
    methods,
    maxMessageBytes,
    open: new OpenCalls(),
    queue: new ResponseQueue(onError),
    onError,
  }
  const sessions = new Set<ServerHttp2Session>()
  const server = serverOf(options, maxConcurrentStreams)
  let isClosing = false
  server.on('stream', (stream, headers) => serve(stream, headers, context, options.opens))
  server.on('session', session => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    if (isClosing) session.close()
  })
  await listen(server, host, port)
  const housekeeping = new CallReaper(context.open, sessions, { patienceMs, keepaliveMs })
  return {
    port: (server.address() as AddressInfo).port,
    drain() {
      health.leave()
      for (const session of sessions) session.close()
    },
    async close(graceMs = 5000) {
      isClosing = true
      const closed = new Promise(resolve => server.close(resolve))
      health.leave()
      for (const session of sessions) session.close()
      const grace = setTimeout(
        () => {
          for (const session of sessions) session.destroy()
        },
        Math.min(graceMs, MOST),
      )
      await closed
      clearTimeout(grace)
      housekeeping.stop()
    },
  }
}

function serve(
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  context: CallContext,
  opens: GrpcOptions['opens'],
): void {
  stream.on('error', () => {}) // the other side broke it off, or the connection did; nobody is left to tell
  if (stream.closed) return // so soon that nobody had heard of it
  const status = httpStatusOf(headers)
  if (status !== 200) {
    turnAway(stream, status)
    return
  }
  try {
    if (opens !== undefined && !isHealth(headers) && !opens(headers.authorization)) {
      throw new GrpcError('UNAUTHENTICATED', 'expected authorization: Bearer with the check token')
    }
    context.open.add(new GrpcCall(stream, headers, context))
  } catch (error) {
    refuse(stream, toldOf(error), false)
  }
}

function isHealth(headers: IncomingHttpHeaders): boolean {
  return headers[':path']?.startsWith('/grpc.health.v1.Health/') === true
}

function httpStatusOf(headers: IncomingHttpHeaders): number {
  if (!GRPC.test(headers['content-type'] ?? '')) return 415
  return headers[':method'] === 'POST' ? 200 : 405
}

/** It does not speak gRPC, so it is told in HTTP. */
function turnAway(stream: ServerHttp2Stream, status: number): void {
  stream.respond({ ':status': status }, { endStream: true })
  stream.close()
}

function serverOf({ tls, onTls }: GrpcOptions, maxConcurrentStreams: number): Http2Server {
  const settings = { maxConcurrentStreams, maxHeaderListSize: MOST_HEADER_BYTES, enablePush: false }
  const limits = { settings, maxHeaderListPairs: MOST_HEADERS }
  if (tls === undefined) return createServer(limits)
  const hasClients = tls.ca !== undefined
  const server = createSecureServer({
    ...limits,
    ...tls,
    requestCert: hasClients,
    rejectUnauthorized: hasClients,
    handshakeTimeout: TLS_HANDSHAKE_MS,
  })
  onTls?.(server)
  return server
}

function listen(server: Http2Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function bad(what: string, got: unknown): SluiceError {
  return new SluiceError('SLUICE_BAD_OPTION', `expected ${what}, got ${String(got)}`)
}
