import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Handlers } from '../fixtures/http/adapter-suite/handlers.ts'
import { EXPOSED, FAILED, IMPATIENT, type Open, PASSWORD, TEMPLATES } from '../fixtures/http/adapter-suite/site.ts'
import { adapterSuite, http2Suite } from '../fixtures/http/adapter-suite/suite.ts'
import { decisionOf, rateLimit } from './node.ts'

type Incoming = IncomingMessage | Http2ServerRequest
type Outgoing = (ServerResponse | Http2ServerResponse) & NodeJS.WritableStream

const open: Open = ({ limiters, handlers, http2 }) => {
  const limits = limiters.map(options => rateLimit({ routes: TEMPLATES, ...options }))
  const listener = (request: Incoming, response: Outgoing) => {
    if (request.headers.origin !== undefined) response.setHeader(...EXPOSED)
    if (request.headers[IMPATIENT] !== undefined) void handlers.giveUp().then(text => answer(response, 503, text))
    const from = (index: number) => (error?: unknown) => {
      const limit = limits[index]
      if (error !== undefined) fail(handlers, error, response)
      else if (limit !== undefined) limit(request, response, from(index + 1))
      else serve(handlers, request, response).catch(thrown => fail(handlers, thrown, response))
    }
    from(0)()
  }
  return http2 ? createHttp2Server(listener) : createServer(listener)
}

async function serve(handlers: Handlers, request: Incoming, response: Outgoing): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://site.test')
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const [, id = ''] = /^\/(?:orders|api\/items)\/([^/]+)$/.exec(pathname) ?? []
  switch (`${method} ${id === '' ? pathname : pathname.slice(0, -id.length)}`) {
    case 'GET /hello':
      return answer(response, 200, handlers.hello(decisionOf(request)))
    case 'GET /orders/':
      return answer(response, 200, handlers.order(id))
    case 'GET /api/items/':
      return answer(response, 200, handlers.item(id))
    case 'POST /login':
      return answer(response, handlers.login(request.headers[PASSWORD]), 'done')
    case 'GET /broken':
      return handlers.broken()
    case 'GET /slow':
      return answer(response, 200, await handlers.slow())
    case 'GET /stream':
      return pipeline(Readable.from(handlers.stream()), response)
    default:
      return answer(response, 404, 'nothing here')
  }
}

function answer(response: Outgoing, status: number, text: string): void {
  response.statusCode = status
  response.end(text)
}

function fail(handlers: Handlers, error: unknown, response: Outgoing): void {
  handlers.errors.push(error)
  if (response.headersSent) return
  response.setHeader(...FAILED)
  response.statusCode = 500
  response.end('failed')
}

adapterSuite('Node', open)
http2Suite('Node', open)
