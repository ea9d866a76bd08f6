import { Redis } from 'ioredis'
import { createSentinel } from 'redis'
import { afterAll, describe, expect, test } from 'vitest'
import { type Any, codeOf } from '../../fixtures/limiter/misuse.ts'
import { SluiceError } from '../../index.ts'
import { redisStore } from './redis-store.ts'

const client = new Redis({ lazyConnect: true, host: '127.0.0.1', retryStrategy: () => null })
client.on('error', () => undefined)

afterAll(() => client.disconnect())

describe('what is no client is refused where it is passed', () => {
  const strangers: [string, Any, string][] = [
    ['nothing', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a URL', 'redis://127.0.0.1:6379', "'redis://127.0.0.1:6379'"],
    ['the options of a client', { host: '127.0.0.1', port: 6379 }, 'an object with host, port'],
    ['the class itself', Redis, 'a function'],
    ['a promise of a client', Promise.resolve(client), 'a promise'],
    [
      'an object of the right shape but one',
      { status: 'ready', evalshaBuffer() {}, info() {} },
      'an object with status',
    ],
    ['a number', 6379, '6379'],
    ['a node-redis client of Sentinel', createSentinel({ name: 'x', sentinelRootNodes: [] }), 'an object with'],
  ]

  test.each(strangers)('%s', (_, stranger, shown) => {
    const store = () => redisStore(stranger)
    expect(store).toThrow(SluiceError)
    expect(store).toThrow(`expected an ioredis, iovalkey or node-redis client, got ${shown}`)
    expect(codeOf(store)).toBe('SLUICE_BAD_CLIENT')
  })
})

describe('an option that cannot be meant is refused where it is passed', () => {
  const option = 'SLUICE_BAD_OPTION'
  const duration = 'SLUICE_BAD_DURATION'
  const mistakes: [Any, string, string][] = [
    [{ deadLine: 10 }, option, "'deadLine'"],
    [{ retries: 3 }, option, "an option of redisStore, got 'retries'; known are deadline, connectWait"],
    [{ deadline: 0 }, duration, 'redisStore deadline'],
    [{ deadline: -1 }, duration, 'redisStore deadline'],
    [{ deadline: 'soon' }, duration, "'soon'"],
    [{ deadline: true }, duration, 'redisStore deadline'],
    [{ deadline: Number.NaN }, duration, 'NaN'],
    [{ connectWait: 'forever' }, duration, 'redisStore connectWait'],
    [{ connectWait: false }, duration, 'redisStore connectWait'],
    [{ denyCache: { for: 0 } }, duration, 'redisStore denyCache.for'],
    [{ denyCache: { for: 'ever' } }, duration, 'redisStore denyCache.for'],
    [{ denyCache: { maxEntries: -1 } }, option, 'maxEntries'],
    [{ denyCache: { maxEntries: 1.5 } }, option, 'maxEntries'],
    [{ denyCache: { maxKeys: 10 } }, option, 'maxKeys'],
    [{ denyCache: 10 }, option, '10'],
    [{ denyCache: null }, option, 'null'],
    [{ batch: 'yes' }, option, "expected batch as true or false, got 'yes'"],
    [{ batch: 128 }, option, 'batch'],
    [{ heartbeat: 1000 }, option, 'heartbeat'],
    [{ tags: 0 }, option, 'tags as a whole number from 1 to 16384'],
    [{ tags: 1.5 }, option, 'tags'],
    [{ tags: 20_000 }, option, 'tags'],
    [{ tags: '128' }, option, 'tags'],
    [{ prefix: 1 }, option, 'prefix as a string'],
    [{ instances: 0 }, option, 'instances'],
    [{ instances: 2.5 }, option, 'instances'],
    [{ instances: 'many' }, option, "instances as a whole number, 1 or more, or 'auto'"],
    [{ onEvent: 'warn' }, option, 'onEvent as a function'],
    ['fast', option, "'fast'"],
    [null, option, 'null'],
  ]

  test.each(mistakes)('%j', (options, code, says) => {
    const store = () => redisStore(client, options)
    expect(codeOf(store)).toBe(code)
    expect(store).toThrow(says)
  })
})

test.each([
  {},
  { deadline: false as const },
  { deadline: '10ms' as const, connectWait: 0 as const, denyCache: false as const },
  { denyCache: {} },
  { denyCache: { for: '500ms' as const, maxEntries: 100 } },
  { tags: 1, prefix: '', instances: 3, batch: false, heartbeat: true },
  { tags: 16_384, instances: 'auto' as const, onEvent: () => undefined },
])('options as they are meant: %j', async options => {
  await redisStore(client, options).close()
})
