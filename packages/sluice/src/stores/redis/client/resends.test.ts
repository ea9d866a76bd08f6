import { Cluster, Redis } from 'ioredis'
import { Redis as Valkey, Cluster as ValkeyCluster } from 'iovalkey'
import { createClient } from 'redis'
import { describe, expect, test } from 'vitest'
import { linkOf } from './client.ts'

const lazy = { lazyConnect: true }
const own = { ...lazy, retryStrategy: () => 0 }

describe.each([
  [
    'ioredis',
    (options: object) => new Redis(options),
    (delay: number) => new Cluster([], { ...lazy, retryDelayOnFailover: delay }),
  ],
  [
    'iovalkey',
    (options: object) => new Valkey(options),
    (delay: number) => new ValkeyCluster([], { ...lazy, retryDelayOnFailover: delay }),
  ],
] as const)('%s', (_, one, cluster) => {
  test.each([
    ['after 50 ms where it waits by default', () => one(lazy), 50],
    ['at once where the user says how long it waits', () => one(own), 0],
    ['never where it is told not to', () => one({ ...lazy, autoResendUnfulfilledCommands: false }), Infinity],
    ['after what it waits for a failover', () => cluster(70), 70],
  ])('sends again %s', (_, open, ms) => {
    const client = open()
    expect(linkOf(client).resendsAfterMs).toBe(ms)
    client.disconnect()
  })

  test('waits no less by default, however often it is asked', () => {
    const { retryStrategy } = one(lazy).options
    const waits = Array.from({ length: 1000 }, () => retryStrategy!(1) as number)
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(50)
  })
})

test('node-redis never sends again', () => {
  expect(linkOf(createClient()).resendsAfterMs).toBe(Infinity)
})
