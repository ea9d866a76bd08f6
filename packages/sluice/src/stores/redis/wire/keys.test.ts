import { type RedisServer, startRedis } from 'sluice-harness'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLIENTS, type Connected } from '../../../fixtures/redis/clients.ts'
import { createLimiter, slidingWindow } from '../../../index.ts'
import { type RedisStore, redisStore } from '../redis-store.ts'

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})

afterAll(() => server.stop())

const LONG = 'x'.repeat(65_536)
const KEYS = [
  '\0',
  'a\0b',
  '__proto__',
  'constructor',
  '👩‍👩‍👧',
  '🙂',
  '\ud800',
  '\ud801',
  '\ufffd',
  '{a}',
  '\r\n',
  LONG,
  `${LONG}y`,
]

describe.each(Object.entries(CLIENTS))('keys are data, through %s', (client, connect) => {
  let connected: Connected
  let store: RedisStore

  beforeAll(async () => {
    connected = await connect(server)
    store = redisStore(connected.client, { deadline: '1s' })
  })

  afterAll(async () => {
    await store.close()
    connected.close()
  })

  test('each is counted by itself, all in one call', async () => {
    const limiter = createLimiter(slidingWindow({ limit: 100, window: '1h' }), { name: client, store })
    const decisions = await Promise.all(KEYS.map((key, n) => limiter.consume(key, { cost: n + 1 })))
    expect(decisions.map(decision => [decision.degraded, decision.remaining])).toEqual(
      KEYS.map((_, n) => [false, 100 - (n + 1)]),
    )
  })
})
