import { type RedisCluster, startCluster, startRedis } from 'sluice-harness'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { CLIENTS, CLUSTER_CLIENTS } from '../../../fixtures/redis/clients.ts'
import { TAGS } from '../../../fixtures/redis/counter.ts'
import { createLimiter, fixedWindow } from '../../../index.ts'
import { SCRIPTS } from '../lua/scripts.generated.ts'
import { redisStore } from '../redis-store.ts'
import { tagOf } from './tags.ts'

const TEN = fixedWindow({ limit: 10, window: '1h' })
const SHAS = Object.values(SCRIPTS).map(({ sha }) => sha)
let cluster: RedisCluster

beforeAll(async () => {
  // A primary that hangs for a moment is to stay one.
  cluster = await startCluster({ primaries: 3, replicas: 0, nodeTimeoutMs: 15_000 })
}, 20_000)

afterAll(() => cluster.stop())

test.each(Object.entries(CLIENTS))('the first decision finds its script known: %s', async (_, connect) => {
  const redis = await startRedis()
  const { client, close } = await connect(redis)
  const store = redisStore(client, { deadline: '1s' })
  try {
    expect(await createLimiter(TEN, { store }).peek('anyone')).toMatchObject({ degraded: false })
    expect(await redis.command('SCRIPT', 'EXISTS', ...SHAS)).toEqual(SHAS.map(() => 1))
  } finally {
    await store.close()
    close()
    await redis.stop()
  }
})

test('a store that is closed leaves no timer behind', async () => {
  const redis = await startRedis()
  const { client, close } = await CLIENTS.ioredis(redis)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const store = redisStore(client)
    await createLimiter(TEN, { store }).peek('anyone')
    vi.advanceTimersByTime(1000) // deadlines that were kept
    expect(vi.getTimerCount()).toBe(1) // for the next look at the server
    await store.close()
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
    close()
    await redis.stop()
  }
})

describe.each(Object.entries(CLUSTER_CLIENTS))('a process that starts on a cluster, through %s', (_, connect) => {
  test('knows every primary and is known by it before the first decision', async () => {
    for (const primary of cluster.nodes) await primary.command('SCRIPT', 'FLUSH')
    const { client, close } = await connect(cluster)
    const store = redisStore(client)
    try {
      await createLimiter(TEN, { store }).peek('anyone')
      for (const primary of cluster.nodes) {
        expect(await primary.command('SCRIPT', 'EXISTS', ...SHAS)).toEqual(SHAS.map(() => 1))
      }
    } finally {
      await store.close()
      close()
    }
  })

  test('is not kept from the others by a primary that hangs', async () => {
    const { client, close } = await connect(cluster)
    // The store's first look goes to tag 0.
    const hung = await cluster.nodeOf(await cluster.slotOf('{0}'))
    const keys = Array.from({ length: 30 }, (_, n) => `user:${n}`)
    const nodes = await Promise.all(
      keys.map(async key => cluster.nodeOf(await cluster.slotOf(`{${tagOf(key, TAGS)}}`))),
    )
    hung.pause()
    const store = redisStore(client, { deadline: '250ms', connectWait: '5s', onEvent() {} })
    try {
      const limiter = createLimiter(TEN, { store })
      const decided = await Promise.all(keys.map(key => limiter.peek(key)))
      for (const [i, { degraded }] of decided.entries()) expect(degraded).toBe(nodes[i] === hung ? 'local' : false)
    } finally {
      hung.resume()
      await store.close()
      close()
    }
  }, 20_000)
})
