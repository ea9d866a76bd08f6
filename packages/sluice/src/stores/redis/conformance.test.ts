import { type RedisServer, startRedis } from 'sluice-harness'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLIENTS, type Connected } from '../../fixtures/redis/clients.ts'
import { Keyspace } from '../../fixtures/redis/keyspace.ts'
import { timedStores } from '../../fixtures/redis/timed-store.ts'
import { type Open, storeSuite } from '../../testing/index.ts'

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})

afterAll(() => server.stop())

/** The first does more of the random work: what is decided is the server's, whatever client asks. */
const SCALES = { ioredis: 0.1, iovalkey: 0.02, 'node-redis': 0.02 }

describe.each(Object.entries(CLIENTS))('one server, through %s', (name, connect) => {
  let connected: Connected
  let keyspace: Keyspace

  beforeAll(async () => {
    connected = await connect(server)
    keyspace = new Keyspace([server])
  })

  afterAll(() => {
    connected.close()
    keyspace.close()
  })

  const open: Open = options => timedStores(connected.client, () => keyspace.clear())(options)
  for (const one of storeSuite(open, { scale: SCALES[name as keyof typeof CLIENTS] })) {
    test(one.name, { timeout: 30_000 }, async () => one.run())
  }

  test('no key was ever without a time to live', async () => {
    await keyspace.inspect()
    expect(keyspace.immortal).toEqual([])
  })
})
