import { createServer } from 'node:http2'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { bytesOf } from '../fixtures/http/adapter-suite/bytes-of.ts'
import { EXPOSED, FAILED, IMPATIENT, type Open, PASSWORD } from '../fixtures/http/adapter-suite/site.ts'
import { adapterSuite, http2Suite } from '../fixtures/http/adapter-suite/suite.ts'
import { templates } from '../fixtures/http/adapter-suite/templates.ts'
import { withUpstream } from '../fixtures/http/adapter-suite/upstream.ts'
import { concurrency } from '../policy.ts'
import { decisionOf, rateLimit } from './hono.ts'

const open: Open = ({ limiters, handlers, http2 }) => {
  const app = new Hono()
  app.use(async (context, next) => {
    if (context.req.header('origin') !== undefined) context.header(...EXPOSED)
    if (context.req.header(IMPATIENT) === undefined) return next()
    const late = handlers.giveUp().then(text => context.text(text, 503))
    return (await Promise.race([late, next()])) ?? undefined
  })
  for (const options of limiters) app.use(rateLimit(options))
  app.get('/hello', context => {
    expect(context.get('rateLimit')).toBe(decisionOf(context))
    return context.text(handlers.hello(decisionOf(context)))
  })
  app.get('/orders/:id', context => context.text(handlers.order(context.req.param('id'))))
  app.post('/login', context => context.text('done', handlers.login(context.req.header(PASSWORD))))
  app.get('/broken', () => handlers.broken())
  app.get('/slow', async context => context.text(await handlers.slow()))
  app.get('/stream', context => context.body(bytesOf(handlers.stream())))
  app.route(
    '/api',
    new Hono().get('/items/:id', context => context.text(handlers.item(context.req.param('id')))),
  )
  app.onError((error, context) => {
    handlers.errors.push(error)
    return context.text('failed', 500, { [FAILED[0]]: FAILED[1] })
  })
  return createAdaptorServer({ fetch: app.fetch, ...(http2 && { createServer }) })
}

adapterSuite('Hono on Node', open, {
  'the handler of a response that was answered before does not run':
    'a Response is a value: what another one was sent instead of it is not known to who made it',
})
http2Suite('Hono on Node', open)

test('a pattern for many paths is not the template of what another route serves', async () => {
  const open: Open = ({ limiters }) => {
    const app = new Hono().use(rateLimit(limiters[0]!))
    app.get('/admin/*', (_, next) => next())
    app.get('/admin/users', context => context.text('users'))
    app.all('/any/:id', context => context.text('any'))
    app.get('*', context => context.text('the page'))
    return createAdaptorServer({ fetch: app.fetch })
  }
  const paths = ['/admin/users', '/any/1', '/else', '/else/1']
  expect(await templates(open, paths)).toEqual(['/admin/users', '/any/:id', '/*', '/*'])
})

test('a pattern for all methods is the route of what it serves, and middleware is none', async () => {
  const open: Open = ({ limiters }) => {
    const app = new Hono().use((_, next) => next()).use(rateLimit(limiters[0]!))
    app.use('/files/*', (_, next) => next())
    app.all('/files/*', context => context.text('a file'))
    app.all('/passed/*', async (_, next) => next())
    app.all('/mounted/*', (context, _next) => Promise.resolve(context.text('mounted')))
    app.get('/page/*', context => context.text('the page'))
    return createAdaptorServer({ fetch: app.fetch })
  }
  const paths = ['/files/a', '/files/a/b', '/mounted/1', '/page/1', '/nothing']
  expect(await templates(open, paths)).toEqual(['/files/*', '/files/*', '/mounted/*', '/page/*', undefined])
})

test('what another server answered is sent on with the fields', async () => {
  await withUpstream(async url => {
    for (const policy of ['5/m', concurrency({ limit: 5, ttl: '1m' })] as const) {
      const app = new Hono().use(rateLimit({ policy })).get('/', () => fetch(url))
      const response = await app.request('/', { headers: { Origin: 'https://elsewhere.test' } })
      expect([response.status, await response.text()]).toEqual([200, 'from afar'])
      expect(response.headers.get('ratelimit')).toContain('r=4')
      expect(response.headers.get(EXPOSED[0])).toBe(`${EXPOSED[1]}, RateLimit, RateLimit-Policy, Retry-After`)
    }
  })
})
