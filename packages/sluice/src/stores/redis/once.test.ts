import { Redis } from 'ioredis'
import { Redis as Valkey } from 'iovalkey'
import { type RedisServer, startProxy, startRedis, type TcpProxy, until } from 'sluice-harness'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CLIENTS, type Connected, ioredis } from '../../fixtures/redis/clients.ts'
import { bareStore, Counter, loadScripts } from '../../fixtures/redis/counter.ts'
import { concurrency, fixedWindow } from '../../index.ts'
import type { Change } from '../store.ts'

const MANY = fixedWindow({ limit: 1000, window: '1h' })
let server: RedisServer
let proxy: TcpProxy
let direct: Redis
let path = 0

beforeAll(async () => {
  server = await startRedis()
  proxy = await startProxy(server)
  direct = await ioredis(server)
  await loadScripts(direct)
})

afterAll(async () => {
  direct.disconnect()
  await proxy.stop()
  await server.stop()
})

beforeEach(() => {
  path++
})

/** Loses the answer to what is done, and then the connection, once the server has done it. */
async function losingTheAnswer<T>(act: () => Promise<T>, isDone: () => Promise<boolean>): Promise<T> {
  proxy.drop = 'down'
  const answer = act()
  try {
    await until('the server has done it', isDone)
  } finally {
    proxy.drop = false
    proxy.reset()
  }
  return answer
}

describe.each([
  ['ioredis', (to: TcpProxy) => new Redis(to.port, to.host, { retryStrategy: () => 1 })],
  ['iovalkey', (to: TcpProxy) => new Valkey(to.port, to.host, { retryStrategy: () => 1 })],
] as const)('%s sends again what was not answered when a connection broke', (_, open) => {
  let client: Redis | Valkey
  let near: Counter
  let far: Counter

  beforeEach(async () => {
    client = open(proxy)
    client.on('error', () => undefined)
    await client.ping()
    near = new Counter(bareStore(direct), MANY, `limit ${path}`)
    far = new Counter(bareStore(client), MANY, `limit ${path}`)
    return () => client.disconnect()
  })

  test('a charge counts once, and the answer is the first one', async () => {
    const charge = await losingTheAnswer(
      () => far.take('a', 3),
      async () => (await near.used('a')) === 3,
    )
    const { at: now } = await near.take('b')
    expect(charge).toMatchObject({ allowed: true, used: 3, fault: undefined })
    expect(charge.at).toBeLessThan(now)
    expect(await near.used('a')).toBe(3)
  })

  test('so do all of a batch', async () => {
    const keys = ['a', 'b', 'a', 'c', 'a']
    const charges = await losingTheAnswer(
      () => Promise.all(keys.map(key => far.take(key))),
      async () => (await near.used('c')) === 1,
    )
    expect(charges.map(charge => charge.used)).toEqual([1, 1, 2, 1, 3])
    expect(await Promise.all(['a', 'b', 'c'].map(key => near.used(key)))).toEqual([3, 1, 1])
  })

  test.each([
    ['a refund', (charge): Change => ({ type: 'refund', charge })],
    ['a credit', (charge): Change => ({ type: 'credit', charge })],
  ] as [string, (charge: Awaited<ReturnType<Counter['take']>>) => Change][])(
    '%s gives back once',
    async (_, changeOf) => {
      const charges = [await far.take('a', 2), await far.take('a', 2), await far.take('a', 2)]
      await losingTheAnswer(
        async () => far.store.amend([changeOf(charges[0]!)]),
        async () => (await near.used('a')) === 4,
      )
      expect(await near.used('a')).toBe(4)
    },
  )

  test('a slot is held once', async () => {
    const slots = concurrency({ limit: 5, ttl: '1m' })
    const held = new Counter(far.store, slots, 'slots')
    const seen = new Counter(near.store, slots, 'slots')
    const key = `key ${path}`
    const charge = await losingTheAnswer(
      () => held.take(key),
      async () => (await seen.used(key)) === 1,
    )
    expect(await seen.used(key)).toBe(1)
    expect(await held.store.amend([{ type: 'release', charge }])).toEqual([1])
    expect(await seen.used(key)).toBe(0)
  })
})

/** Like the default deadline, so much sooner than these clients connect again that a wrong idea of the time is no matter. */
const VALID_TICKS = 39_000

describe.each([
  ['ioredis', (to: TcpProxy) => new Redis(to.port, to.host)],
  ['iovalkey', (to: TcpProxy) => new Valkey(to.port, to.host)],
] as const)('what %s sends again, it sends too late by default', (_, open) => {
  const isKept = async () => (await direct.keys(`*by default ${path}:call:*`)).length > 0
  let near: Counter
  let far: Counter

  beforeEach(async () => {
    const client = open(proxy)
    client.on('error', () => undefined)
    await client.ping()
    const store = bareStore(client, { validTicks: VALID_TICKS, prefix: `by default ${path}` })
    await store.probe(0)
    near = new Counter(bareStore(direct), MANY, `limit ${path}`)
    far = new Counter(store, MANY, `limit ${path}`)
    await until('the time of the server is known well', async () => (await far.take('b')).fault === undefined)
    return () => client.disconnect()
  })

  test('a charge counts once, and no reply is kept', async () => {
    const charge = await losingTheAnswer(
      () => far.take('a'),
      async () => (await near.used('a')) === 1,
    )
    expect(charge.fault?.code).toBe('SLUICE_STORE_TIMEOUT')
    expect(await near.used('a')).toBe(1)
    expect(await isKept()).toBe(false)
  })

  test('a credit gives back once, since its reply is kept', async () => {
    const charge = await near.take('a', 2)
    await near.take('a', 2)
    await losingTheAnswer(
      async () => far.store.amend([{ type: 'credit', charge }]),
      async () => (await near.used('a')) === 2,
    )
    expect(await near.used('a')).toBe(2)
    expect(await isKept()).toBe(true)
  })
})

test('a credit is not made again when its reply may have been kept no longer', async () => {
  const client = new Redis(proxy.port, proxy.host, { retryStrategy: () => 1100 })
  client.on('error', () => undefined)
  await client.ping()
  const store = bareStore(client, { validTicks: VALID_TICKS, prefix: 'not again' })
  const near = new Counter(bareStore(direct), MANY, `limit ${path}`)
  const far = new Counter(store, MANY, `limit ${path}`)
  await until('the time of the server is known well', async () => (await far.take('b')).fault === undefined)
  const charge = await near.take('a', 2)
  await near.take('a', 2)
  const outcome = await losingTheAnswer(
    () => store.amend([{ type: 'credit', charge }]).catch(error => error.code),
    async () => (await near.used('a')) === 2 && (await direct.del(await direct.keys('*not again:call:*'))) > 0,
  )
  expect([outcome, await near.used('a')]).toEqual(['SLUICE_STORE_TIMEOUT', 2])
  client.disconnect()
})

test('where the time of the server is not known yet, a reply is kept by any client that sends again', async () => {
  const client = new Redis(proxy.port, proxy.host)
  client.on('error', () => undefined)
  await client.ping()
  const near = new Counter(bareStore(direct), MANY, `limit ${path}`)
  const far = new Counter(bareStore(client, { validTicks: VALID_TICKS }), MANY, `limit ${path}`)
  const charge = await losingTheAnswer(
    () => far.take('a'),
    async () => (await near.used('a')) === 1,
  )
  expect([charge.fault, charge.used, await near.used('a')]).toEqual([undefined, 1, 1])
  client.disconnect()
})

test('node-redis does not send again: the charge has a fault, and counts once', async () => {
  const { client, close }: Connected = await CLIENTS['node-redis'](proxy)
  const near = new Counter(bareStore(direct), MANY, `limit ${path}`)
  const far = new Counter(bareStore(client), MANY, `limit ${path}`)
  const charge = await losingTheAnswer(
    () => far.take('a'),
    async () => (await near.used('a')) === 1,
  )
  expect(charge.fault?.code).toBe('SLUICE_STORE_UNREACHABLE')
  await until('it is connected again', async () => (await far.take('b')).fault === undefined)
  expect(await near.used('a')).toBe(1)
  close()
})
