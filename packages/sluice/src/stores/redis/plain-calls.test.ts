import type { Redis } from 'ioredis'
import { type RedisServer, startRedis } from 'sluice-harness'
import { afterAll, beforeAll, beforeEach, describe, test } from 'vitest'
import { ioredis } from './fixtures/clients.ts'
import { PLAIN_LIMITS, playPlainCalls, SET_BACK, setBack } from './fixtures/plain-calls.ts'

let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis()
  client = await ioredis(server)
})

afterAll(async () => {
  client.disconnect()
  await server.stop()
})

beforeEach(async () => {
  await client.flushall()
})

describe.each([1, 2, 3])('calls of plain decisions get the verdicts of the memory store, trace %i', seed => {
  test.each(PLAIN_LIMITS)('%s', (...limit) => playPlainCalls(client, limit, { seed, turns: 300 }))
})

test.each(SET_BACK)('a clock that was set back, and forgotten, gives a plain $kind nothing', policy =>
  setBack(client, policy),
)
