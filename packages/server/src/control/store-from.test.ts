import { createLimiter } from 'sluice'
import type { StoreEvent } from 'sluice/redis'
import { startCluster, startRedis, until } from 'sluice-harness'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isSharedStore, type OpenStore, storeFrom } from './store-from.ts'

function opened(address: string, onEvent: (event: StoreEvent) => void = () => {}): OpenStore {
  const store = storeFrom(address, onEvent, () => {})
  onTestFinished(() => store.close())
  return store
}

/** Two limiters over two clients count together, so the counts are where the address says. */
async function countsTogether(address: string): Promise<void> {
  const [one, other] = [opened(address), opened(address)].map(({ store }) => createLimiter('9/h', { store }))
  let round = 0
  const seen = await until('it decides', async () => {
    const key = `key ${round++}`
    const decisions = [await one!.consume(key, { cost: 4 }), await other!.peek(key)]
    return decisions.every(({ degraded }) => degraded === false) && decisions[1]
  })
  expect(seen.remaining).toBe(5)
}

describe('memory', () => {
  test.each(['', 'memory'])('%j is this process', async address => {
    expect(isSharedStore(address)).toBe(false)
    expect(opened(address)).toMatchObject({ kind: 'memory', store: { mode: 'sync' } })
  })
})

describe('Redis', () => {
  test('by its address', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    await countsTogether(`redis://${redis.host}:${redis.port}`)
  })

  test('with a percent-encoded password', async () => {
    const redis = await startRedis({ args: ['--requirepass', 'p@ss/w%rd'] })
    onTestFinished(() => redis.stop())
    await countsTogether(`redis://:${encodeURIComponent('p@ss/w%rd')}@${redis.host}:${redis.port}`)
  })

  test('in one of its databases', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    await countsTogether(`redis://${redis.host}:${redis.port}/3`)
    expect(String(await redis.command('INFO', 'keyspace'))).toMatch(/^# Keyspace\r\ndb3:\S+\r\n$/)
  })

  test('as a cluster', { timeout: 30_000 }, async () => {
    const cluster = await startCluster()
    onTestFinished(() => cluster.stop())
    await countsTogether(`redis-cluster://${cluster.nodes.map(({ host, port }) => `${host}:${port}`).join(',')}`)
  })

  test('that is down is an outage and does not end the process', async () => {
    const events: string[] = []
    const { store } = opened('redis://127.0.0.1:1', ({ type }) => events.push(type))
    expect(await createLimiter('9/h', { store }).consume('a')).toMatchObject({ allowed: true, degraded: 'local' })
    expect(events).toContain('outage')
  })

  test('that comes back decides again', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const { store } = opened(`redis://${redis.host}:${redis.port}`)
    const limiter = createLimiter('9/h', { store })
    const degraded = async () => (await limiter.peek('a')).degraded
    await until('it decides', async () => (await degraded()) === false)
    await redis.kill()
    await until('it is missed', async () => (await degraded()) === 'local')
    await redis.restart()
    await until('it decides again', async () => (await degraded()) === false)
  })
})

const SECRET = 'hunter2'

test.each([
  'Memory',
  'redis',
  'redis:',
  'redis://',
  'redis:///1',
  `redis//:${SECRET}@host`,
  `http://:${SECRET}@host`,
  `redis://:${SECRET}@host:99999`,
  `redis://:${SECRET}@host:port`,
  `redis://:${SECRET}@host/db`,
  `redis://:${SECRET}/x@host`,
  `redis://:${SECRET}#x@host`,
  `redis://:${SECRET}%zz@host`,
  'redis-cluster://',
  `redis-cluster://:${SECRET}@`,
  `redis-cluster://:${SECRET}@a`,
  `redis-cluster://:${SECRET}@a:1,b`,
  `redis-cluster://:${SECRET}@a:1,,b:2`,
  `redis-cluster://:${SECRET}@a:99999`,
  `redis-cluster://user:x@${SECRET}@a:1`,
  `redis-cluster://user:${SECRET}%zz@a:1`,
])('%s is not a store address, and the error does not show it', address => {
  const open = () => opened(address)
  expect(open).toThrow('expected a store memory, redis://')
  expect(open).toThrow('SLUICE_BAD_OPTION')
  expect(open).not.toThrow(SECRET)
})
