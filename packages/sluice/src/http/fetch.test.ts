import { createServer } from 'node:http2'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { expect, test } from 'vitest'
import { concurrency } from '../policy.ts'
import { rateLimit } from './fetch.ts'
import { bytesOf } from './fixtures/adapter-suite/bytes-of.ts'
import { EXPOSED, FAILED, type Open, PASSWORD, TEMPLATES } from './fixtures/adapter-suite/site.ts'
import type { Stage } from './fixtures/adapter-suite/stage.ts'
import { adapterSuite, http2Suite } from './fixtures/adapter-suite/suite.ts'

const open: Open = ({ limiters, stage, http2 }) => {
  let handler = (request: Request, _: HttpBindings): Promise<Response> => serve(stage, request).catch(failed)
  for (const options of limiters.toReversed()) handler = rateLimit({ routes: TEMPLATES, ...options })(handler)
  const fetch = async (request: Request, beside: HttpBindings) => {
    const response = await handler(request, beside)
    if (request.headers.has('origin')) response.headers.append(...EXPOSED)
    return response
  }
  return createAdaptorServer({ fetch: fetch as never, ...(http2 && { createServer }) })
}

function failed(): Response {
  return new Response('failed', { status: 500, headers: { [FAILED[0]]: FAILED[1] } })
}

async function serve(stage: Stage, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  const [, id = ''] = /^\/(?:orders|api\/items)\/([^/]+)$/.exec(pathname) ?? []
  const method = request.method === 'HEAD' ? 'GET' : request.method
  switch (`${method} ${id === '' ? pathname : pathname.slice(0, -id.length)}`) {
    case 'GET /hello':
      return new Response(stage.hello())
    case 'GET /orders/':
      return new Response(stage.order(id))
    case 'GET /api/items/':
      return new Response(stage.item(id))
    case 'POST /login':
      return new Response('done', { status: stage.login(request.headers.get(PASSWORD)) })
    case 'GET /broken':
      return stage.broken()
    case 'GET /slow':
      return new Response(await stage.slow())
    case 'GET /stream':
      return new Response(bytesOf(stage.stream()))
    default:
      return new Response('nothing here', { status: 404 })
  }
}

adapterSuite('fetch', open)
http2Suite('fetch', open)

/** What `fetch` answers cannot be changed either. */
test('a response that cannot be changed is sent with the fields', async () => {
  for (const policy of ['5/m', concurrency({ limit: 5, ttl: '1m' })] as const) {
    const limited = rateLimit({ policy })(() => Response.redirect('http://site.test/there'))
    const response = await limited(new Request('http://site.test/'))
    expect([response.status, response.headers.get('location')]).toEqual([302, 'http://site.test/there'])
    expect(response.headers.get('ratelimit')).toContain('r=4')
  }
})

test('what the handler exposes to other origins stays exposed', async () => {
  const limited = rateLimit({ policy: '5/m' })(() => new Response('', { headers: { [EXPOSED[0]]: EXPOSED[1] } }))
  const response = await limited(new Request('http://site.test/', { headers: { Origin: 'https://elsewhere.test' } }))
  expect(response.headers.get(EXPOSED[0])).toBe(`${EXPOSED[1]}, RateLimit, RateLimit-Policy, Retry-After`)
})
