import { Readable } from 'node:stream'
import Fastify, { type FastifyInstance } from 'fastify'
import { EXPOSED, FAILED, IMPATIENT, type Open, PASSWORD } from '../fixtures/http/adapter-suite/site.ts'
import { adapterSuite, http2Suite } from '../fixtures/http/adapter-suite/suite.ts'
import { decisionOf, rateLimit } from './fastify.ts'

const open: Open = async ({ limiters, handlers, http2 }) => {
  const app = (http2 ? Fastify({ http2: true }) : Fastify()) as FastifyInstance
  app.addHook('onRequest', async (request, reply) => {
    if (request.headers.origin !== undefined) reply.header(...EXPOSED)
    if (request.headers[IMPATIENT] !== undefined) void handlers.giveUp().then(text => reply.code(503).send(text))
  })
  for (const options of limiters) await app.register(rateLimit, options)
  app.get('/hello', async request => handlers.hello(decisionOf(request)))
  app.get<{ Params: { id: string } }>('/orders/:id', async request => handlers.order(request.params.id))
  app.post('/login', (request, reply) => reply.code(handlers.login(request.headers[PASSWORD])).send('done'))
  app.get('/broken', async () => handlers.broken())
  app.get('/slow', async () => handlers.slow())
  app.get('/stream', async () => Readable.from(handlers.stream()))
  const api = async (scope: FastifyInstance) => {
    scope.get<{ Params: { id: string } }>('/items/:id', async request => handlers.item(request.params.id))
  }
  app.register(api, { prefix: '/api' })
  app.setErrorHandler((error, _, reply) => {
    handlers.errors.push(error)
    return reply
      .header(...FAILED)
      .code(500)
      .send('failed')
  })
  await app.ready()
  return app.server
}

adapterSuite('Fastify', open)
http2Suite('Fastify', open)
