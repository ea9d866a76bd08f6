import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StoreUnavailable } from 'sluice'
import type { Decider, Maybe } from '../decider/decider.ts'
import type { Metrics } from '../metrics.ts'
import { API } from './api.ts'
import { isAsked } from './asked-about.ts'
import { type DecideSite, decide } from './decide.ts'
import { type Answer, BadRequest, isMisuse, json, problem, readBody } from './exchange.ts'
import type { Gate } from './gate.ts'
import { openApi } from './openapi.ts'
import { Outbox } from './outbox.ts'
import { PAGE } from './page.ts'
import type { Route } from './route.ts'

export interface HttpOptions {
  readonly host: string
  readonly port: number
  readonly decider: Decider
  readonly gate: Gate
  readonly metrics: Metrics
  /** What Prometheus reads; of several processes, what all of them counted. */
  readonly metricsText: () => Maybe<string>
  /** Rules change while the door is open. */
  readonly site: () => DecideSite
  readonly onError: (error: unknown) => void
  readonly bounds?: Partial<Bounds>
}

export interface HttpDoor {
  readonly port: number
  /** Lets nobody in, answers those inside, and closes; after `graceMs` whatever is left. */
  close(graceMs: number): Promise<void>
}

/** Slow and large clients are bounded by what Node checks, and told in its words; bodies by `readBody`. */
export const BOUNDS = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  /** Until a client that does not read its answers is cut off. */
  stuckMs: 30_000,
}
export type Bounds = Readonly<typeof BOUNDS>

/** How soon a connection is closed whose last answer is out, while the door closes. */
const SWEEP_MS = 10

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
const READ = { Allow: 'GET, HEAD' }
const WRITE = { Allow: 'POST' }
const SOON = { 'Retry-After': '1' }
/** What can be read beside the API. */
const PAGES = ['/', '/healthz', '/readyz', '/metrics', '/openapi.json']

export function startHttp(options: HttpOptions): Promise<HttpDoor> {
  const door = new Door(options)
  const bounds: Bounds = { ...BOUNDS, ...options.bounds }
  const server = createServer(bounds, (request, response) => door.enter(request, response))
  server.timeout = bounds.stuckMs
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, () => {
      server.off('error', reject)
      resolve({ port: (server.address() as AddressInfo).port, close: graceMs => door.close(server, graceMs) })
    })
  })
}

class Door {
  private readonly options: HttpOptions
  private readonly routes = new Map(API.map(route => [`${route.method} ${route.path}`, route]))
  private readonly outbox: Outbox
  private draining = false

  constructor(options: HttpOptions) {
    this.options = options
    this.outbox = new Outbox(options.onError)
  }

  enter(request: IncomingMessage, response: ServerResponse): void {
    if (this.draining) response.setHeader('Connection', 'close')
    const target = request.url ?? '/'
    const mark = target.indexOf('?')
    const path = mark === -1 ? target : target.slice(0, mark)
    const query = mark === -1 ? '' : target.slice(mark + 1)
    const route = this.routes.get(`${request.method === 'HEAD' ? 'GET' : request.method} ${path}`)
    if (route !== undefined) this.api(route, query, request, response)
    else this.attempt(response, () => this.other(path, query, request))
  }

  async close(server: Server, graceMs: number): Promise<void> {
    this.draining = true
    const closed = new Promise<void>(resolve => server.close(() => resolve()))
    // One that was asked something stays open after its answer, for as long as its client likes.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
    const grace = setTimeout(() => server.closeAllConnections(), graceMs)
    await closed
    clearInterval(sweep)
    clearTimeout(grace)
  }

  private api(route: Route, query: string, request: IncomingMessage, response: ServerResponse): void {
    const { gate, decider, metrics } = this.options
    try {
      // Nobody has to take in the body of a stranger.
      gate.pass(route.right, request)
    } catch (error) {
      this.outbox.put(response, this.told(error))
      return
    }
    metrics.asked('http')
    if (route.method === 'GET') this.attempt(response, () => route.answer(query, decider))
    else {
      readBody(request, (error, text) =>
        this.attempt(response, () => {
          if (error !== undefined) throw error
          return route.answer(text, decider)
        }),
      )
    }
  }

  private other(path: string, query: string, request: IncomingMessage): Maybe<Answer> {
    const { metricsText, gate } = this.options
    if (path === '/v1/decide' || isAsked(request)) return this.decide(query, request)
    if (request.method !== 'GET' && request.method !== 'HEAD') throw this.missing(path)
    switch (path) {
      case '/':
        return PAGE
      case '/healthz':
        return { status: 200, body: 'ok\n', type: 'text/plain' }
      case '/readyz':
        return !this.draining
          ? { status: 200, body: 'ready\n', type: 'text/plain' }
          : { status: 503, body: 'not ready\n', type: 'text/plain' }
      case '/metrics': {
        gate.pass('check', request)
        const page = (text: string): Answer => ({ status: 200, body: text, type: METRICS_TYPE })
        const text = metricsText()
        return text instanceof Promise ? text.then(page) : page(text)
      }
      case '/openapi.json':
        return json(200, openApi())
      default:
        throw this.missing(path)
    }
  }

  private decide(query: string, request: IncomingMessage): Maybe<Answer> {
    const { decider, site, gate, metrics } = this.options
    gate.pass('check', request)
    metrics.asked('decide')
    return decide(request, query, site(), decider)
  }

  private missing(path: string): BadRequest {
    if (PAGES.includes(path) || this.routes.has(`GET ${path}`)) return new BadRequest(405, 'expected GET', READ)
    if (this.routes.has(`POST ${path}`)) return new BadRequest(405, 'expected POST', WRITE)
    return new BadRequest(404, 'no such path: see /openapi.json')
  }

  /** Sends what `work` answers, now or later, or what its error tells. */
  private attempt(response: ServerResponse, work: () => Maybe<Answer>): void {
    const { outbox } = this
    try {
      const answer = work()
      if (answer instanceof Promise) {
        answer.then(
          made => outbox.put(response, made),
          error => outbox.put(response, this.told(error)),
        )
      } else outbox.put(response, answer)
    } catch (error) {
      outbox.put(response, this.told(error))
    }
  }

  /** A caller's mistake is told; of ours, only that there was one. */
  private told(error: unknown): Answer {
    if (error instanceof BadRequest) return problem(error.status, error.message, error.fields)
    if (error instanceof StoreUnavailable) return problem(503, 'the store cannot be asked now', SOON)
    if (isMisuse(error)) return problem(400, error.message)
    this.options.onError(error)
    return problem(500, 'the request could not be answered')
  }
}
