import type { Redis } from 'ioredis'
import { type RedisServer, startProxy, startRedis } from 'sluice-harness'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fiveOfEach } from '../../fixtures/limiter/five-of-each.ts'
import { CLIENTS, ioredis } from '../../fixtures/redis/clients.ts'
import { bareStore, Counter, connected, loadScripts } from '../../fixtures/redis/counter.ts'
import { commands, Observer } from '../../fixtures/redis/observer.ts'
import { askStore } from '../../fixtures/stores/ask-store.ts'
import { createLimiter, fixedWindow, type Policy, slidingWindow, tokenBucket } from '../../index.ts'
import type { Charge } from '../charge.ts'
import { type Change, type Store, TAKE } from '../store.ts'
import { linkOf } from './client/client.ts'
import { redisStore } from './redis-store.ts'

const MANY = fixedWindow({ limit: 1000, window: '1h' })
let server: RedisServer
let client: Redis
let observer: Observer
let paths = 0

beforeAll(async () => {
  server = await startRedis()
  client = await ioredis(server)
  observer = await Observer.of(server)
  await loadScripts(client)
})

afterAll(async () => {
  client.disconnect()
  observer.close()
  await server.stop()
})

/** A limit that nobody has used. */
function counterOf(policy: Policy, store: Store = bareStore(client)): Counter {
  return new Counter(store, policy, `limit ${paths++}`)
}

const times = <T>(n: number, make: (n: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i))
const callsFor = async (act: () => Promise<unknown>) => commands(await observer.during(act), 'evalsha')

describe('decisions asked for in one turn', () => {
  test.each([
    [1, 1],
    [2, 1],
    [64, 1],
    [65, 2],
    [300, 5],
  ])('%i of them make %i calls', async (decisions, calls) => {
    const counter = counterOf(MANY)
    const keys = times(decisions, n => `key ${n}`)
    expect(await callsFor(() => Promise.all(keys.map(key => counter.take(key))))).toHaveLength(calls)
    expect(await Promise.all(keys.map(key => counter.used(key)))).toEqual(keys.map(() => 1))
  })

  test('one that cannot even be named leaves its neighbours alone', async () => {
    const tagOf = (key: string) => {
      if (key === 'unspeakable') throw new RangeError('Invalid string length')
      return 0
    }
    const store = bareStore(client, { tagOf })
    const [one, other] = [counterOf(MANY, store), counterOf(tokenBucket({ capacity: 9, refill: '1/h' }), store)]
    const asked = [
      [one.charge('a'), other.charge('b')],
      [one.charge('c'), other.charge('unspeakable')],
      [one.charge('a'), other.charge('d')],
    ]
    await Promise.all(asked.map(charges => askStore(store, charges, TAKE)))
    const faults = asked.map(charges => charges.map(({ fault }) => fault?.code))
    const failed = 'SLUICE_STORE_FAILED'
    expect(faults).toEqual([
      [undefined, undefined],
      [failed, failed],
      [undefined, undefined],
    ])
    expect(await Promise.all(['a', 'c'].map(key => one.used(key)))).toEqual([2, 0])
    expect(await Promise.all(['b', 'd'].map(key => other.used(key)))).toEqual([1, 1])
  })

  test('leave as soon as a call is full, the rest when the round is over', async () => {
    const store = bareStore(client)
    const counter = counterOf(MANY, store)
    await counter.take('a')
    const { calls } = store.counters
    const first = times(64, n => counter.take(`key ${n}`))
    expect(store.counters.calls - calls).toBe(1)
    const rest = times(70, n => counter.take(`key ${n}`))
    expect(store.counters.calls - calls).toBe(2)
    await Promise.all([...first, ...rest])
    expect(store.counters.calls - calls).toBe(3)
  })

  describe('the rest of a round with full calls', () => {
    /** Asks for so many while nothing is answered, and tells in how many calls they went until then and in the end. */
    async function callsOf(decisions: number): Promise<{ unanswered: number; all: number }> {
      const store = bareStore(client)
      const counter = counterOf(MANY, store)
      await counter.take('a')
      const { calls } = store.counters
      server.pause()
      const asked = times(decisions, n => counter.take(`key ${n}`))
      for (let round = 0; round < 5; round++) await new Promise(resolve => setImmediate(resolve))
      const unanswered = store.counters.calls - calls
      server.resume()
      expect((await Promise.all(asked)).map(({ used }) => used)).toEqual(asked.map(() => 1))
      return { unanswered, all: store.counters.calls - calls }
    }

    test.each([
      [64 + 8, { unanswered: 2, all: 2 }],
      [2 * 64 + 8, { unanswered: 2, all: 3 }],
      [2 * 64 + 16, { unanswered: 2, all: 3 }],
      [2 * 64 + 17, { unanswered: 3, all: 3 }],
    ])('of %i decisions waits for an answer if it is small and they are several', async (decisions, calls) => {
      expect(await callsOf(decisions)).toEqual(calls)
    })

    test('keeps its place behind them, though they are sent again', async () => {
      for (let n = 0; n < 10; n++) {
        const counter = counterOf(MANY)
        const reset = () => counter.store.amend([{ type: 'reset', charge: counter.charge('a') }])
        await counter.take('a')
        await reset() // from now on the key is not plain, which a store that is new does not know
        const fresh = new Counter(bareStore(client), MANY, `limit ${paths - 1}`)
        const taken = times(2 * 64, () => fresh.take('a'))
        const last = fresh.store.amend([{ type: 'reset', charge: fresh.charge('a') }])
        expect((await Promise.all(taken)).map(({ used }) => used)).toEqual(times(2 * 64, i => i + 1))
        await last
        expect(await fresh.used('a')).toBe(0)
      }
    })

    test('does not wait for answers that cannot come', async () => {
      const doomed = await ioredis(server, { autoResendUnfulfilledCommands: false })
      const counter = counterOf(MANY, bareStore(doomed))
      server.pause()
      const asked = times(2 * 64 + 8, n => counter.take(`key ${n}`))
      await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
      doomed.disconnect()
      const faults = (await Promise.all(asked)).map(({ fault }) => fault?.code)
      server.resume()
      expect(new Set(faults)).toEqual(new Set(['SLUICE_STORE_UNREACHABLE']))
    })
  })

  test('travel together though some waited for a promise', async () => {
    const counter = counterOf(MANY)
    const waits = () => Promise.resolve().then(() => counter.take('b'))
    expect(await callsFor(() => Promise.all([counter.take('a'), waits()]))).toHaveLength(1)
  })

  test('do not wait for those of the next', async () => {
    const counter = counterOf(MANY)
    const next = () => new Promise(resolve => setImmediate(resolve)).then(() => counter.take('b'))
    expect(await callsFor(() => Promise.all([counter.take('a'), next()]))).toHaveLength(2)
  })

  test('are taken in the order they were asked for', async () => {
    const counter = counterOf(MANY)
    const taken = await Promise.all(times(300, () => counter.take('a')))
    expect(taken.map(charge => charge.used)).toEqual(times(300, n => n + 1))
  })

  test('keep their place among changes, whatever the key has been through', async () => {
    const counter = counterOf(MANY)
    const reset = () => counter.store.amend([{ type: 'reset', charge: counter.charge('a') }])
    for (let n = 0; n < 3; n++) {
      const asked = [counter.take('a'), counter.take('a'), reset(), counter.take('a'), reset()] as const
      const [first, second, , third] = await Promise.all(asked)
      expect([n, first.used, second.used, third.used]).toEqual([n, 1, 2, 1])
    }
  })

  test.each([
    ['of one policy', 1],
    ['of several', 3],
  ])('report the numbers of a policy once, and each key: %s', async (_, kinds) => {
    const store = bareStore(client)
    const limits = [987_601, 987_602, 987_603]
    const policies = [
      fixedWindow({ limit: limits[0]!, window: '1m' }),
      tokenBucket({ capacity: limits[1]!, refill: '1/s' }),
      slidingWindow({ limit: limits[2]!, window: '1m' }),
    ].slice(0, kinds)
    const counters = policies.map(policy => counterOf(policy, store))
    const keys = ['a', 'b', 'c']
    const asked = () => Promise.all(times(60, n => counters[n % kinds]!.take(keys[Math.floor(n / kinds) % 3]!)))
    const calls = await callsFor(asked)
    const words = calls.flatMap(({ args }) => args)
    for (const limit of limits.slice(0, kinds)) expect(words.join(' ').split(String(limit))).toHaveLength(1 + 1)
    for (const counter of counters) {
      for (const key of keys) expect(words.filter(word => word === counter.nameOf(key))).toHaveLength(1)
    }
  })

  test.each(fiveOfEach.map(policy => [policy.kind, policy] as const))('pass up to the limit: %s', async (_, policy) => {
    const counter = counterOf(policy)
    const asked = await Promise.all(times(10, () => counter.take('a')))
    expect(asked.map(charge => charge.allowed)).toEqual(times(10, n => n < 5))
  })

  test.each(fiveOfEach.map(policy => [policy.kind, policy] as const))(
    'do not suffer from one that cannot be decided: %s',
    async (_, policy) => {
      const counter = counterOf(policy)
      await client.rpush(counter.nameOf('b'), 'a list')
      const asked = await Promise.all(['a', 'b', 'c', 'b', 'a'].map(key => counter.take(key)))
      const foreign = 'SLUICE_FOREIGN_VALUE'
      expect(asked.map(({ fault, allowed }) => fault?.code ?? allowed)).toEqual([true, foreign, true, foreign, true])
      expect([await counter.used('a'), await counter.used('c')]).toEqual([2, 1])
    },
  )
})

describe('a key that stands several times in a call is read and written once', () => {
  const isWrite = (word: string) => /^(set|setex|psetex|setrange)$/i.test(word)
  const isRead = (word: string) => /^(get|mget|getrange)$/i.test(word)

  test.each(
    fiveOfEach.flatMap(policy => [
      [policy.kind, 'one by one', [1, 1, 1], policy] as const,
      [policy.kind, 'for other costs', [2, 0, 1], policy] as const,
    ]),
  )('%s, %s', async (kind, _, costs, policy) => {
    const counter = counterOf(policy)
    await counter.take('a')
    const seen = await observer.during(() => Promise.all(costs.map(cost => counter.take('a', cost))))
    const own = seen.filter(({ inScript, args }) => inScript && args.includes(counter.nameOf('a')))
    const words = own.map(({ args }) => args[0]!)
    // Of a log the header and what is new.
    expect(words.filter(isWrite)).toHaveLength(kind === 'slidingLog' ? 2 : 1)
    expect(words.filter(isRead)).toHaveLength(1)
    expect(await counter.used('a')).toBe(4)
  })
})

test('changes travel together as well', async () => {
  const counter = counterOf(MANY)
  const charges = await Promise.all(times(200, n => counter.take(`key ${n}`)))
  const refunds = charges.map((charge): Change => ({ type: 'refund', charge }))
  expect(await callsFor(async () => counter.store.amend(refunds))).toHaveLength(4)
  expect(await Promise.all(times(200, n => counter.used(`key ${n}`)))).toEqual(times(200, () => 0))
})

test('without batching, each decision goes by itself', async () => {
  const store = redisStore(client, { batch: false, denyCache: false })
  await connected(store)
  const counter = counterOf(MANY, store)
  expect(await callsFor(() => Promise.all(times(10, () => counter.take('a'))))).toHaveLength(10)
  expect(await counter.used('a')).toBe(10)
  await store.close()
})

test('a call that turns out not to be plain is not overtaken by one of the same limit and another', async () => {
  const store = redisStore(client, { deadline: '1s', denyCache: false })
  const one = fixedWindow({ limit: 1, window: '1h' })
  const limiter = createLimiter({
    limits: {
      each: { policy: one, key: ({ id }: Asker) => id },
      some: { policy: one, key: ({ id, both }: Asker) => (both ? id : undefined) },
    },
    name: 'not overtaken',
    store,
  })
  await limiter.block({ id: 'blocked', both: false }, { limit: 'each', for: '1m' })
  const others = (both: boolean) => Array.from({ length: 62 }, (_, n) => ({ id: `${both} ${n}`, both }))
  // Two full calls, each leaving as soon as it is: the first over one limit, the second over two.
  const first = [{ id: 'blocked', both: false }, { id: 'a', both: false }, ...others(false)]
  const second = [{ id: 'a', both: true }, { id: 'b', both: true }, ...others(true)]
  const decisions = await Promise.all([...first, ...second].map(asker => limiter.consume(asker)))
  expect([decisions[1]!.allowed, decisions[64]!.allowed]).toEqual([true, false])
  await store.close()
})

test('a full call that finds no connection holds up nothing that follows it', async () => {
  let isReady = true
  const store = bareStore(client, { link: { ...linkOf(client), isReady: () => isReady } })
  const [one, other] = [counterOf(MANY, store), counterOf(tokenBucket({ capacity: 9, refill: '1/h' }), store)]
  isReady = false
  const asked = [...times(64, () => one.take('a')), other.take('a')]
  const faults = (await Promise.all(asked)).map(({ fault }) => fault?.code)
  expect(new Set(faults)).toEqual(new Set(['SLUICE_STORE_UNREACHABLE']))
  isReady = true
  expect([(await one.take('a')).used, (await other.take('a')).remaining]).toEqual([1, 8])
}, 10_000)

interface Asker {
  readonly id: string
  readonly both: boolean
}

describe('calls of one turn through node-redis, which writes once a round', () => {
  test('leave in writes of their own, and in order, so that the server begins while we go on', async () => {
    const proxy = await startProxy(server)
    const { client, close } = await CLIENTS['node-redis'](proxy)
    try {
      const counter = counterOf(fixedWindow({ limit: 600, window: '1h' }), bareStore(client))
      const callsByWrite: number[] = []
      proxy.rewrite = (chunk, direction) => {
        const calls = chunk.toString('latin1').split('EVALSHA').length - 1
        if (direction === 'up' && calls > 0) callsByWrite.push(calls)
        return chunk
      }
      const first = times(300, () => counter.take('a'))
      // Asked for while calls of the turn before wait to be sent.
      const second = new Promise<Charge>(resolve => setImmediate(() => resolve(counter.take('a'))))
      const charges = [...(await Promise.all(first)), await second]
      expect(charges.map(({ remaining }) => remaining)).toEqual(times(301, n => 599 - n))
      expect(callsByWrite).toEqual([1, 1, 1, 1, 1, 1])
    } finally {
      close()
      await proxy.stop()
    }
  })
})
