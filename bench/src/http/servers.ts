import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastifyRateLimit from '@fastify/rate-limit'
import { type HttpBindings, serve } from '@hono/node-server'
import express, { type RequestHandler } from 'express'
import { rateLimit as expressRateLimit } from 'express-rate-limit'
import fastify, { type FastifyInstance } from 'fastify'
import { Hono, type MiddlewareHandler } from 'hono'
import { rateLimiter as honoRateLimiter } from 'hono-rate-limiter'
import { RateLimiterMemory } from 'rate-limiter-flexible'
import { rateLimit as forExpress } from 'sluice/express'
import { rateLimit as forFastify } from 'sluice/fastify'
import { rateLimit as forHono } from 'sluice/hono'
import { rateLimit as forNode } from 'sluice/node'
import { BODY, FIELDS, one, PLENTY, three } from './limits.ts'

const HOUR_MS = 3_600_000
/** Connections are kept while others have their turn. */
const KEEP_ALIVE_MS = 300_000

/** Each starts listening on a free port of the loopback address and returns it. */
export const servers = {
  'express bare': () => onExpress(),
  'express by hand': () => onExpress(expressByHand(FIELDS.one)),
  'express by hand three': () => onExpress(expressByHand(FIELDS.three)),
  'express sluice': () => onExpress(forExpress(one)),
  'express sluice three': () => onExpress(forExpress(three)),
  'express express-rate-limit': () =>
    onExpress(expressRateLimit({ windowMs: HOUR_MS, limit: PLENTY, standardHeaders: 'draft-8', legacyHeaders: false })),
  'express express-rate-limit three': () =>
    onExpress(
      ...['a', 'b', 'c'].map(identifier =>
        expressRateLimit({
          windowMs: HOUR_MS,
          limit: PLENTY,
          standardHeaders: 'draft-8',
          legacyHeaders: false,
          identifier,
        }),
      ),
    ),
  'fastify bare': () => onFastify(async () => {}),
  'fastify by hand': () => onFastify(async app => void app.addHook('onRequest', fastifyByHand(FIELDS.one))),
  'fastify by hand three': () => onFastify(async app => void app.addHook('onRequest', fastifyByHand(FIELDS.three))),
  'fastify sluice': () => onFastify(async app => void (await app.register(forFastify, one))),
  'fastify sluice three': () => onFastify(async app => void (await app.register(forFastify, three))),
  'fastify @fastify/rate-limit': () =>
    onFastify(async app => void (await app.register(fastifyRateLimit, { max: PLENTY, timeWindow: HOUR_MS }))),
  'hono bare': () => onHono(),
  'hono by hand': () => onHono(honoByHand),
  'hono sluice': () => onHono(forHono(one) as unknown as MiddlewareHandler),
  'hono hono-rate-limiter': () =>
    onHono(
      honoRateLimiter({
        windowMs: HOUR_MS,
        limit: PLENTY,
        standardHeaders: 'draft-6',
        keyGenerator: context => (context.env as HttpBindings).incoming.socket.remoteAddress!,
      }) as unknown as MiddlewareHandler,
    ),
  'node bare': () => onNode((_, response) => response.end(BODY)),
  'node by hand': () =>
    onNode((_, response) => {
      for (const name of NAMES) response.setHeader(name, FIELDS.one[name])
      response.end(BODY)
    }),
  'node sluice': () => {
    const limit = forNode(one)
    return onNode((request, response) => limit(request, response, () => response.end(BODY)))
  },
  'node rate-limiter-flexible': () => {
    const limiter = new RateLimiterMemory({ points: PLENTY, duration: 3600 })
    return onNode(async (request, response) => {
      const { remainingPoints, msBeforeNext } = await limiter.consume(request.socket.remoteAddress!)
      response.setHeader('RateLimit-Policy', FIELDS.one['RateLimit-Policy'])
      response.setHeader('RateLimit', `"default";r=${remainingPoints};t=${Math.ceil(msBeforeNext / 1000)}`)
      response.end(BODY)
    })
  },
}

export type ServerName = keyof typeof servers

type Fields = Readonly<Record<keyof typeof FIELDS.one, string>>

const NAMES = Object.keys(FIELDS.one) as (keyof Fields)[]

function expressByHand(fields: Fields): RequestHandler {
  return (_, response, next) => {
    for (const name of NAMES) response.setHeader(name, fields[name])
    next()
  }
}

function fastifyByHand(fields: Fields) {
  return (_: unknown, reply: { header(name: string, value: string): unknown }, done: () => void): void => {
    for (const name of NAMES) reply.header(name, fields[name])
    done()
  }
}

const honoByHand: MiddlewareHandler = async (context, next) => {
  await next()
  for (const name of NAMES) context.res.headers.set(name, FIELDS.one[name])
}

function onExpress(...handlers: RequestHandler[]): Promise<number> {
  const app = express()
  for (const handler of handlers) app.use(handler)
  app.get('/hello', (_, response) => void response.send(BODY))
  return listening(createServer(app))
}

async function onFastify(prepare: (app: FastifyInstance) => Promise<void>): Promise<number> {
  const app = fastify({ keepAliveTimeout: KEEP_ALIVE_MS })
  await prepare(app)
  app.get('/hello', (_, reply) => reply.send(BODY))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

function onHono(...handlers: MiddlewareHandler[]): Promise<number> {
  const app = new Hono()
  for (const handler of handlers) app.use(handler)
  app.get('/hello', context => context.text(BODY))
  return new Promise(resolve => {
    const options = {
      fetch: app.fetch,
      port: 0,
      hostname: '127.0.0.1',
      serverOptions: { keepAliveTimeout: KEEP_ALIVE_MS },
    }
    serve(options, ({ port }) => resolve(port))
  })
}

function onNode(listener: RequestListener): Promise<number> {
  return listening(createServer(listener))
}

function listening(server: ReturnType<typeof createServer>): Promise<number> {
  server.keepAliveTimeout = KEEP_ALIVE_MS
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}
