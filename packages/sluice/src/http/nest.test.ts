import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import {
  type ArgumentsHost,
  Catch,
  Controller,
  Get,
  HttpException,
  Module,
  Param,
  Post,
  Req,
  Res,
  StreamableFile,
} from '@nestjs/common'
import { type AbstractHttpAdapter, BaseExceptionFilter, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import type { Decision } from '../decision.ts'
import type { Handlers } from '../fixtures/http/adapter-suite/handlers.ts'
import { EXPOSED, FAILED, IMPATIENT, type Open, PASSWORD } from '../fixtures/http/adapter-suite/site.ts'
import { adapterSuite, http2Suite } from '../fixtures/http/adapter-suite/suite.ts'
import { decorate } from '../fixtures/http/nest/decorate.ts'
import { RateLimitDecision, RateLimitModule } from './nest.ts'

interface Incoming {
  headers: Record<string, string | undefined>
}
interface Outgoing {
  status(code: number): unknown
}

const openExpress = opening(() => new ExpressAdapter())
const openFastify = opening(
  http2 => (http2 ? new FastifyAdapter({ http2: true }) : new FastifyAdapter()) as unknown as AbstractHttpAdapter,
)

function opening(adapterFor: (http2: boolean) => AbstractHttpAdapter): Open {
  return async ({ limiters, handlers, http2 }) => {
    class Site {}
    Module({ imports: limiters.map(RateLimitModule.forRoot), controllers: controllers(handlers) })(Site)
    const adapter = adapterFor(http2)
    const app = await NestFactory.create(Site, adapter, { logger: false, abortOnError: false })
    app.use((request: Incoming, response: ServerResponse, next: () => void) => {
      if (request.headers.origin !== undefined) response.setHeader(...EXPOSED)
      if (request.headers[IMPATIENT] !== undefined) {
        void handlers.giveUp().then(text => response.writeHead(503, { 'Content-Length': text.length }).end(text))
      }
      next()
    })
    app.useGlobalFilters(new Failures(adapter, handlers))
    await app.init()
    await (adapter.getInstance() as { ready?(): Promise<void> }).ready?.()
    return app.getHttpServer()
  }
}

/** Sees every exception, and answers those that are no HTTP exceptions itself. */
class Failures extends BaseExceptionFilter {
  private readonly handlers: Handlers

  constructor(adapter: AbstractHttpAdapter, handlers: Handlers) {
    super(adapter)
    this.handlers = handlers
  }

  override catch(error: unknown, host: ArgumentsHost): void {
    const response: unknown = host.switchToHttp().getResponse()
    const adapter = this.applicationRef as AbstractHttpAdapter
    adapter.setHeader(response, ...FAILED)
    if (!(error instanceof HttpException && error.getStatus() === 429)) this.handlers.errors.push(error)
    if (error instanceof HttpException) super.catch(error, host)
    else adapter.reply(response, 'failed', 500)
  }
}
Catch()(Failures)

function controllers(handlers: Handlers) {
  class Pages {
    hello(decision: Decision | undefined) {
      return handlers.hello(decision)
    }
    order(id: string) {
      return handlers.order(id)
    }
    login(request: Incoming, response: Outgoing) {
      response.status(handlers.login(request.headers[PASSWORD]))
      return 'done'
    }
    broken() {
      return handlers.broken()
    }
    slow() {
      return handlers.slow()
    }
    stream() {
      return new StreamableFile(Readable.from(handlers.stream(), { objectMode: false }))
    }
  }
  class Api {
    item(id: string) {
      return handlers.item(id)
    }
  }
  for (const one of [Pages, Api]) for (const name of ['order', 'item']) Param('id')(one.prototype, name, 0)
  RateLimitDecision()(Pages.prototype, 'hello', 0)
  Req()(Pages.prototype, 'login', 0)
  Res({ passthrough: true })(Pages.prototype, 'login', 1)
  decorate(Pages, [Controller()], {
    hello: [Get('hello')],
    order: [Get('orders/:id')],
    login: [Post('login')],
    broken: [Get('broken')],
    slow: [Get('slow')],
    stream: [Get('stream')],
  })
  decorate(Api, [Controller('api')], { item: [Get('items/:id')] })
  return [Pages, Api]
}

const ONLY_HANDLERS = 'Nest asks its guards about handlers, and nobody about what none of them serves'
const NEST = {
  'what no route serves is counted together': ONLY_HANDLERS,
  'any other OPTIONS is counted': ONLY_HANDLERS,
  'preflights have a bucket of their own': ONLY_HANDLERS,
  "with preflight: 'count' a preflight is counted as any request": ONLY_HANDLERS,
  'a preflight of a denied address is not served': ONLY_HANDLERS,
  'what names no origin is no preflight': ONLY_HANDLERS,
  'the error handler does not see a refusal': 'in Nest a refusal is an exception, for exception filters to see',
}
// Express builds its requests and responses on those of node:http: it does not serve HTTP/2.
adapterSuite('Nest on Express', openExpress, NEST)
adapterSuite('Nest on Fastify', openFastify, NEST)
http2Suite('Nest on Fastify', openFastify)
