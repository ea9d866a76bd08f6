import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { Readable } from 'node:stream'
import Router from '@koa/router'
import Koa from 'koa'
import { expect, test } from 'vitest'
import { EXPOSED, FAILED, IMPATIENT, type Open, PASSWORD } from '../fixtures/http/adapter-suite/site.ts'
import { adapterSuite, http2Suite } from '../fixtures/http/adapter-suite/suite.ts'
import { templates } from '../fixtures/http/adapter-suite/templates.ts'
import { decisionOf, rateLimit } from './koa.ts'

const open: Open = ({ limiters, handlers, http2 }) => {
  const app = new Koa()
  app.silent = true
  app.use(async (context, next) => {
    if (context.headers.origin !== undefined) context.set(...EXPOSED)
    if (context.headers[IMPATIENT] !== undefined) {
      void handlers.giveUp().then(text => context.res.writeHead(503, { 'Content-Length': text.length }).end(text))
    }
    try {
      await next()
    } catch (error) {
      handlers.errors.push(error)
      context.set(...FAILED)
      context.status = 500
      context.body = 'failed'
    }
  })
  for (const options of limiters) app.use(rateLimit(options))
  const api = new Router()
  api.get('/items/:id', context => {
    context.body = handlers.item(context.params.id!)
  })
  const router = new Router()
  router.get('/hello', context => {
    expect(context.state.rateLimit).toBe(decisionOf(context))
    context.body = handlers.hello(decisionOf(context))
  })
  router.get('/orders/:id', context => {
    context.body = handlers.order(context.params.id!)
  })
  router.post('/login', context => {
    context.status = handlers.login(context.get(PASSWORD))
    context.body = 'done'
  })
  router.get('/broken', () => handlers.broken())
  router.get('/slow', async context => {
    context.body = await handlers.slow()
  })
  router.get('/stream', context => {
    context.body = Readable.from(handlers.stream())
  })
  router.use('/api', api.routes())
  app.use(router.routes())
  return http2 ? createHttp2Server(app.callback()) : createServer(app.callback())
}

adapterSuite('Koa', open)
http2Suite('Koa', open)

test('a pattern for many paths is not the template of what another route serves', async () => {
  const open: Open = ({ limiters }) => {
    const router = new Router()
    router.get('/{*any}', (_, next) => next())
    router.get('/orders/:id', context => {
      context.body = 'order'
    })
    return createServer(new Koa().use(rateLimit(limiters[0]!)).use(router.routes()).callback())
  }
  expect(await templates(open, ['/orders/1', '/else', '/else/1'])).toEqual(['/orders/:id', '/{*any}', '/{*any}'])
})
