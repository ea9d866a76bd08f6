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
  /** 0 takes a free port. */
  port: number
  /** Without it, HTTP/2 is unencrypted. With `ca`, only clients with a certificate of that authority are served. */
  tls?: { key: string | Buffer; cert: string | Buffer; ca?: string | Buffer }
  /** Called with the server that uses `tls`, so that its certificate can be replaced. */
  onTls?: (server: Pick<TlsServer, 'setSecureContext'>) => void
  /** Checks the `authorization` header of a call. Health checks need none. Without this, every caller is served. */
  opens?: (authorization: string | undefined) => boolean
  /** The largest request; 256 KiB by default. */
  maxMessageBytes?: number
  /** Calls at a time on one connection; 1,000 by default. HTTP/2 refuses further calls, which the caller may retry. */
  maxConcurrentStreams?: number
  /** How long a call may take, whether it waits for the request, the decision or the reader: 5 s by default. */
  patienceMs?: number
  /** How often a connection is pinged; 30 s by default. It is closed if it has not answered by the next ping. */
  keepaliveMs?: number
  /** Called with errors of the service that carry no gRPC status. */
  onError?: (error: unknown) => void
}

export interface GrpcServer {
  readonly port: number
  /** Goes on serving, but reports NOT_SERVING and sends GOAWAY, so that clients make their next calls elsewhere. */
  drain(): void
  /** Reports NOT_SERVING, accepts no more connections, answers open calls, closes; cuts off the rest after `graceMs` (5 s). */
  close(graceMs?: number): Promise<void>
}

/** Enough for every legitimate client: Envoy sends ten headers. */
const MOST_HEADERS = 100
const MOST_HEADER_BYTES = 16 * 1024
const TLS_HANDSHAKE_MS = 10_000

/** The largest value of every count and time in the options. */
const MOST = 2 ** 31 - 1

const GRPC = /^application\/grpc(\+proto)?(;|$)/i

/** Serves Envoy's rate limit service, version 3, and the health service over gRPC. Resolves when it listens. */
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
  stream.on('error', () => {}) // the client or the connection has ended, so no answer can be sent
  if (stream.closed) return // it closed before this handler ran
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

/** Answers a client that does not speak gRPC in plain HTTP. */
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
