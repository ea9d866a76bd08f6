import { createServer } from 'node:http'
import express, { type Express, Router } from 'express'
import { expect, test } from 'vitest'
import { templates } from '../../fixtures/http/adapter-suite/templates.ts'
import { rateLimit } from '../express.ts'
import type { GuardOptions } from '../guard/guard-options.ts'

/** The templates by which requests are known where `build` makes the application, and puts the limiter where it likes. */
function seen(build: (app: Express, options: GuardOptions) => void, requests: readonly string[]) {
  return templates(({ limiters }) => {
    const app = express()
    build(app, limiters[0]!)
    return createServer(app)
  }, requests)
}

const answer: express.RequestHandler = (_, response) => void response.send('ok')
const goOn: express.RequestHandler = (_request, _response, next) => next()

test('what a router is mounted at is part of the template, parameters by their names', async () => {
  const build = (app: Express, options: GuardOptions) => {
    app.use(rateLimit(options))
    const inner = Router().get('/', answer).get('/items/:item', answer)
    app.use('/shops/:shop', Router().use('/Shelf', inner))
  }
  const paths = ['/shops/7/shelf', '/shops/7/shelf/', '/SHOPS/a%20b/SHELF/items/9', '/shops/7/shelf/none']
  expect(await seen(build, paths)).toEqual([
    '/shops/:shop/shelf',
    '/shops/:shop/shelf',
    '/shops/:shop/shelf/items/:item',
    undefined,
  ])
})

test('where a parameter is no whole segment of a mount, no text of the path stands for it', async () => {
  const build = (app: Express, options: GuardOptions) => {
    app.use(rateLimit(options))
    app.use('/v:version/api', Router().get('/items', answer))
    app.use('/any/*rest', Router().get('/', answer))
  }
  expect(await seen(build, ['/v1/api/items', '/v2/api/items', '/any/1', '/any/2/3'])).toEqual([
    '/*/items',
    '/*/items',
    '/*',
    '/*',
  ])
})

test('a limiter inside a mounted router knows the whole template', async () => {
  const build = (app: Express, options: GuardOptions) => {
    app.use('/api', Router().use(rateLimit(options)).get('/', answer).get('/items/:id', answer))
  }
  expect(await seen(build, ['/api', '/api/', '/api/items/7', 'http://site.test/api/items/7'])).toEqual([
    '/api',
    '/api',
    '/api/items/:id',
    '/api/items/:id',
  ])
})

test('a limiter inside a mounted application knows the whole template', async () => {
  const build = (app: Express, options: GuardOptions) => {
    const shop = express().use(rateLimit(options)).get('/', answer).get('/items/:id', answer)
    app.use('/:country/shop', shop)
  }
  expect(await seen(build, ['/se/shop', '/no/shop/items/7'])).toEqual(['/:country/shop', '/:country/shop/items/:id'])
})

test('a limiter on a route knows it', async () => {
  const build = (app: Express, options: GuardOptions) => void app.get('/orders/:id', rateLimit(options), answer)
  expect(await seen(build, ['/orders/1'])).toEqual(['/orders/:id'])
})

test('a path that was rewritten is that of the route that serves it', async () => {
  const build = (app: Express, options: GuardOptions) => {
    app.use((request, _, next) => {
      request.url = `/v2${request.url}`
      next()
    })
    app.use(rateLimit(options)).get('/v2/orders/:id', answer)
  }
  expect(await seen(build, ['/orders/1'])).toEqual(['/v2/orders/:id'])
})

test('patterns for many paths come after the routes themselves', async () => {
  const build = (app: Express, options: GuardOptions) => {
    app.use(rateLimit(options)).all('/{*any}', goOn).get('/orders/:id', answer).get('/{*rest}', answer)
  }
  expect(await seen(build, ['/orders/1', '/else', '/else/1'])).toEqual(['/orders/:id', '/{*any}', '/{*any}'])
})

test('a route takes the methods it has, and GET also HEAD', async () => {
  const build = (app: Express, options: GuardOptions) => {
    app.use(rateLimit(options)).get('/a', answer).head('/b', answer).all('/c', answer).post(['/d', '/e/:id'], answer)
  }
  const requests = ['HEAD /a', 'HEAD /b', 'PUT /c', 'POST /e/1', 'POST /a', 'GET /d']
  expect(await seen(build, requests)).toEqual(['/a', '/b', '/c', '/d|/e/:id', undefined, undefined])
})
