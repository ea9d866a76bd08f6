import peer from '@fastify/rate-limit'
import fastify, { type FastifyInstance } from 'fastify'
import { describe, expect, test } from 'vitest'
import { fastifyRateLimit, type PluginLimitOptions } from './fastify-rate-limit.ts'

interface Asked {
  url: string
  headers?: Record<string, string>
  remoteAddress?: string
}

type Prepare = (app: FastifyInstance) => void

const hello = async () => 'hello'

async function served(plugin: unknown, options: object, prepare: Prepare, requests: readonly Asked[]) {
  const app = fastify()
  await app.register(plugin as never, options as never)
  prepare(app)
  const answers: unknown[] = []
  for (const request of requests) {
    const { statusCode, headers, body } = await app.inject(request)
    const fields = Object.entries(headers).filter(([name]) => /ratelimit|retry/.test(name))
    answers.push([statusCode, body, Object.fromEntries(fields)])
  }
  await app.close()
  return answers
}

const home: Prepare = app => void app.get('/', hello)
const times = (count: number, asked: Asked = { url: '/' }) => Array.from({ length: count }, () => asked)

describe('answers as @fastify/rate-limit does', () => {
  test.each<[says: string, options: PluginLimitOptions, prepare: Prepare, requests: readonly Asked[]]>([
    ['with max', { max: 2, timeWindow: '1 minute' }, home, times(4)],
    ['with a window in milliseconds', { max: 1, timeWindow: 5000 }, home, times(2)],
    ['with max and timeWindow by request', { max: async () => 1, timeWindow: async () => 120_000 }, home, times(2)],
    ['with fields of the draft', { max: 1, enableDraftSpec: true }, home, times(2)],
    [
      'with fewer fields',
      { max: 1, addHeaders: { 'retry-after': false }, addHeadersOnExceeding: { 'x-ratelimit-limit': false } },
      home,
      times(2),
    ],
    [
      'with keyGenerator',
      { max: 1, keyGenerator: request => String(request.headers['x-key']) },
      home,
      [...times(2, { url: '/', headers: { 'x-key': 'a' } }), { url: '/', headers: { 'x-key': 'b' } }],
    ],
    [
      'with an allowList',
      { max: 1, allowList: ['192.0.2.7'] },
      home,
      times(3, { url: '/', remoteAddress: '192.0.2.7' }),
    ],
    [
      'with an async allowList',
      { max: 1, allowList: async request => request.headers['x-key'] === 'a' },
      home,
      [...times(2, { url: '/', headers: { 'x-key': 'a' } }), ...times(2)],
    ],
    [
      'with an error of its own',
      { max: 1, errorResponseBuilder: (_, { statusCode, max, after }) => ({ statusCode, max, after }) },
      home,
      times(2),
    ],
    ['with another hook', { max: 1, hook: 'preHandler' }, home, times(2)],
    [
      'on routes that differ',
      { max: 2 },
      app => {
        app.get('/', hello)
        app.get('/other', hello)
        app.get('/own', { config: { rateLimit: { max: 1 } } }, hello)
        app.get('/free', { config: { rateLimit: false } }, hello)
      },
      ['/', '/other', '/other', '/own', '/own', '/free', '/nowhere'].map(url => ({ url })),
    ],
    [
      'with global: false',
      { global: false, max: 5 },
      app => {
        app.get('/', hello)
        app.get('/own', { config: { rateLimit: { max: 1, timeWindow: '1 hour' } } }, hello)
        app.setNotFoundHandler({ preHandler: app.rateLimit({ max: 1 } as never) as never }, (_, reply) =>
          reply.code(404).send('none'),
        )
      },
      ['/', '/own', '/own', '/nowhere', '/nowhere'].map(url => ({ url })),
    ],
  ])('%s', async (_, options, prepare, requests) => {
    const theirs = await served(peer, options, prepare, requests)
    expect(await served(fastifyRateLimit, options, prepare, requests)).toEqual(theirs)
  })
})

test('the callbacks tell who is within the limit and who is not', async () => {
  const seen: string[] = []
  const options: PluginLimitOptions = {
    max: 1,
    onExceeding: (_, key) => seen.push(`within ${key}`),
    onExceeded: (_, key) => seen.push(`over ${key}`),
  }
  await served(fastifyRateLimit, options, home, times(2))
  expect(seen).toEqual(['within 127.0.0.1', 'over 127.0.0.1'])
})

test.each<[options: object, code: string, message: string]>([
  [{ ban: 2 }, 'SLUICE_NOT_SUPPORTED', 'expected @fastify/rate-limit without ban, got 2'],
  [{ cache: 100 }, 'SLUICE_NOT_SUPPORTED', 'memoryStore({ maxKeys })'],
  [{ timeWindow: 'a while' }, 'SLUICE_BAD_DURATION', "got 'a while'"],
  [{ limit: 5 }, 'SLUICE_BAD_OPTION', "got 'limit'"],
])('%o is refused by name', async (options, code, message) => {
  const app = fastify()
  app.register(fastifyRateLimit, options)
  await expect(app.ready()).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
})
