import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import express, { type NextFunction, type Request, type Response, Router } from 'express'
import { EXPOSED, FAILED, IMPATIENT, type Open, PASSWORD } from '../fixtures/http/adapter-suite/site.ts'
import { adapterSuite } from '../fixtures/http/adapter-suite/suite.ts'
import { decisionOf, rateLimit } from './express.ts'

const open: Open = ({ limiters, handlers }) => {
  const app = express()
  app.use((request, response, next) => {
    if (request.headers.origin !== undefined) response.setHeader(...EXPOSED)
    if (request.headers[IMPATIENT] !== undefined) void handlers.giveUp().then(text => response.status(503).send(text))
    next()
  })
  for (const options of limiters) app.use(rateLimit(options))
  app.get('/hello', (request, response) => void response.send(handlers.hello(decisionOf(request))))
  app.get('/orders/:id', (request, response) => void response.send(handlers.order(request.params.id)))
  app.post('/login', (request, response) => void response.sendStatus(handlers.login(request.get(PASSWORD))))
  app.get('/broken', () => handlers.broken())
  app.get('/slow', async (_, response) => void response.send(await handlers.slow()))
  app.get('/stream', (_, response) => pipeline(Readable.from(handlers.stream()), response))
  const api = Router()
  api.get('/items/:id', (request, response) => void response.send(handlers.item(request.params.id)))
  app.use('/api', api)
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    handlers.errors.push(error)
    if (!response.headersSent)
      response
        .setHeader(...FAILED)
        .status(500)
        .send('failed')
  })
  return createServer(app)
}

// Express builds its requests and responses on those of node:http: it does not serve HTTP/2.
adapterSuite('Express', open)
