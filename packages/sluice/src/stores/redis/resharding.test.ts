import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisCluster, startCluster, until } from 'sluice-harness'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLUSTER_CLIENTS, type Connected } from '../../fixtures/redis/clients.ts'
import { bareStore, Counter } from '../../fixtures/redis/counter.ts'
import { Load } from '../../fixtures/redis/load.ts'
import { createLimiter, type Decision, fixedWindow } from '../../index.ts'
import { encodeKey } from '../../limiter/key.ts'
import { type RedisStore, redisStore } from './redis-store.ts'

const MANY = fixedWindow({ limit: 1_000_000, window: '1h' })
let cluster: RedisCluster

beforeAll(async () => {
  // Or no slot is served while some are not.
  cluster = await startCluster({ args: ['--cluster-require-full-coverage', 'no'] })
}, 20_000)

afterAll(() => cluster.stop())

/** Keys in the same slot as the first of them. */
function neighbours(counter: Counter): string[] {
  const tag = (key: string) => counter.nameOf(key).slice(0, 4)
  const keys = Array.from({ length: 1000 }, (_, n) => `user:${n}`)
  return keys.filter(key => tag(key) === tag(keys[0]!))
}

describe.each(Object.entries(CLUSTER_CLIENTS))('through %s', (client, connect) => {
  let connected: Connected

  beforeAll(async () => {
    connected = await connect(cluster)
  })

  afterAll(() => connected.close())

  test('a slot that moves under load loses no charge and doubles none', { timeout: 30_000 }, async () => {
    const counter = new Counter(bareStore(connected.client), MANY, client)
    const keys = neighbours(counter)
    const slot = await cluster.slotOf(counter.nameOf(keys[0]!))
    const from = await cluster.nodeOf(slot)
    const to = cluster.nodes.slice(0, 3).find(node => node !== from)!

    let asked = 0
    const load = new Load(10, () => counter.take(keys[asked++ % keys.length]!))
    await sleep(50)
    await cluster.migrateSlot(slot, to, { keysPerStep: 100, onStep: () => sleep(5) })
    const moved = load.answers.length
    await until('the slot is served where it is now', async () => {
      return load.answers.slice(moved).some(charge => charge.fault === undefined)
    })
    const charges = await load.stop()

    const taken = charges.filter(charge => charge.fault === undefined && charge.allowed)
    const used = await Promise.all(keys.map(key => counter.used(key)))
    expect(used).toEqual(keys.map(key => taken.filter(charge => charge.key === key).length))
  })
})

/** When each decision was made. Those made without the store come at once, so they are not asked for that often. */
async function timed(deciding: Promise<Decision>): Promise<{ at: number; decision: Decision }> {
  const decision = await deciding
  if (decision.degraded !== false) await sleep(5)
  return { at: performance.now(), decision }
}

describe.each(Object.entries(CLUSTER_CLIENTS))('a primary that dies under load, through %s', (client, connect) => {
  const REPLICATED_MS = 100
  let connected: Connected
  let store: RedisStore
  let load: Load<{ at: number; decision: Decision }>
  let others: Load<{ at: number; decision: Decision }>
  let counter: Counter
  let diedAt = 0

  beforeAll(async () => {
    connected = await connect(cluster)
    store = redisStore(connected.client, { deadline: '250ms', denyCache: false, onEvent: () => undefined })
    const limiter = createLimiter(MANY, { name: client, store, onOutage: 'closed' })
    counter = new Counter(store, MANY, encodeKey(['sluice', client, 'default'], ''))
    const nodeOf = async (key: string) => cluster.nodeOf(await cluster.slotOf(counter.nameOf(key)))
    const doomed = await nodeOf('user:0')
    const elsewhere: string[] = []
    for (let n = 1; elsewhere.length < 5; n++) if ((await nodeOf(`user:${n}`)) !== doomed) elsewhere.push(`user:${n}`)

    let asked = 0
    load = new Load(5, () => timed(limiter.consume('user:0')))
    others = new Load(1, () => timed(limiter.consume(elsewhere[asked++ % elsewhere.length]!)))
    await sleep(2 * REPLICATED_MS)
    diedAt = performance.now()
    await doomed.kill()
    return async () => {
      await store.close()
      connected.close()
      await doomed.restart()
      await cluster.settled()
    }
  }, 30_000)

  test('its slots are decided again within seconds', { timeout: 20_000 }, async () => {
    const isBack = async () => {
      const { at, decision } = load.answers.at(-1)!
      return at > diedAt + REPLICATED_MS && decision.degraded === false
    }
    await until('the slot is decided again', isBack, { withinMs: 15_000 })
  })

  test('no more is forgotten than what was not replicated yet', async () => {
    const answers = await load.stop()
    const admitted = answers.filter(({ decision }) => decision.allowed)
    const atRisk = admitted.filter(({ at }) => at > diedAt - REPLICATED_MS && at < diedAt + REPLICATED_MS)
    expect(admitted.length).toBeGreaterThan(atRisk.length)
    expect(admitted.length - (await counter.used('user:0'))).toBeLessThanOrEqual(atRisk.length)
  })

  test('the slots of other nodes never notice', async () => {
    const answers = await others.stop()
    const degraded = answers.filter(({ decision }) => decision.degraded !== false)
    expect(answers.filter(({ at }) => at > diedAt).length).toBeGreaterThan(100)
    expect(degraded.length / answers.length).toBeLessThan(0.01)
  })
})
