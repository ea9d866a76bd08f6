import { Redis } from 'ioredis'
import { Redis as Valkey } from 'iovalkey'
import { type SentinelGroup, startSentinel, until } from 'sluice-harness'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLimiter, fixedWindow, type Limiter } from '../../../index.ts'
import { type RedisStore, redisStore } from '../redis-store.ts'

let group: SentinelGroup

beforeAll(async () => {
  group = await startSentinel()
}, 60_000)

afterAll(() => group.stop())

const addresses = () => group.sentinels.map(({ host, port }) => ({ host, port }))

describe.each([
  ['ioredis', () => new Redis({ sentinels: addresses(), name: group.name })],
  ['iovalkey', () => new Valkey({ sentinels: addresses(), name: group.name })],
] as const)('through %s and Sentinel', (name, open) => {
  let client: Redis | Valkey
  let store: RedisStore
  let limiter: Limiter<string, 'async'>

  beforeAll(() => {
    client = open()
    client.on('error', () => undefined)
    store = redisStore(client, { deadline: '250ms', connectWait: '5s', onEvent: () => undefined })
    limiter = createLimiter(fixedWindow({ limit: 10, window: '1h' }), { name, store, onOutage: 'closed' })
    return async () => {
      await store.close()
      client.disconnect()
    }
  })

  test('the primary decides', async () => {
    const decisions = await Promise.all(Array.from({ length: 6 }, () => limiter.consume('a')))
    expect(decisions.map(({ degraded, remaining }) => [degraded, remaining])).toEqual(
      [9, 8, 7, 6, 5, 4].map(remaining => [false, remaining]),
    )
  })

  test('after a failover the new one does, and knows what was counted', { timeout: 60_000 }, async () => {
    await group.failover('order')
    const decision = await until(
      'it decides',
      async () => {
        const peeked = await limiter.peek('a')
        return peeked.degraded === false && peeked
      },
      { withinMs: 15_000 },
    )
    expect(decision.remaining).toBe(4)
    expect((await limiter.consume('a')).remaining).toBe(3)
  })
})
