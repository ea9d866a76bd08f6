import { describe, expect, test } from 'vitest'
import { fiveOfEach } from '../../fixtures/limiter/five-of-each.ts'
import { bareStore, Counter } from '../../fixtures/redis/counter.ts'
import { client, withOwnServer } from '../../fixtures/redis/own-server.ts'
import { createLimiter, fixedWindow, slidingLog, slidingWindow } from '../../index.ts'
import { type Change, reserving } from '../store.ts'
import { redisStore } from './redis-store.ts'

withOwnServer()

const FOREIGN = 'SLUICE_FOREIGN_VALUE'
const CLOCK = '{0}taken:clock'
/** What may stand at a key, made from what a limit has written there itself. */
const INTRUDERS: [string, (name: string, own: Buffer) => Promise<unknown>][] = [
  ['a list', name => client.rpush(name, 'x', 'y')],
  ['a hash', name => client.hset(name, 'x', 'y')],
  ['an empty string', name => client.set(name, '')],
  ['a number', name => client.set(name, '42')],
  ['a shorter string', (name, own) => client.set(name, own.subarray(0, 5))],
  ['a longer string', (name, own) => client.set(name, join(own, 'x'))],
  ['a string of another letter', (name, own) => client.set(name, join('x', own.subarray(1)))],
  ['the state of another kind', (name, own) => client.set(name, join(otherLetter(own), own.subarray(1)))],
  ['a word with the right letter', (name, own) => client.set(name, join(own.subarray(0, 1), ...LOREM))],
  ['a word with the letter of those who are blocked', (name, own) => client.set(name, join(lower(own), ...LOREM))],
]

const LOREM = ['orem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor']
const join = (...parts: (string | Buffer)[]) => Buffer.concat(parts.map(part => Buffer.from(part as Buffer)))
const otherLetter = (own: Buffer) => (own.toString('latin1', 0, 1) === 'B' ? 'F' : 'B')
const lower = (own: Buffer) => own.toString('latin1', 0, 1).toLowerCase()

/** Of a log only the header is read, since it may be long. */
const isSeen = (kind: string, intruder: string) => kind !== 'slidingLog' || intruder !== 'a longer string'

const kinds = [
  ...fiveOfEach.map(policy => [policy.kind, policy] as const),
  ['slidingWindow of one bucket', slidingWindow({ limit: 5, window: '5s' })] as const,
]

describe.each(kinds)('%s', (kind, policy) => {
  const open = (path: string) => new Counter(bareStore(client), policy, `${kind}, ${path}`)

  const seen = INTRUDERS.filter(([what]) => isSeen(kind, what))
  test.each(seen)('%s at a key is noticed and left as it is, and nobody else suffers', async (what, intrude) => {
    const counter = open(what)
    const name = counter.nameOf('b')
    await counter.take('b')
    const own = await client.getBuffer(name)
    await client.del(name)
    await intrude(name, own!)
    const before = await client.dumpBuffer(name)

    for (const cost of [1, 2]) {
      const charges = await Promise.all(['a', 'b', 'c'].map(key => counter.take(key, cost)))
      expect(charges.map(({ fault, allowed }) => fault?.code ?? allowed)).toEqual([true, FOREIGN, true])
    }
    for (const type of ['credit', 'reset', 'block'] as const) {
      const change = { type, charge: counter.charge('b'), ticks: 1000 } as Change
      await expect(counter.store.amend([change])).rejects.toMatchObject({ code: FOREIGN })
    }
    expect(await client.dumpBuffer(name)).toEqual(before)
    expect(await counter.used('a')).toBe(3)
  })
})

test('a foreign value where a log should be has no times to tell', async () => {
  const counter = new Counter(bareStore(client), slidingLog({ limit: 5, window: '1h' }), 'history')
  await client.rpush(counter.nameOf('a'), 'x')
  await expect(counter.store.inspect(counter.charge('a'))).rejects.toMatchObject({ code: FOREIGN })
})

test('a foreign value where the reservations of a key should be is noticed and left as it is', async () => {
  const counter = new Counter(bareStore(client), fixedWindow({ limit: 5, window: '1h' }), 'holds')
  const holds = (key: string) => counter.nameOf(key).replace('}', '}#')
  const reserve = async (key: string) => {
    const charge = counter.charge(key)
    const intent = reserving(60_000_000)
    await new Promise<void>(done => counter.store.ask({ charges: [charge], intent, done }))
    return charge.fault?.code ?? charge.allowed
  }
  await client.set(holds('first'), 'x')
  expect([await reserve('first'), await reserve('second'), await reserve('second')]).toEqual([FOREIGN, true, true])
  expect([await client.zcard(holds('second')), await client.ttl(holds('second'))]).toEqual([2, expect.any(Number)])
  await client.set(holds('second'), 'x')
  expect([await reserve('second'), (await counter.take('second')).fault?.code]).toEqual([FOREIGN, FOREIGN])
  expect(await client.mget(holds('first'), holds('second'))).toEqual(['x', 'x'])
})

describe.each([
  ['a list', () => client.rpush(CLOCK, 'x')],
  ['a string of another length', () => client.set(CLOCK, 'noon')],
])('%s where the store keeps its time', (_, intrude) => {
  const left = async (act: () => Promise<unknown>) => {
    await client.del(CLOCK)
    await intrude()
    const before = await client.dumpBuffer(CLOCK)
    await act()
    expect(await client.dumpBuffer(CLOCK)).toEqual(before)
    expect(await client.ttl(CLOCK)).toBe(-1)
  }

  test('is noticed by a decision, and left as it is', async () => {
    const store = bareStore(client, { prefix: 'taken' })
    const counter = new Counter(store, fixedWindow({ limit: 5, window: '1h' }), 'taken')
    await left(async () => expect((await counter.take('a')).fault?.code).toBe(FOREIGN))
  })

  test('is noticed by a probe, and left as it is', async () => {
    const store = bareStore(client, { prefix: 'taken' })
    await left(() => expect(store.probe(0)).rejects.toMatchObject({ code: FOREIGN }))
  })
})

test('a limiter decides such a key by onOutage, and the others as ever', async () => {
  const store = redisStore(client, { denyCache: false })
  const policy = fixedWindow({ limit: 5, window: '1h' })
  const counter = new Counter(store, policy, '\u00006:sluice9:intrusion7:default')
  await client.rpush(counter.nameOf('b'), 'x')
  const limiter = createLimiter(policy, { name: 'intrusion', store, onOutage: 'closed' })
  const [a, b] = await Promise.all([limiter.consume('a'), limiter.consume('b')])
  expect([a.allowed, a.degraded, b.allowed, b.degraded, b.reason]).toEqual([true, false, false, 'closed', 'outage'])
  expect(store.stats().open).toBe(0)
  await store.close()
})
