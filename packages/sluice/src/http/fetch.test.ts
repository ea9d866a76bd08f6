import { createServer } from 'node:http2'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { expect, test } from 'vitest'
import { bytesOf } from '../fixtures/http/adapter-suite/bytes-of.ts'
import type { Handlers } from '../fixtures/http/adapter-suite/handlers.ts'
import { EXPOSED, FAILED, IMPATIENT, type Open, PASSWORD, TEMPLATES } from '../fixtures/http/adapter-suite/site.ts'
import { adapterSuite, http2Suite } from '../fixtures/http/adapter-suite/suite.ts'
import { withUpstream } from '../fixtures/http/adapter-suite/upstream.ts'
import { concurrency } from '../policy.ts'
import { decisionOf, rateLimit } from './fetch.ts'

const open: Open = ({ limiters, handlers, http2 }) => {
  let handler = (request: Request, _: HttpBindings): Promise<Response> =>
    serve(handlers, request).catch(failed(handlers))
  for (const options of limiters.toReversed()) handler = rateLimit({ routes: TEMPLATES, ...options })(handler)
  const fetch = async (request: Request, beside: HttpBindings) => {
    const late = async () => new Response(await handlers.giveUp(), { status: 503 })
    const answers = [handler(request, beside), ...(request.headers.has(IMPATIENT) ? [late()] : [])]
    const response = await Promise.race(answers)
    if (request.headers.has('origin')) response.headers.append(...EXPOSED)
    return response
  }
  return createAdaptorServer({ fetch: fetch as never, ...(http2 && { createServer }) })
}

const failed = (handlers: Handlers) => (error: unknown) => {
  handlers.errors.push(error)
  return new Response('failed', { status: 500, headers: { [FAILED[0]]: FAILED[1] } })
}

async function serve(handlers: Handlers, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  const [, id = ''] = /^\/(?:orders|api\/items)\/([^/]+)$/.exec(pathname) ?? []
  const method = request.method === 'HEAD' ? 'GET' : request.method
  switch (`${method} ${id === '' ? pathname : pathname.slice(0, -id.length)}`) {
    case 'GET /hello':
      return new Response(handlers.hello(decisionOf(request)))
    case 'GET /orders/':
      return new Response(handlers.order(id))
    case 'GET /api/items/':
      return new Response(handlers.item(id))
    case 'POST /login':
      return new Response('done', { status: handlers.login(request.headers.get(PASSWORD)) })
    case 'GET /broken':
      return handlers.broken()
    case 'GET /slow':
      return new Response(await handlers.slow())
    case 'GET /stream':
      return new Response(bytesOf(handlers.stream()))
    default:
      return new Response('nothing here', { status: 404 })
  }
}

adapterSuite('fetch', open, {
  'the handler of a response that was answered before does not run':
    'a Response is a value: what another one was sent instead of it is not known to who made it',
})
http2Suite('fetch', open)

test('what another server answered is sent on with the fields', async () => {
  await withUpstream(async url => {
    for (const policy of ['5/m', concurrency({ limit: 5, ttl: '1m' })] as const) {
      const limited = rateLimit({ policy })(() => fetch(url))
      const request = new Request('http://site.test/', { headers: { Origin: 'https://elsewhere.test' } })
      const response = await limited(request)
      expect([response.status, await response.text()]).toEqual([200, 'from afar'])
      expect(response.headers.get('ratelimit')).toContain('r=4')
      expect(response.headers.get(EXPOSED[0])).toBe(`${EXPOSED[1]}, RateLimit, RateLimit-Policy, Retry-After`)
    }
  })
})
