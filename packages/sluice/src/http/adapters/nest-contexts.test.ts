import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Controller, Get, type INestApplication, Module, type ModuleMetadata, UseGuards } from '@nestjs/common'
import { ExternalContextCreator, NestFactory } from '@nestjs/core'
import { WsAdapter } from '@nestjs/platform-ws'
import { SubscribeMessage, WebSocketGateway } from '@nestjs/websockets'
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { decorate } from '../../fixtures/http/nest/decorate.ts'
import { concurrency } from '../../policy.ts'
import { fakeClock } from '../../testing/index.ts'
import type { GuardOptions } from '../index.ts'
import { Cost, type NestView, RateLimit, RateLimitGuard, RateLimitModule, SkipRateLimit } from '../nest.ts'

const apps: { close(): Promise<unknown> }[] = []
const sockets: WebSocket[] = []

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate()
  await Promise.all(apps.splice(0).map(app => app.close()))
})

async function start(options: GuardOptions<NestView>, metadata: ModuleMetadata): Promise<INestApplication> {
  class Root {}
  Module({ ...metadata, imports: [RateLimitModule.forRoot(options)] })(Root)
  const app = await NestFactory.create(Root, { logger: false, abortOnError: false })
  apps.push(app)
  app.useWebSocketAdapter(new WsAdapter(app))
  await app.listen(0, '127.0.0.1')
  return app
}

const two = () => ({ policy: '2/m', clock: fakeClock() }) as const

describe('a WebSocket gateway', () => {
  class Chat {
    handleConnection(client: { request?: unknown }, request: IncomingMessage) {
      client.request = request
    }
    say(_client: unknown, text: string) {
      return { event: 'said', data: text }
    }
    dear() {
      return { event: 'said', data: 'dear' }
    }
    free() {
      return { event: 'said', data: 'free' }
    }
  }
  decorate(Chat, [WebSocketGateway(), UseGuards(RateLimitGuard)], {
    say: [SubscribeMessage('say')],
    dear: [SubscribeMessage('dear'), Cost(2)],
    free: [SubscribeMessage('free'), SkipRateLimit()],
  })

  async function talk(app: INestApplication, headers = {}) {
    const { port } = app.getHttpServer().address() as AddressInfo
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { headers })
    sockets.push(socket)
    await once(socket, 'open')
    return async (event: string): Promise<{ event: string; data: unknown }> => {
      socket.send(JSON.stringify({ event, data: 'hello' }))
      const [message] = await once(socket, 'message')
      return JSON.parse(String(message))
    }
  }

  test('counts each message of a client; a refusal is an exception of the gateway', async () => {
    const app = await start(two(), { providers: [Chat] })
    const [one, other] = [await talk(app), await talk(app)]
    expect(await one('say')).toEqual({ event: 'said', data: 'hello' })
    expect(await other('say')).toEqual({ event: 'said', data: 'hello' })
    expect(await one('say')).toMatchObject({ event: 'exception', data: { status: 429, error: 'rate_limit_exceeded' } })
    expect(await one('free')).toEqual({ event: 'said', data: 'free' })
  })

  test('knows cost, pattern and the request that opened the connection', async () => {
    const seen: unknown[] = []
    const limit = { policy: '2/m', key: (r: NestView) => String(r.header('x-key')) } as const
    const onDecision = (_: unknown, r: NestView) => seen.push([r.route, r.header('x-key')])
    const app = await start({ limits: { caller: limit }, clock: fakeClock(), onDecision }, { providers: [Chat] })
    const [ann, bob] = [await talk(app, { 'X-Key': 'ann' }), await talk(app, { 'X-Key': 'bob' })]
    expect((await ann('dear')).event).toBe('said')
    expect((await ann('say')).event).toBe('exception')
    expect((await bob('say')).event).toBe('said')
    expect(seen).toEqual([
      ['dear', 'ann'],
      ['say', 'ann'],
      ['say', 'bob'],
    ])
  })

  test('is served no message under a limit that has to know when it ends', async () => {
    const app = await start({ policy: concurrency({ limit: 5, ttl: '1m' }) }, { providers: [Chat] })
    const say = await talk(app)
    expect(await say('say')).toMatchObject({ event: 'exception' })
  })

  test.each([
    ['without the guard', [SubscribeMessage('say')], 'Open.say with @UseGuards(RateLimitGuard) or @SkipRateLimit()'],
    [
      'without the guard, though with a limit',
      [SubscribeMessage('say'), RateLimit({ policy: '1/m' })],
      'Open.say with',
    ],
  ])('%s is refused at start, by name', async (_, decorators, message) => {
    class Open {
      say() {}
    }
    decorate(Open, [WebSocketGateway()], { say: decorators })
    await expect(start(two(), { providers: [Open] })).rejects.toMatchObject({
      code: 'SLUICE_NOT_SUPPORTED',
      message: expect.stringContaining(message),
    })
  })

  test('without the guard starts where it is skipped', async () => {
    class Open {
      say() {}
    }
    decorate(Open, [WebSocketGateway(), SkipRateLimit()], { say: [SubscribeMessage('say')] })
    await expect(start(two(), { providers: [Open] })).resolves.toBeDefined()
  })
})

test('a handler of a microservice is refused at start, by name', async () => {
  class Orders {
    list() {}
  }
  const pattern: MethodDecorator = (_target, _name, method) =>
    Reflect.defineMetadata('microservices:pattern', ['list'], method.value as object)
  decorate(Orders, [Controller()], { list: [pattern] })
  await expect(start(two(), { controllers: [Orders] })).rejects.toMatchObject({
    code: 'SLUICE_NOT_SUPPORTED',
    message: expect.stringContaining('Orders.list with @SkipRateLimit()'),
  })
})

/** Contexts as @nestjs/graphql makes them: by Nest's own creator, of the arguments that graphql-js gives a resolver. */
describe('a GraphQL resolver', () => {
  class Orders {
    list() {
      return 'listed'
    }
    free() {
      return 'free'
    }
  }
  decorate(Orders, [], { free: [SkipRateLimit()] })
  class Home {
    home() {
      return 'home'
    }
  }
  decorate(Home, [Controller()], { home: [Get()] })

  async function resolver(options: GuardOptions<NestView>) {
    const app = await start(options, { providers: [Orders], controllers: [Home] })
    const orders = app.get(Orders)
    const creator = app.get(ExternalContextCreator)
    const of = (name: 'list' | 'free') =>
      creator.create(orders, orders[name], name, undefined, undefined, undefined, undefined, undefined, 'graphql')
    const info = { fieldName: 'list', parentType: { name: 'Query' } }
    return (context: unknown, name: 'list' | 'free' = 'list') => of(name)({}, {}, context, info) as Promise<unknown>
  }
  const request = { headers: {}, method: 'POST', url: '/graphql', socket: { remoteAddress: '192.0.2.7' } }

  test.each([
    ['Apollo', { req: request }],
    ['Mercurius', { reply: { request } }],
    ['graphql-ws', { extra: { request } }],
    ['a context with the request', { request }],
  ])('counts each field, by the request in the context of %s', async (_, context) => {
    const seen: unknown[] = []
    const list = await resolver({ ...two(), onDecision: (_, r) => seen.push([r.route, r.ip]) })
    expect([await list(context), await list(context)]).toEqual(['listed', 'listed'])
    await expect(list(context)).rejects.toMatchObject({ status: 429, response: { error: 'rate_limit_exceeded' } })
    expect(await list(context, 'free')).toBe('free')
    expect(seen).toEqual(Array(3).fill(['Query.list', '192.0.2.7']))
  })

  test.each([[{}], [undefined], [{ req: {} }]])(
    'with a context %o, in which no request is, is refused by name',
    async context => {
      const list = await resolver(two())
      await expect(list(context)).rejects.toMatchObject({
        code: 'SLUICE_NOT_SUPPORTED',
        message: expect.stringContaining('Orders.list to be a GraphQL context with the request'),
      })
    },
  )
})
