import type { Redis } from 'ioredis'
import { Counter } from '../../packages/sluice/src/fixtures/redis/counter.ts'
import { forgetting } from '../../packages/sluice/src/fixtures/redis/forgetting.ts'
import {
  AT_ONCE,
  PLAIN_LIMITS,
  playPlainCalls,
  SET_BACK,
  setBack,
} from '../../packages/sluice/src/fixtures/redis/plain-calls.ts'
import { timedStore, timedStores } from '../../packages/sluice/src/fixtures/redis/timed-store.ts'
import { playTogether, Twins } from '../../packages/sluice/src/fixtures/redis/twins.ts'
import {
  fixedWindow,
  memoryStore,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../packages/sluice/src/index.ts'
import { linkOf } from '../../packages/sluice/src/stores/redis/client/client.ts'
import type { Scripts } from '../../packages/sluice/src/stores/redis/wire/script.ts'
import { fakeClock } from '../../packages/sluice/src/testing/index.ts'
import { same } from '../../packages/sluice/src/testing/store-suite/case.ts'
import { operatorCases } from '../../packages/sluice/src/testing/store-suite/operator-cases.ts'
import { reservationCases } from '../../packages/sluice/src/testing/store-suite/reservation-cases.ts'
import { benchOf } from '../../packages/sluice/src/testing/store-suite/world.ts'
import { KINDS } from '../../packages/sluice/src/testing/trace.ts'

/** A trial that correct scripts pass. It rejects if they fail. */
export interface Trial {
  readonly name: string
  /** The Lua files that the trial is about; all if missing. */
  readonly about?: RegExp
  run(scripts: Scripts, client: Redis): Promise<void>
}

const STEPS = 200
const SEEDS = [3, 8, 10, 12, 14]

export const TRIALS: readonly Trial[] = [
  { name: 'the verdicts of the memory store', run: asInMemory },
  { name: 'calls of plain decisions', about: /^(kernels|decide|one-by-one)/, run: plainCalls },
  { name: 'the contract of reservations and operators', about: /^full/, run: reservations },
  { name: 'keys forgotten as soon as they may be', run: forgotten },
  { name: 'a log that comes around', run: comesAround },
  { name: 'a call that is sent twice', run: sentTwice },
  { name: 'a call that comes too late', run: late },
  { name: 'a clock that is set back', about: /^(clock|finish)/, run: clockSetBack },
  { name: 'values of strangers', run: foreign },
]

/** Compares the scripts with the memory store, and checks that every key has a time to live. */
async function asInMemory(scripts: Scripts, client: Redis): Promise<void> {
  await playTwins(scripts, client)
  const [, keys, expiring] = /keys=(\d+),expires=(\d+)/.exec(await client.info('keyspace')) ?? []
  same(expiring, keys, () => 'keys that expire, of all')
}

async function forgotten(scripts: Scripts, client: Redis): Promise<void> {
  await playTwins(scripts, client, forgetting(client))
}

async function playTwins(scripts: Scripts, client: Redis, between?: (twins: Twins) => Promise<unknown>): Promise<void> {
  const open = (kind: Policy['kind'], seed: number) =>
    new Twins(seed, kind, STEPS, (clock, prefix) => timedStore(client, clock, { prefix, scripts }))
  await playTogether(
    KINDS.flatMap(kind => SEEDS.map(seed => open(kind, seed))),
    between,
  )
}

async function plainCalls(scripts: Scripts, client: Redis): Promise<void> {
  const played = PLAIN_LIMITS.map(limit => playPlainCalls(client, limit, { seed: 1, turns: 150, scripts }))
  const back = SET_BACK.flatMap(policy => AT_ONCE.map(each => setBack(client, policy, each, scripts)))
  const settled = await Promise.allSettled([...played, ...back])
  for (const one of settled) if (one.status === 'rejected') throw one.reason
}

async function reservations(scripts: Scripts, client: Redis): Promise<void> {
  const open = timedStores(client, () => client.flushall(), { scripts })
  const bench = benchOf(open, 0.05)
  for (const one of [...reservationCases(bench), ...operatorCases(bench)]) await one.run()
}

/** Charges of three in a ring of seven wrap around its end. The wait of a charge of six shows where they are. */
async function comesAround(scripts: Scripts, client: Redis): Promise<void> {
  const clock = fakeClock(1000)
  const policy = slidingLog({ limit: 7, window: '1s' })
  const stores = [memoryStore({ clock }), timedStore(client, clock, { prefix: 'around', scripts })]
  const counters = stores.map(store => new Counter(store, policy, 'around'))
  for (let n = 0; n < 40; n++) {
    if (n % 2 === 0) clock.advance(500)
    const [near, far] = await Promise.all(counters.map(counter => counter.take('a', n % 2 === 0 ? 3 : 6)))
    same([far!.used, far!.retryAt], [near!.used, near!.retryAt], () => `charge ${n} of a log that comes around`)
  }
}

const FIVE = fixedWindow({ limit: 5, window: '1h' })

async function sentTwice(scripts: Scripts, client: Redis): Promise<void> {
  const link = linkOf(client)
  const twice = {
    ...link,
    evalsha: (...call: Parameters<typeof link.evalsha>) => link.evalsha(...call).then(() => link.evalsha(...call)),
    // The store uses `eval` for a script that the server does not know yet.
    eval: (...call: Parameters<typeof link.eval>) => link.eval(...call).then(() => link.eval(...call)),
  }
  const store = timedStore(client, fakeClock(1000), { prefix: 'twice', scripts, link: twice })
  const counter = new Counter(store, FIVE, 'twice')
  for (const used of [1, 2]) {
    const charges = await Promise.all(Array.from({ length: used }, (_, n) => counter.take(`key ${n}`)))
    same(
      charges.map(charge => charge.used).join(),
      used === 1 ? '1' : '2,1',
      () => `charges of turn ${used}, sent twice`,
    )
  }
  await counter.take('a', 2)
  const charge = await counter.take('a', 2)
  await store.amend([{ type: 'credit', charge }])
  same(await counter.used('a'), 2, () => 'after a credit that was sent twice')
}

/** The server's clock advances by more than a call is valid for, so the call is sent again. */
async function late(scripts: Scripts, client: Redis): Promise<void> {
  const clock = fakeClock(1000)
  const store = timedStore(client, clock, { prefix: 'late', scripts, validTicks: 25_000 })
  const counter = new Counter(store, FIVE, 'late')
  await counter.take('a')
  clock.advance(1000)
  await counter.take('a')
  same(store.counters.calls, 3, () => 'calls, the second of which came too late and was made again')
}

/** The call that finds the clock set back is sent again. Later calls are sent once. */
async function clockSetBack(scripts: Scripts, client: Redis): Promise<void> {
  const clock = fakeClock(3_600_000)
  const store = timedStore(client, clock, { prefix: 'back', scripts })
  const counter = new Counter(store, FIVE, 'back')
  await counter.take('a')
  clock.set(1000)
  for (let n = 0; n < 3; n++) {
    await counter.take('a')
    clock.advance(10)
  }
  same(store.counters.calls, 5, () => 'calls of four decisions, one of which found the clock set back')
}

const PLAIN_KINDS = [FIVE, tokenBucket({ capacity: 5, refill: '1/h' }), slidingWindow({ limit: 5, window: '1h' })]

/** Writes foreign values, some of them made from a value of Sluice. */
const INTRUSIONS: readonly ((client: Redis, name: string, own: Buffer) => Promise<unknown>)[] = [
  (client, name) => client.rpush(name, 'x'),
  (client, name) => client.set(name, 'xyz'),
  (client, name, own) => client.set(name, Buffer.concat([Buffer.from('X'), own.subarray(1)])),
  (client, name, own) => client.set(name, Buffer.concat([own, Buffer.from('x')])),
]

async function foreign(scripts: Scripts, client: Redis): Promise<void> {
  for (const policy of PLAIN_KINDS) {
    for (const intrude of INTRUSIONS) await stranger(scripts, client, policy, intrude)
  }
}

/** Charges a key with a foreign value alone and with others, by the plain script and by the full one. */
async function stranger(
  scripts: Scripts,
  client: Redis,
  policy: Policy,
  intrude: (typeof INTRUSIONS)[number],
): Promise<void> {
  for (const [keys, cost] of [
    [['a'], 1],
    [['b', 'a', 'c'], 1],
    [['a'], 2],
  ] as const) {
    // A new store each time: one that has met a foreign value uses the full script for a while.
    const counter = new Counter(timedStore(client, fakeClock(1000), { prefix: 'foreign', scripts }), policy, 'foreign')
    const name = counter.nameOf('a')
    await client.del(name)
    await counter.take('a')
    const own = (await client.getBuffer(name))!
    await client.del(name)
    await intrude(client, name, own)
    const before = (await client.dumpBuffer(name))!.toString('hex')
    const charges = await Promise.all(keys.map(key => counter.take(key, cost)))
    const codes = charges.map(({ key, fault }) => (key === 'a' ? fault?.code : 'SLUICE_FOREIGN_VALUE'))
    same([...new Set(codes)].join(), 'SLUICE_FOREIGN_VALUE', () => 'a foreign value')
    same((await client.dumpBuffer(name))!.toString('hex'), before, () => 'a foreign value after being charged')
  }
}
