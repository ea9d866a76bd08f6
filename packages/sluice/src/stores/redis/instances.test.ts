import { setTimeout as sleep } from 'node:timers/promises'
import { until } from 'sluice-harness'
import { beforeEach, expect, test } from 'vitest'
import { ioredis } from '../../fixtures/redis/clients.ts'
import { bareStore } from '../../fixtures/redis/counter.ts'
import { client, server, withOwnServer } from '../../fixtures/redis/own-server.ts'
import { createLimiter, fixedWindow } from '../../index.ts'
import { redisStore } from './redis-store.ts'

withOwnServer()

beforeEach(() => client.flushall())

const MINUTE = 60_000_000

test('stores that count each other share a limit evenly', async () => {
  const stores = []
  for (const count of [1, 2, 3]) {
    const store = redisStore(client, { instances: 'auto' })
    stores.push(store)
    await until(`it has found ${count}`, async () => store.bind('limit').localShare === 1 / count)
  }
  await Promise.all(stores.map(store => store.close()))
})

test.each([
  [undefined, 0.5],
  [1, 1],
  [4, 0.25],
  ['auto' as const, 0.5],
])('with instances %j, a store that cannot ask lets %f through', async (instances, share) => {
  const offline = { ...(instances !== undefined && { instances }), connectWait: '1ms' as const }
  const lost = await ioredis(server)
  lost.disconnect()
  const store = redisStore(lost, { ...offline, onEvent: () => undefined })
  const limiter = createLimiter(fixedWindow({ limit: 8, window: '1h' }), { store })
  const decisions = []
  for (let n = 0; n < 10; n++) decisions.push(await limiter.consume('a'))
  expect(decisions.filter(decision => decision.allowed)).toHaveLength(8 * share)
  await store.close()
})

test('each instance is counted once, however often it shows itself', async () => {
  const store = bareStore(client)
  const counts = []
  for (const id of ['a', 'b', 'a', 'c', 'b']) counts.push(await store.instances(id, MINUTE))
  expect(counts).toEqual([1, 2, 2, 3, 3])
})

test('one that has not shown itself for long is gone', async () => {
  const store = bareStore(client)
  await store.instances('a', MINUTE)
  await store.instances('b', MINUTE)
  await sleep(30)
  expect(await store.instances('b', 20_000)).toBe(1)
})

test('stores of another prefix are not counted', async () => {
  await bareStore(client, { prefix: 'theirs' }).instances('a', MINUTE)
  expect(await bareStore(client, { prefix: 'ours' }).instances('b', MINUTE)).toBe(1)
})
