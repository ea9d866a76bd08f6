import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Request } from 'express'
import { type Options as PeerOptions, rateLimit as peer } from 'express-rate-limit'
import { startRedis } from 'sluice-harness'
import { describe, expect, test } from 'vitest'
import { ioredis } from '../fixtures/redis/clients.ts'
import { memoryStore } from '../index.ts'
import { redisStore } from '../stores/redis/index.ts'
import { fakeClock } from '../testing/index.ts'
import { ipKeyGenerator, type Options, rateLimit } from './express-rate-limit.ts'

interface Asked {
  path?: string
  headers?: Record<string, string>
}

type Middleware = ReturnType<typeof rateLimit>

async function served(limiter: unknown, requests: readonly Asked[]): Promise<unknown[]> {
  const app = express()
  app.use(limiter as Middleware)
  app.get('/wrong', (_, response) => void response.sendStatus(404))
  app.use((request, response) => void response.json(infoOf(request)))
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const answers: unknown[] = []
  for (const { path = '/', headers = {} } of requests) {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { headers })
    const fields = [...response.headers].filter(([name]) => /ratelimit|retry/.test(name)).map(rounded)
    answers.push([response.status, await response.text(), Object.fromEntries(fields)])
  }
  server.closeAllConnections()
  server.close()
  return answers
}

/** The two are not asked at once: seconds are told to ten of them, and an instant as one. */
function rounded([name, value]: [string, string]): [string, string] {
  if (name === 'x-ratelimit-reset') return [name, Number(value) > Date.now() / 1000 ? 'later' : value]
  if (/^\d+$/.test(value) && /reset|retry/.test(name)) return [name, String(Math.round(Number(value) / 10))]
  return [name, value.replace(/\b(t|reset)=\d+/g, '$1=n')]
}

function infoOf(request: Request): unknown {
  const { limit, used, remaining, resetTime } = (request as { rateLimit?: Record<string, unknown> }).rateLimit ?? {}
  return { limit, used, remaining, resets: resetTime instanceof Date }
}

const times = (count: number, asked: Asked = {}) => Array.from({ length: count }, () => asked)

describe('answers as express-rate-limit does', () => {
  test.each<[says: string, options: Partial<Options>, requests: readonly Asked[]]>([
    ['by default', {}, times(6)],
    ['with limit', { limit: 2, windowMs: 60_000 }, times(4)],
    ['with max', { max: 2 }, times(3)],
    ['with a limit of 0', { limit: 0 }, times(2)],
    [
      'with a limit by request',
      { limit: async request => Number(request.get('x-limit')) },
      times(3, { headers: { 'x-limit': '2' } }),
    ],
    ['with standardHeaders', { limit: 2, standardHeaders: true, legacyHeaders: false }, times(3)],
    ['of draft 6', { limit: 2, standardHeaders: 'draft-6' }, times(3)],
    ['of draft 7', { limit: 2, standardHeaders: 'draft-7' }, times(3)],
    ['without headers', { limit: 1, legacyHeaders: false }, times(2)],
    ['with a message of its own', { limit: 1, message: { error: 'slow down' }, statusCode: 420 }, times(2)],
    ['with a message as a function', { limit: 1, message: async () => 'not now' }, times(2)],
    ['with a handler', { limit: 1, handler: (_, response) => void response.status(418).send('tea') }, times(2)],
    [
      'with keyGenerator',
      { limit: 1, keyGenerator: request => request.get('x-key') ?? '' },
      [...times(2, { headers: { 'x-key': 'a' } }), { headers: { 'x-key': 'b' } }],
    ],
    [
      'with skip',
      { limit: 1, skip: async request => request.path === '/free' },
      [...times(2, { path: '/free' }), ...times(2)],
    ],
    ['with skipFailedRequests', { limit: 2, skipFailedRequests: true }, [...times(3, { path: '/wrong' }), ...times(3)]],
    [
      'with skipSuccessfulRequests',
      { limit: 2, skipSuccessfulRequests: true },
      [...times(3), ...times(3, { path: '/wrong' })],
    ],
    ['with a property of another name', { limit: 1, requestPropertyName: 'quota' }, times(2)],
  ])('%s', async (_, options, requests) => {
    const theirs = peer({ ...(options as object as Partial<PeerOptions>), validate: false })
    expect(await served(rateLimit({ ...options, validate: false }), requests)).toEqual(await served(theirs, requests))
  })

  test('with draft 8, but for the key in it', async () => {
    const options = { limit: 2, windowMs: 900_000, standardHeaders: 'draft-8', legacyHeaders: false } as const
    const answers = JSON.stringify(await served(peer({ ...options, validate: false }), times(3)))
    expect(JSON.stringify(await served(rateLimit(options), times(3)))).toBe(answers.replaceAll(/; pk=:[^:]*:/g, ''))
  })
})

test('a key is told and reset', async () => {
  const clock = fakeClock(1000)
  const limiter = rateLimit({ limit: 2, keyGenerator: () => 'a', store: memoryStore({ clock }) })
  expect(await limiter.getKey('a')).toBeUndefined()
  expect((await served(limiter, times(3))).map(String)).toEqual(
    [200, 200, 429].map(n => expect.stringMatching(`^${n},`)),
  )
  expect(await limiter.getKey('a')).toEqual({ totalHits: 2, resetTime: new Date(61_000) })
  await limiter.resetKey('a')
  expect((await served(limiter, times(1)))[0]).toContain(200)
})

test.each([
  [false, 500],
  [true, 200],
])('while a store is down, passOnStoreError: %s answers %s', async (passOnStoreError, status) => {
  const server = await startRedis()
  const client = await ioredis(server)
  const store = redisStore(client, { onEvent: () => {} })
  const limiter = rateLimit({ store, passOnStoreError, limit: 1 })
  await served(limiter, times(1))
  await server.kill()
  expect((await served(limiter, times(1)))[0]).toContain(status)
  await store.close()
  client.disconnect()
})

test.each<[options: object, code: string, message: string]>([
  [{ retryAfter: 5 }, 'SLUICE_NOT_SUPPORTED', 'expected rateLimit() without retryAfter, got 5'],
  [{ store: { increment() {} } }, 'SLUICE_NOT_SUPPORTED', 'memoryStore() or redisStore(client)'],
  [{ limits: 5 }, 'SLUICE_BAD_OPTION', "got 'limits'"],
])('%o is refused by name', (options, code, message) => {
  expect(() => rateLimit(options)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }))
})

test('an address of IPv6 is its network', () => {
  expect(ipKeyGenerator('2001:db8:1:2ff::1')).toBe(ipKeyGenerator('2001:db8:1:200::2'))
  expect(ipKeyGenerator('2001:db8:1:2ff::1', 64)).not.toBe(ipKeyGenerator('2001:db8:1:200::2', 64))
})
