import { type RedisCluster, startCluster } from 'sluice-harness'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLUSTER_CLIENTS, type Connected } from '../../fixtures/redis/clients.ts'
import { Keyspace } from '../../fixtures/redis/keyspace.ts'
import { timedStores } from '../../fixtures/redis/timed-store.ts'
import { type Open, storeSuite } from '../../testing/index.ts'

const PRIMARIES = 3
let cluster: RedisCluster

beforeAll(async () => {
  cluster = await startCluster({ primaries: PRIMARIES })
}, 20_000)

afterAll(() => cluster.stop())

describe.each(Object.entries(CLUSTER_CLIENTS))('a cluster of six, through %s', (_, connect) => {
  let connected: Connected
  let keyspace: Keyspace

  beforeAll(async () => {
    connected = await connect(cluster)
    keyspace = new Keyspace(cluster.nodes.slice(0, PRIMARIES))
  })

  afterAll(() => {
    connected.close()
    keyspace.close()
  })

  const open: Open = options => timedStores(connected.client, () => keyspace.clear())(options)
  for (const one of storeSuite(open, { scale: 0.02 })) {
    test(one.name, { timeout: 30_000 }, async () => one.run())
  }

  test('no key was ever without a time to live', async () => {
    await keyspace.inspect()
    expect(keyspace.immortal).toEqual([])
  })
})
