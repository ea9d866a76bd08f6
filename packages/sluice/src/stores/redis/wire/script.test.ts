import type { Redis } from 'ioredis'
import { type RedisServer, startRedis } from 'sluice-harness'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLIENTS, type Connected, ioredis } from '../../../fixtures/redis/clients.ts'
import { bareStore, Counter } from '../../../fixtures/redis/counter.ts'
import { commands, Observer } from '../../../fixtures/redis/observer.ts'
import { slidingLog } from '../../../index.ts'
import type { RedisRemote } from '../redis-remote.ts'

let server: RedisServer
let direct: Redis
let observer: Observer

beforeAll(async () => {
  server = await startRedis()
  direct = await ioredis(server)
  observer = await Observer.of(server)
})

afterAll(async () => {
  direct.disconnect()
  observer.close()
  await server.stop()
})

describe.each(Object.entries(CLIENTS))('through %s, a server that has forgotten its scripts', (name, connect) => {
  let connected: Connected
  let store: RedisRemote
  let counter: Counter

  beforeAll(async () => {
    connected = await connect(server)
    store = bareStore(connected.client)
    counter = new Counter(store, slidingLog({ limit: 1000, window: '1h' }), `limit of ${name}`)
  })

  afterAll(() => connected.close())

  const acts: [string, () => Promise<unknown>][] = [
    ['a decision', () => counter.take('a')],
    ['a change', () => store.amend([{ type: 'credit', charge: counter.charge('a') }])],
    ['inspecting', () => store.inspect(counter.charge('a'))],
    ['a probe', () => store.probe(0)],
    ['a count of the instances', () => store.instances('1', 1000)],
  ]

  test.each(acts)('is told the script once, for %s', async (_, act) => {
    await direct.script('FLUSH')
    const seen = await observer.during(async () => {
      await act()
      await act()
    })
    const words = seen.filter(({ inScript }) => !inScript).map(({ args: [word] }) => word!.toLowerCase())
    expect(words).toEqual(['evalsha', 'eval', 'evalsha'])
    expect(commands(seen, 'script')).toEqual([])
  })

  test('counts each charge once', async () => {
    await direct.script('FLUSH')
    const charges = await Promise.all(Array.from({ length: 300 }, () => counter.take('b')))
    expect(charges.every(charge => charge.allowed)).toBe(true)
    expect(await counter.used('b')).toBe(300)
  })
})
