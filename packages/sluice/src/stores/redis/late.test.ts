import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import { type RedisServer, startRedis, until } from 'sluice-harness'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ioredis } from '../../fixtures/redis/clients.ts'
import { bareStore, Counter, connected, loadScripts } from '../../fixtures/redis/counter.ts'
import { fixedWindow } from '../../index.ts'
import { type RedisStore, redisStore } from './redis-store.ts'

const DEADLINE_MS = 25
const MANY = fixedWindow({ limit: 100_000, window: '1h' })
let server: RedisServer
let direct: Redis
let client: Redis
let store: RedisStore
let near: Counter
let far: Counter
let path = 0

beforeAll(async () => {
  server = await startRedis()
  direct = await ioredis(server)
  await loadScripts(direct)
})

afterAll(async () => {
  direct.disconnect()
  await server.stop()
})

beforeEach(async () => {
  client = await ioredis(server)
  store = redisStore(client, { deadline: `${DEADLINE_MS}ms`, denyCache: false, onEvent: () => undefined })
  await connected(store)
  near = new Counter(bareStore(direct), MANY, `limit ${path}`)
  far = new Counter(store, MANY, `limit ${path++}`)
  return async () => {
    await store.close()
    client.disconnect()
  }
})

async function scriptCalls(): Promise<number> {
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(await direct.info('commandstats'))![1])
}

/** The server stops, is asked, and goes on when the deadline has long passed. */
async function whileStopped<T>(calls: number, act: () => Promise<T>): Promise<T> {
  const before = await scriptCalls()
  server.pause()
  try {
    const outcome = await act()
    await sleep(2 * DEADLINE_MS)
    return outcome
  } finally {
    server.resume()
    await until('the calls have reached the server', async () => (await scriptCalls()) >= before + calls)
  }
}

describe('a call that reaches the server after its deadline', () => {
  test('takes nothing', async () => {
    const charge = await whileStopped(1, () => far.take('a'))
    expect(charge.fault?.code).toBe('SLUICE_STORE_TIMEOUT')
    expect(await near.used('a')).toBe(0)
  })

  test('takes nothing, however many decisions it carries, and so do all that were sent with it', async () => {
    const charges = await whileStopped(8, () => Promise.all(Array.from({ length: 1000 }, () => far.take('a'))))
    expect(new Set(charges.map(charge => charge.fault?.code))).toEqual(new Set(['SLUICE_STORE_TIMEOUT']))
    expect(store.stats()).toMatchObject({ timeouts: 1000, late: 0 })
    expect(await near.used('a')).toBe(0)
  })

  test('still gives back what was taken', async () => {
    const charge = await far.take('a')
    const refund = () => far.store.amend([{ type: 'refund', charge }]) as Promise<number[]>
    await whileStopped(1, () => expect(refund()).rejects.toMatchObject({ code: 'SLUICE_STORE_TIMEOUT' }))
    await until('it was given back', async () => (await near.used('a')) === 0)
  })
})

test('a call that waited for less than its deadline counts', async () => {
  const patient = bareStore(client, { validTicks: 10_000_000 })
  await patient.probe(0)
  const counter = new Counter(patient, MANY, near.limit.space.path)
  const charge = await (async () => {
    server.pause()
    const asked = counter.take('a')
    await sleep(2 * DEADLINE_MS)
    server.resume()
    return asked
  })()
  expect([charge.fault, charge.allowed, await near.used('a')]).toEqual([undefined, true, 1])
})

test("a deadline that has passed because the server's clock was set is no deadline: the call is made again", async () => {
  const patient = bareStore(client, { validTicks: DEADLINE_MS * 1000, prefix: 'set' })
  await patient.probe(0)
  const counter = new Counter(patient, MANY, near.limit.space.path)
  const later = Buffer.alloc(8)
  later.writeDoubleLE(Date.now() * 1000 + 3_600_000_000)
  await direct.set('{0}set:clock', later)
  const charge = await counter.take('a')
  // The first finds out that the clock is ahead of the server, the second that it is late by that clock.
  expect([charge.fault, charge.used, patient.counters.calls]).toEqual([undefined, 1, 3])
})
