import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { until } from 'sluice-harness'
import { expect, test } from 'vitest'
import { client, withOwnServer } from '../../fixtures/redis/own-server.ts'
import { concurrency, createLimiter, type Limiter, tokenBucket } from '../../index.ts'
import { type RedisStore, redisStore } from './redis-store.ts'

/** Long enough for a machine that is busy with other tests to come round to three beats. */
const TTL_MS = 500
let names = 0

withOwnServer()

type Use = (limiter: Limiter<string, 'async'>, store: RedisStore) => Promise<void>

/** One slot, for as long as `use` runs. */
async function withSlot(heartbeat: boolean, use: Use): Promise<void> {
  const store = redisStore(client, { heartbeat, deadline: '1s' })
  try {
    await use(
      createLimiter(concurrency({ limit: 1, ttl: `${TTL_MS}ms` }), { name: `limiter ${names++}`, store }),
      store,
    )
  } finally {
    await store.close()
  }
}

const isFree = async (limiter: Limiter<string, 'async'>) => (await limiter.peek('a')).allowed

test('with a heartbeat a slot is held beyond its ttl while its decision is in use, and free when released', async () => {
  await withSlot(true, async limiter => {
    const decision = await limiter.consume('a')
    expect(decision.allowed).toBe(true)
    for (let n = 0; n < 5; n++) {
      await sleep(TTL_MS / 2)
      expect(await isFree(limiter)).toBe(false)
    }
    decision.release()
    await until('it is free', () => isFree(limiter), { withinMs: TTL_MS / 2, everyMs: 5 })
    await sleep(TTL_MS)
    expect(await isFree(limiter)).toBe(true)
  })
})

test('without one it ends with its ttl', async () => {
  await withSlot(false, async limiter => {
    const decision = await limiter.consume('a')
    const refused = await limiter.consume('a')
    expect([decision.allowed, refused.allowed]).toEqual([true, false])
    expect(refused.retryAfterMs).toBeLessThanOrEqual(TTL_MS)
    await sleep(refused.retryAfterMs)
    await until('it is free', () => isFree(limiter), { withinMs: TTL_MS })
    expect(decision.allowed).toBe(true)
  })
})

test('with a heartbeat a slot whose decision nobody has any more ends with its ttl', async () => {
  setFlagsFromString('--expose_gc')
  const collect = runInNewContext('gc') as () => void
  await withSlot(true, async limiter => {
    expect(await limiter.consume('a').then(decision => decision.allowed)).toBe(true)
    await until(
      'it is free',
      async () => {
        collect()
        return isFree(limiter)
      },
      { withinMs: 10 * TTL_MS },
    )
  })
})

test('with a heartbeat a closed store renews nothing', async () => {
  await withSlot(false, async reader => {
    const store = redisStore(client, { heartbeat: true, deadline: '1s' })
    const limiter = createLimiter(concurrency({ limit: 1, ttl: `${TTL_MS}ms` }), { name: reader.name, store })
    const decision = await limiter.consume('a')
    await store.close()
    await until('it is free', () => isFree(reader), { withinMs: 3 * TTL_MS })
    expect(decision.allowed).toBe(true)
  })
})

test('with a heartbeat each slot is renewed by its own ttl, whatever others are held', async () => {
  await withSlot(true, async (limiter, store) => {
    const patient = createLimiter(concurrency({ limit: 1, ttl: '1h' }), { name: 'an hour', store })
    const decisions = [await patient.consume('a'), await limiter.consume('a')]
    await sleep(2 * TTL_MS)
    expect(await isFree(limiter)).toBe(false)
    for (const decision of decisions) decision.release()
  })
})

test('a heartbeat beats for slots only', async () => {
  const store = redisStore(client, { heartbeat: true, deadline: '1s' })
  const limiter = createLimiter(tokenBucket({ capacity: 5, refill: '1/h' }), { name: 'bucket', store })
  const decision = await limiter.consume('a')
  const { calls } = store.stats()
  await sleep(TTL_MS)
  expect([decision.allowed, store.stats().calls]).toEqual([true, calls])
  await store.close()
})
