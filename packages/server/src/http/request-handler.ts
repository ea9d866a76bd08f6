import type { IncomingMessage } from 'node:http'
import { StoreUnavailable } from 'sluice'
import type { Awaitable } from '../awaitable.ts'
import type { Decider } from '../decider/decider.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { API } from './api.ts'
import type { Authorizer, Caller } from './authorizer.ts'
import { BadRequest, type HttpAnswer, isMisuse, json, problem } from './http-answer.ts'
import type { ApiRoute } from './route.ts'
import { isAsked } from './routes/asked-about.ts'
import { type DecideSite, decide } from './routes/decide.ts'
import { openApi } from './routes/openapi.ts'
import { studioFile } from './routes/studio.ts'

export interface RequestHandlerOptions {
  readonly decider: Decider
  readonly authorizer: Authorizer
  readonly metrics: Metrics
  /** The metrics for Prometheus, summed over all processes. */
  readonly metricsText: () => Awaitable<string>
  /** A function, since rules change while the server runs. */
  readonly site: () => DecideSite
  /** The rules for Envoy, one per line. */
  readonly descriptorList: () => string
  readonly onError: (error: unknown) => void
}

export function callerOf({ headers, socket }: IncomingMessage): Caller {
  const { authorization, host, origin } = headers
  return { authorization, host, origin, peer: socket.remoteAddress }
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'
const SOON = { 'Retry-After': '1' }
/** The pages besides the API. */
const HEALTH = ['/healthz', '/readyz', '/healthcheck']
const PAGES = ['/', ...HEALTH, '/metrics', '/openapi.json', '/rlconfig']

/** Finds the answer to a request. The server reads the request and sends the answer. */
export class RequestHandler {
  isDraining = false
  private readonly options: RequestHandlerOptions
  private readonly routes = new Map(API.map(route => [`${route.method} ${route.path}`, route]))

  constructor(options: RequestHandlerOptions) {
    this.options = options
  }

  routeOf(method: string | undefined, path: string): ApiRoute | undefined {
    return this.routes.get(`${method === 'HEAD' ? 'GET' : method} ${path}`)
  }

  /** Answers a call that was authorized. `text` is its body or its query. */
  api(route: ApiRoute, text: string): Awaitable<HttpAnswer> {
    return route.answer(text, this.options.decider)
  }

  /** Answers requests that are not calls of the API. */
  other(path: string, query: string, request: IncomingMessage): Awaitable<HttpAnswer> {
    if (path === '/v1/decide' || isAsked(request)) return this.decide(query, request)
    const isHealth = HEALTH.includes(path)
    if (!isHealth) this.options.authorizer.pass('page', callerOf(request))
    if (request.method !== 'GET' && request.method !== 'HEAD') throw this.missing(path)
    switch (path) {
      case '/healthz':
        return { status: 200, body: 'ok\n', type: 'text/plain' }
      case '/readyz':
        return !this.isDraining
          ? { status: 200, body: 'ready\n', type: 'text/plain' }
          : { status: 503, body: 'not ready\n', type: 'text/plain' }
      // The path that envoyproxy/ratelimit has, so that existing probes keep working.
      case '/healthcheck':
        return { status: this.isDraining ? 500 : 200, body: this.isDraining ? '' : 'OK', type: 'text/plain' }
      case '/rlconfig':
        this.options.authorizer.pass('check', callerOf(request))
        return { status: 200, body: this.options.descriptorList(), type: 'text/plain; charset=utf-8' }
      case '/metrics':
        return this.metrics(request)
      case '/openapi.json':
        return json(200, openApi())
      default: {
        const file = studioFile(path)
        if (file === undefined) throw this.missing(path)
        return file
      }
    }
  }

  /** Tells callers about their own mistakes. Of an internal error it tells only that there was one. */
  told(error: unknown): HttpAnswer {
    if (error instanceof BadRequest) return problem(error.status, error.message, error.fields)
    if (error instanceof StoreUnavailable) return problem(503, 'the store cannot be asked now', SOON)
    if (isMisuse(error)) return problem(400, error.message)
    this.options.onError(error)
    return problem(500, 'the request could not be answered')
  }

  private metrics(request: IncomingMessage): Awaitable<HttpAnswer> {
    this.options.authorizer.pass('check', callerOf(request))
    const page = (text: string): HttpAnswer => ({ status: 200, body: text, type: METRICS_TYPE })
    const text = this.options.metricsText()
    return text instanceof Promise ? text.then(page) : page(text)
  }

  private decide(query: string, request: IncomingMessage): Awaitable<HttpAnswer> {
    const { decider, site, authorizer, metrics } = this.options
    authorizer.pass('decide', callerOf(request))
    metrics.asked('decide')
    return decide(request, query, site(), decider)
  }

  private missing(path: string): BadRequest {
    const reads = PAGES.includes(path) || this.routes.has(`GET ${path}`)
    const writes = this.routes.has(`POST ${path}`)
    if (reads && writes) return new BadRequest(405, 'expected GET or POST', { Allow: 'GET, HEAD, POST' })
    if (reads) return new BadRequest(405, 'expected GET', { Allow: 'GET, HEAD' })
    if (writes) return new BadRequest(405, 'expected POST', { Allow: 'POST' })
    return new BadRequest(404, 'no such path: see /openapi.json')
  }
}
