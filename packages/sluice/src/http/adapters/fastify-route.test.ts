import fastify, { type FastifyInstance, type FastifyRequest, type InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { configOf, type Routed } from './fastify-route.ts'

describe('the config of the route that serves a request', () => {
  const asked: FastifyRequest[] = []
  let app: FastifyInstance

  beforeAll(async () => {
    app = fastify()
    app.addHook('onRequest', async request => void asked.push(request))
    app.get('/orders/:id', { config: { kind: 'order' } as object }, async () => 'order')
    app.route({ url: '/both', method: ['GET', 'POST'], handler: async () => 'both' })
    app.get('/versions', { constraints: { version: '1.0.0' } }, async () => 'first')
    app.get('/versions', { constraints: { version: '2.0.0' } }, async () => 'second')
    app.register(async scope => void scope.get('/inside/*', async () => 'inside'), { prefix: '/scope' })
    app.register(
      async scope =>
        void scope.setNotFoundHandler({ config: { kind: 'none' } } as object, async () => 'not even in the scope'),
      { prefix: '/own' },
    )
  })
  afterAll(() => app.close())

  async function serve(options: InjectOptions): Promise<FastifyRequest> {
    await app.inject(options)
    return asked.pop()!
  }

  const requests: readonly [InjectOptions, url: string | undefined][] = [
    [{ url: '/orders/1?a=b' }, '/orders/:id'],
    [{ url: '/orders/2', method: 'HEAD' }, '/orders/:id'],
    [{ url: '/both', method: 'POST' }, '/both'],
    [{ url: '/versions', headers: { 'accept-version': '1.x' } }, '/versions'],
    [{ url: '/versions', headers: { 'accept-version': '2.x' } }, '/versions'],
    [{ url: '/scope/inside/a/b' }, '/scope/inside/*'],
    [{ url: '/nowhere' }, undefined],
    [{ url: '/own/nowhere' }, undefined],
  ]

  test.each(requests)('%j: as `routeOptions` tells it', async (options, url) => {
    const request = await serve(options)
    expect(configOf(request as Routed)).toBe(request.routeOptions.config)
    expect(configOf(request as Routed).url).toBe(url)
  })

  test('`routeOptions` is asked once, not for every request', async () => {
    configOf((await serve({ url: '/both' })) as Routed)
    const request = await serve({ url: '/orders/3' })
    const watched = Object.create(request, { routeOptions: { get: () => expect.unreachable('it was asked again') } })
    expect(configOf(watched).url).toBe('/orders/:id')
  })

  test('a request that keeps it elsewhere is asked, and so is the next one after it', async () => {
    const config = { url: '/elsewhere' }
    const other = { [Symbol('another copy')]: { config }, routeOptions: { config } }
    const none = { routeOptions: { config } }
    for (const stranger of [other, none, other]) {
      expect(configOf(stranger)).toBe(config)
      expect(configOf((await serve({ url: '/orders/4' })) as Routed).url).toBe('/orders/:id')
    }
  })

  test('where no config is told, the template and the methods still are', () => {
    const told = { url: '/old', method: 'GET' }
    expect(configOf({ routeOptions: told })).toEqual(told)
  })
})
