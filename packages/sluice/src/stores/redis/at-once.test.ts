import { expect, test } from 'vitest'
import { fiveOfEach } from '../../fixtures/limiter/five-of-each.ts'
import { client, withOwnServer } from '../../fixtures/redis/own-server.ts'
import { createLimiter, fixedWindow } from '../../index.ts'
import { redisStore } from './redis-store.ts'

withOwnServer()

const key = (caller: string) => caller
const held = fixedWindow({ limit: 100, window: '1h' })
const kinds = fiveOfEach.filter(({ kind }) => kind !== 'concurrency')

test.each(kinds)(
  'a limit that is taken at once is not held by a reservation, and given back by its end: $kind',
  async policy => {
    const store = redisStore(client)
    const limits = { calls: { policy, key, atOnce: true }, tokens: { policy: held, key } }
    const limiter = createLimiter<string, 'async'>({ name: policy.kind, store, limits })
    const left = async () => (await limiter.peek('a')).limits.map(({ remaining }) => remaining)
    const [kept, dropped] = [
      await limiter.reserve('a', { cost: 1, ttl: '15m' }),
      await limiter.reserve('a', { cost: 1, ttl: '15m' }),
    ]
    expect((await limiter.peek('a')).limits[0]!.resetAfterMs).toBeLessThanOrEqual(10_000)
    await kept.settle({ tokens: 40 })
    await dropped.cancel()
    expect((await left())[1]).toBe(60)
    expect((await left())[0]).toBeGreaterThanOrEqual(4)
    await store.close()
  },
)
