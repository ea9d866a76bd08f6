import { Cluster } from 'ioredis'
import { Cluster as ValkeyCluster } from 'iovalkey'
import { type RedisCluster, startCluster } from 'sluice-harness'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bareStore, Counter, connected } from '../../../fixtures/redis/counter.ts'
import { fixedWindow } from '../../../index.ts'
import type { Charge } from '../../charge.ts'
import type { RedisRemote } from '../redis-remote.ts'
import { redisStore } from '../redis-store.ts'
import { corked } from './corked.ts'

let cluster: RedisCluster

beforeAll(async () => {
  cluster = await startCluster({ primaries: 3, replicas: 0 })
}, 20_000)

afterAll(() => cluster.stop())

const MANY = fixedWindow({ limit: 1000, window: '1h' })
const USERS = Array.from({ length: 300 }, (_, n) => `user:${n}`)

describe.each([
  ['ioredis', Cluster],
  ['iovalkey', ValkeyCluster],
])('calls for many slots in one turn, through %s', (name, Client) => {
  let client: Cluster
  let counter: Counter
  let writes: number[] = []

  beforeAll(async () => {
    client = new Client(cluster.nodes.map(({ host, port }) => ({ host, port }))) as Cluster
    client.on('error', () => undefined)
    await new Promise(resolve => client.once('ready', resolve))
    counter = new Counter(bareStore(client), MANY, `limit of ${name}`)
    await Promise.all(USERS.map(user => counter.take(user))) // connections stand, and scripts are known
    writes = client.nodes('master').map(countWrites)
  })

  afterAll(() => client.disconnect())

  const callsSoFar = () => (counter.store as RedisRemote).counters.calls

  test('leave in a few writes for each primary', async () => {
    const before = callsSoFar()
    writes.fill(0)
    await Promise.all(USERS.map(user => counter.take(user)))
    expect(callsSoFar() - before).toBeGreaterThan(100)
    for (const count of writes) expect(count).toBeLessThanOrEqual(4)
  })

  test('include those of other turns that nothing has to be waited for between', async () => {
    const before = callsSoFar()
    const turns = Array.from({ length: 20 }, () => new Promise<void>(resolve => setImmediate(resolve)))
    await Promise.all(turns.map(turn => turn.then(() => counter.take('user:1'))))
    expect(callsSoFar() - before).toBe(1)
  })

  test('are not late because of what runs before they leave', async () => {
    const store = redisStore(client, { deadline: '250ms' })
    await connected(store)
    const busy = new Counter(store, MANY, `busy limit of ${name}`)
    const asked = new Promise<Charge>(resolve => setImmediate(() => resolve(busy.take('user:1'))))
    setImmediate(() => stall(400))
    expect((await asked).fault).toBeUndefined()
    await store.close()
  })

  test('are all decided', async () => {
    const before = await Promise.all(USERS.map(user => counter.used(user)))
    await Promise.all(USERS.map(user => counter.take(user)))
    expect(await Promise.all(USERS.map(user => counter.used(user)))).toEqual(before.map(used => used + 1))
  })

  test('leave no connection held back when sending them throws', async () => {
    const send = () => {
      throw new Error('not sent')
    }
    expect(() => corked(client, send)).toThrow('not sent')
    expect(client.nodes('master').map(node => node.stream.writableCorked)).toEqual([0, 0, 0])
    expect((await counter.take('user:1')).allowed).toBe(true)
  })

  /** Counts what is handed to the system, at the place in the list. */
  function countWrites({ stream }: { stream: unknown }, place: number): number {
    const socket = stream as { _write(...args: unknown[]): void; _writev(...args: unknown[]): void }
    for (const method of ['_write', '_writev'] as const) {
      const write = socket[method]
      socket[method] = (...args) => {
        writes[place]!++
        write.apply(socket, args)
      }
    }
    return 0
  }
})

function stall(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}
