import type { Redis } from 'ioredis'
import { type RedisServer, startRedis } from 'sluice-harness'
import { afterAll, beforeAll, describe, test } from 'vitest'
import type { Policy } from '../../index.ts'
import { KINDS } from '../../testing/trace.ts'
import { ioredis } from './fixtures/clients.ts'
import { timedStore } from './fixtures/timed-store.ts'
import { Twins } from './fixtures/twins.ts'

const STEPS = 1000
let server: RedisServer
let client: Redis

beforeAll(async () => {
  server = await startRedis()
  client = await ioredis(server)
})

afterAll(async () => {
  client.disconnect()
  await server.stop()
})

/** Plays a trace for each seed, side by side; `between` comes after every turn. */
async function play(kind: Policy['kind'], seeds: readonly number[], between?: (twins: Twins) => Promise<unknown>) {
  await client.flushall()
  const open = (seed: number) => new Twins(seed, kind, STEPS, (clock, prefix) => timedStore(client, clock, { prefix }))
  const all = seeds.map(open)
  const longest = Math.max(...all.map(twins => twins.turns.length))
  for (let turn = 0; turn < longest; turn++) {
    await Promise.all(all.map(twins => twins.play(turn)))
    if (between !== undefined) await Promise.all(all.map(between))
  }
}

/** For tests, the scripts add so much to what they need a key for. */
const SPARE_SECONDS = 3600

/** Takes away what has outlived its time to live by the clock of the test, the moment it has. */
function forgetting(): (twins: Twins) => Promise<unknown> {
  const expiries = new Map<string, number>()
  return async twins => {
    const ttlMs = await client.pttl(twins.name)
    // What has a time to live was written in this turn: it had none before.
    if (ttlMs >= 0) {
      expiries.set(twins.name, twins.now + (Math.ceil(ttlMs / 1000) - SPARE_SECONDS) * 1_000_000)
      await client.persist(twins.name)
    }
    if ((expiries.get(twins.name) ?? Infinity) <= twins.next) await client.del(twins.name)
  }
}

describe.each(KINDS)('a %s limit in Redis gives the verdicts of the one in memory', kind => {
  test('over a thousand steps', { timeout: 60_000 }, () => play(kind, [1, 2, 3, 4]))

  test('though no key ever expires', { timeout: 60_000 }, () => play(kind, [5, 6], twins => client.persist(twins.name)))

  test('though keys are forgotten as soon as they may be', { timeout: 60_000 }, () =>
    play(kind, [7, 8, 9], forgetting()),
  )
})
