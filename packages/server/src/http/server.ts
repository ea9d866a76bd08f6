import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Decider, Maybe } from '../decider/decider.ts'
import type { Metrics } from '../metrics.ts'
import { API, type Route } from './api.ts'
import { answerProxy, type DecideSite, isAsked, subjectOf } from './decide.ts'
import { type Answer, BadRequest, json, problem, readBody, send } from './exchange.ts'
import type { Gate } from './gate.ts'
import { openApi } from './openapi.ts'
import { PAGE } from './page.ts'

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
}

export interface HttpDoor {
  readonly port: number
  /** Lets nobody in, answers those inside, and closes; after `graceMs` whatever is left. */
  close(graceMs: number): Promise<void>
}

/** Slow and large clients are bounded by what Node checks; bodies by `readBody`. */
const BOUNDS = {
  headersTimeout: 5000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1000,
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
} as const

export function startHttp(options: HttpOptions): Promise<HttpDoor> {
  const door = new Door(options)
  const server = createServer(BOUNDS, (request, response) => door.enter(request, response))
  server.on('clientError', (_, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
  })
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
  private draining = false

  constructor(options: HttpOptions) {
    this.options = options
  }

  enter(request: IncomingMessage, response: ServerResponse): void {
    if (this.draining) response.setHeader('Connection', 'close')
    const target = request.url ?? '/'
    const mark = target.indexOf('?')
    const path = mark === -1 ? target : target.slice(0, mark)
    const query = mark === -1 ? '' : target.slice(mark + 1)
    const route = this.routes.get(`${request.method} ${path}`)
    if (route !== undefined) this.api(route, query, request, response)
    else this.attempt(response, () => this.other(path, query, request))
  }

  async close(server: Server, graceMs: number): Promise<void> {
    this.draining = true
    const closed = new Promise<void>(resolve => server.close(() => resolve()))
    server.closeIdleConnections()
    const timer = setTimeout(() => server.closeAllConnections(), graceMs)
    await closed
    clearTimeout(timer)
  }

  private api(route: Route, query: string, request: IncomingMessage, response: ServerResponse): void {
    const { gate, decider, metrics } = this.options
    const answer = (text: string) => {
      gate.pass(route.right, request)
      metrics.asked('http')
      return route.answer(text, decider)
    }
    if (route.method === 'GET') this.attempt(response, () => answer(query))
    else {
      readBody(request, (error, text) =>
        this.attempt(response, () => {
          if (error !== undefined) throw error
          return answer(text)
        }),
      )
    }
  }

  private other(path: string, query: string, request: IncomingMessage): Maybe<Answer> {
    const { metricsText, gate } = this.options
    if (path === '/v1/decide' || path.startsWith('/v1/decide/') || isAsked(request)) return this.decide(query, request)
    if (request.method !== 'GET' && request.method !== 'HEAD') throw this.missing(path)
    switch (path) {
      case '/':
        return { status: 200, body: PAGE, type: 'text/html; charset=utf-8' }
      case '/healthz':
        return { status: 200, body: 'ok\n', type: 'text/plain' }
      case '/readyz':
        return !this.draining
          ? { status: 200, body: 'ready\n', type: 'text/plain' }
          : { status: 503, body: 'not ready\n', type: 'text/plain' }
      case '/metrics': {
        gate.pass('check', request)
        const page = (text: string): Answer => ({ status: 200, body: text, type: 'text/plain; version=0.0.4' })
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
    const asked = new URLSearchParams(query)
    const place = site()
    const subject = subjectOf(request, asked, place)
    const decision = decider.check({ subject, cost: 1 })
    return decision instanceof Promise
      ? decision.then(made => answerProxy(made, subject, asked, place.limits))
      : answerProxy(decision, subject, asked, place.limits)
  }

  private missing(path: string): BadRequest {
    const methods = ['GET', 'POST'].filter(method => this.routes.has(`${method} ${path}`))
    if (methods.length > 0) return new BadRequest(405, `expected ${methods.join(' or ')}`)
    return new BadRequest(404, 'no such path: see /openapi.json')
  }

  /** Sends what `work` answers, now or later, or what its error tells. */
  private attempt(response: ServerResponse, work: () => Maybe<Answer>): void {
    try {
      const answer = work()
      if (answer instanceof Promise)
        answer.then(made => send(response, made)).catch(error => this.fail(response, error))
      else send(response, answer)
    } catch (error) {
      this.fail(response, error)
    }
  }

  /** A caller's mistake is told; of ours, only that there was one. */
  private fail(response: ServerResponse, error: unknown): void {
    if (error instanceof BadRequest) send(response, problem(error.status, error.message))
    else if (isMisuse(error)) send(response, problem(400, error.message))
    else {
      this.options.onError(error)
      send(response, problem(500, 'the request could not be answered'))
    }
  }
}

/** Of the library, here or in the process that decides. An outage carries such a code too, but is nobody's misuse. */
function isMisuse(error: unknown): error is Error {
  const { name, code } = Object(error) as { name?: unknown; code?: unknown }
  return error instanceof Error && name !== 'StoreUnavailable' && String(code).startsWith('SLUICE_')
}
