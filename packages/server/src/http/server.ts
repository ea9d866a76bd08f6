import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Awaitable } from '../awaitable.ts'
import type { Certificates } from '../net/certificates.ts'
import { listen } from '../net/listen.ts'
import { ResponseQueue } from '../net/response-queue.ts'
import { API } from './api.ts'
import { type HttpAnswer, readBody } from './http-answer.ts'
import { PlainConnection, type PlainConnectionHost } from './plain-connection.ts'
import { type PlainHead, PlainHeads } from './plain-head.ts'
import { reply } from './queued-answer.ts'
import { callerOf, RequestHandler, type RequestHandlerOptions } from './request-handler.ts'
import type { ApiRoute } from './route.ts'

export interface HttpOptions extends RequestHandlerOptions {
  /** A port, or a unix socket for the user who runs the service. */
  readonly where: { readonly host: string; readonly port: number } | { readonly path: string }
  readonly bounds?: Partial<Bounds>
  /** Without certificates the server speaks unencrypted HTTP. */
  readonly certificates?: Certificates | undefined
}

export interface HttpDoor {
  /** -1 for a unix socket. */
  readonly port: number
  /** Goes on serving, but answers `/readyz` with 503 and closes each connection after its next answer. */
  drain(): void
  /** Accepts no more connections, answers the requests it has, and closes. Cuts off what is left after `graceMs`. */
  close(graceMs: number): Promise<void>
}

/** Node's own checks limit slow clients and large heads, and Node answers those; `readBody` limits bodies. */
export const BOUNDS = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  /** How long a client may leave its answers unread before it is cut off. */
  stuckMs: 30_000,
}
export type Bounds = Readonly<typeof BOUNDS>

/** How soon a connection is closed after its last answer, while the server closes. */
const SWEEP_MS = 10

export async function startHttp(options: HttpOptions): Promise<HttpDoor> {
  const bounds: Bounds = { ...BOUNDS, ...options.bounds }
  const server = serverOf(options.certificates, bounds)
  server.timeout = bounds.stuckMs
  const door = new HttpConnections(options, bounds, server)
  await listen(server, options.where)
  const address = server.address() as AddressInfo | string
  return {
    port: typeof address === 'string' ? -1 : address.port,
    drain: () => door.drain(),
    close: graceMs => door.close(graceMs),
  }
}

function serverOf(certificates: Certificates | undefined, bounds: Bounds): Server {
  if (certificates === undefined) return createServer(bounds)
  const { current } = certificates
  const asksClients = current.ca !== undefined
  const server = createTlsServer({
    ...bounds,
    ...current,
    requestCert: asksClients,
    rejectUnauthorized: asksClients,
    handshakeTimeout: bounds.headersTimeout,
  })
  certificates.follow(server)
  return server
}

/** Every connection starts as a `PlainConnection`, which hands it to Node's HTTP server if needed. */
class HttpConnections implements PlainConnectionHost {
  readonly heads = new PlainHeads(API)
  readonly open = new Set<PlainConnection>()
  readonly keepAliveMs: number
  readonly keepAlive: string
  readonly firstWordMs: number
  readonly takeTheLongWay: (socket: Socket) => void
  private readonly options: HttpOptions
  private readonly server: Server
  private readonly handler: RequestHandler
  private readonly queue: ResponseQueue
  /** All connected sockets, including those that have not begun TLS. */
  private readonly sockets = new Set<Socket>()

  constructor(options: HttpOptions, bounds: Bounds, server: Server) {
    this.options = options
    this.server = server
    this.handler = new RequestHandler(options)
    this.keepAliveMs = bounds.keepAliveTimeout
    this.keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(this.keepAliveMs / 1000)}\r\n`
    this.firstWordMs = bounds.headersTimeout
    this.queue = new ResponseQueue(options.onError)
    const event = options.certificates === undefined ? 'connection' : 'secureConnection'
    const [serveByNode] = server.listeners(event) as [(socket: Socket) => void]
    this.takeTheLongWay = socket => serveByNode.call(server, socket)
    server.removeAllListeners(event)
    server.on(event, (socket: Socket) => new PlainConnection(socket, this))
    if (options.certificates !== undefined) server.on('connection', (socket: Socket) => this.remember(socket))
    server.on('request', (request, response) => this.enter(request, response))
  }

  get isDraining(): boolean {
    return this.handler.isDraining
  }

  /** Serves a plain request. */
  serve(head: PlainHead, body: string, connection: PlainConnection): void {
    const { authorizer, metrics } = this.options
    this.attempt(
      () => {
        authorizer.pass('check', { ...head, peer: connection.peer })
        metrics.asked('http')
        return this.handler.api(head.route, body)
      },
      answer => connection.answer(answer, this.queue),
    )
  }

  drain(): void {
    this.handler.isDraining = true
  }

  /** Accepts no more connections, and closes each open one when its request is answered. */
  async close(graceMs: number): Promise<void> {
    this.drain()
    const closed = new Promise<void>(resolve => this.server.close(() => resolve()))
    // After its answer a connection stays open until its client closes it, so idle ones are closed here.
    const sweep = setInterval(() => this.closeIdle(), SWEEP_MS)
    const grace = setTimeout(() => this.closeAll(), graceMs)
    this.closeIdle()
    await closed
    clearInterval(sweep)
    clearTimeout(grace)
  }

  private closeIdle(): void {
    this.server.closeIdleConnections()
    for (const connection of this.open) connection.closeIfIdle()
  }

  private closeAll(): void {
    this.server.closeAllConnections()
    for (const connection of this.open) connection.destroy()
    for (const socket of this.sockets) socket.destroy()
  }

  private remember(socket: Socket): void {
    this.sockets.add(socket)
    socket.once('close', () => this.sockets.delete(socket))
  }

  private enter(request: IncomingMessage, response: ServerResponse): void {
    const { handler } = this
    if (handler.isDraining) response.setHeader('Connection', 'close')
    const target = request.url ?? '/'
    const mark = target.indexOf('?')
    const path = mark === -1 ? target : target.slice(0, mark)
    const query = mark === -1 ? '' : target.slice(mark + 1)
    const route = handler.routeOf(request.method, path)
    if (route !== undefined) this.api(route, query, request, response)
    else this.respond(response, () => handler.other(path, query, request))
  }

  private api(route: ApiRoute, query: string, request: IncomingMessage, response: ServerResponse): void {
    const { handler } = this
    try {
      // The body of a refused caller is not read.
      this.options.authorizer.pass(route.right, callerOf(request))
    } catch (error) {
      reply(this.queue, response, handler.told(error))
      return
    }
    this.options.metrics.asked('http')
    if (route.method === 'GET') this.respond(response, () => handler.api(route, query))
    else {
      readBody(request, (error, text) =>
        this.respond(response, () => {
          if (error !== undefined) throw error
          return handler.api(route, text)
        }),
      )
    }
  }

  private respond(response: ServerResponse, work: () => Awaitable<HttpAnswer>): void {
    this.attempt(work, answer => reply(this.queue, response, answer))
  }

  /** Passes on the answer of `work`, now or later, or the answer to its error. */
  private attempt(work: () => Awaitable<HttpAnswer>, put: (answer: HttpAnswer) => void): void {
    const { handler } = this
    try {
      const answer = work()
      if (answer instanceof Promise) answer.then(put, error => put(handler.told(error)))
      else put(answer)
    } catch (error) {
      put(handler.told(error))
    }
  }
}
