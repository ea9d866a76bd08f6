import { type RedisCluster, startCluster } from 'sluice-harness'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CLUSTER_CLIENTS, type Connected } from '../../fixtures/redis/clients.ts'
import { bareStore, Counter } from '../../fixtures/redis/counter.ts'
import { commands, Observer } from '../../fixtures/redis/observer.ts'
import { createLimiter, fixedWindow, type Limiter, type LimitOptions } from '../../index.ts'
import { encodeKey } from '../../limiter/key.ts'

const TEN = fixedWindow({ limit: 10, window: '1h' })
const TWO = fixedWindow({ limit: 2, window: '1h' })
let cluster: RedisCluster
let observer: Observer

beforeAll(async () => {
  cluster = await startCluster()
  observer = await Observer.of(...cluster.nodes.slice(0, 3))
}, 20_000)

afterAll(async () => {
  observer.close()
  await cluster.stop()
})

interface Caller {
  readonly user: string
  readonly org: string
}

describe.each(Object.entries(CLUSTER_CLIENTS))('a cluster, through %s', (client, connect) => {
  let connected: Connected
  let name = ''
  let tests = 0

  beforeAll(async () => {
    connected = await connect(cluster)
  })

  afterAll(() => connected.close())

  beforeEach(() => {
    name = `${client} ${tests++}`
  })

  function limiterOf(limits: Record<string, LimitOptions<Caller>>): Limiter<Caller, 'async'> {
    return createLimiter<Caller, 'async'>({ name, store: bareStore(connected.client), limits })
  }

  /** One of the limiter's limits, asked by itself. */
  function counterOf(limit: string, policy = TEN): Counter {
    return new Counter(bareStore(connected.client), policy, encodeKey(['sluice', name, limit], ''))
  }

  test('a user and a user on a route share a slot, with what the store keeps there itself', async () => {
    const counter = counterOf('any')
    for (const user of ['42', 'alice', '', '🙂', '{x}']) {
      const names = [user, [user], [user, '/search']].map(key => counter.nameOf(encodeKey(key, '')))
      const [tag] = /^\{\d+\}/.exec(names[0]!)!
      const slots = await Promise.all([...names, `${tag}:sluice:clock`].map(one => cluster.slotOf(one)))
      expect(new Set(slots).size).toBe(1)
    }
  })

  test('users stand in many slots, and on every primary', async () => {
    const counter = counterOf('any')
    const names = Array.from({ length: 500 }, (_, n) => counter.nameOf(`user:${n}`))
    const slots = new Set(await Promise.all(names.map(one => cluster.slotOf(one))))
    expect(slots.size).toBeGreaterThan(100)
    expect(new Set(await Promise.all([...slots].map(slot => cluster.nodeOf(slot)))).size).toBe(3)
  }, 20_000)

  test('limits of one user are decided in one call', async () => {
    const limiter = limiterOf({
      user: { policy: TEN, key: ({ user }) => user },
      route: { policy: TEN, key: ({ user }) => [user, '/search'] },
      day: { policy: fixedWindow({ limit: 10, align: 'day' }), key: ({ user }) => [user] },
    })
    const caller = { user: 'alice', org: 'a' }
    await limiter.consume(caller)
    const seen = await observer.during(() => limiter.consume(caller))
    expect(commands(seen, 'evalsha')).toHaveLength(1)
    expect((await limiter.peek(caller)).limits.map(limit => limit.remaining)).toEqual([8, 8, 8])
  })

  test('decisions of users who share a slot travel together, the others slot by slot', async () => {
    const counter = counterOf('any')
    const users = Array.from({ length: 300 }, (_, n) => `user:${n}`)
    await Promise.all(users.map(user => counter.take(user)))
    const tags = new Set(users.map(user => /^\{\d+\}/.exec(counter.nameOf(user))![0]))
    const seen = await observer.during(() => Promise.all(users.map(user => counter.take(user))))
    expect(commands(seen, 'evalsha')).toHaveLength(tags.size)
    expect(await Promise.all(users.map(user => counter.used(user)))).toEqual(users.map(() => 2))
  })

  describe('limits in several slots', () => {
    const user = { policy: TEN, key: (caller: Caller) => caller.user }
    const org = { policy: TWO, key: (caller: Caller) => caller.org }
    const everybody = { policy: TEN }

    test('are charged all or none, and what a refused request took goes back', async () => {
      const limiter = limiterOf({ user, org, everybody })
      const decisions = []
      for (let n = 0; n < 5; n++) decisions.push(await limiter.consume({ user: `user ${n}`, org: 'acme' }))
      expect(decisions.map(({ allowed }) => allowed)).toEqual([true, true, false, false, false])
      expect(decisions.map(({ policy }) => policy).slice(2)).toEqual(['org', 'org', 'org'])
      const used = ['user 0', 'user 1', 'user 2', 'user 3'].map(key => counterOf('user').used(key))
      expect(await Promise.all(used)).toEqual([1, 1, 0, 0])
      expect(await counterOf('org', TWO).used('acme')).toBe(2)
      expect(await counterOf('everybody').used('')).toBe(2)
    })

    test('admit no more than any of them, however many ask at once', async () => {
      const limiter = limiterOf({ user, org: { ...org, policy: fixedWindow({ limit: 7, window: '1h' }) }, everybody })
      const callers = Array.from({ length: 40 }, (_, n) => ({ user: `user ${n}`, org: 'acme' }))
      const decisions = await Promise.all(callers.map(caller => limiter.consume(caller)))
      expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(7)
      expect(await counterOf('everybody').used('')).toBe(7)
      const used = await Promise.all(callers.map(caller => counterOf('user').used(caller.user)))
      expect(used).toEqual(decisions.map(({ allowed }) => Number(allowed)))
    })

    test('are asked in declared order but those without a key last, so that nobody drains a shared one', async () => {
      const limiter = limiterOf({ everybody, org, user })
      const caller = { user: 'bob', org: 'acme' }
      const names = {
        org: counterOf('org', TWO).nameOf('acme'),
        user: counterOf('user').nameOf('bob'),
        everybody: counterOf('everybody').nameOf(''),
      }
      const written = async () => {
        const seen = await observer.during(() => limiter.consume(caller))
        const writes = seen.filter(({ inScript, args }) => inScript && /^(setex|setrange)$/i.test(args[0]!))
        return Object.entries(names).flatMap(([limit, one]) =>
          writes.some(({ args }) => args[1] === one) ? [limit] : [],
        )
      }
      await limiter.consume(caller)
      expect(await written()).toEqual(['org', 'user', 'everybody'])
      // The org is used up: nobody else is charged, not even for a moment.
      expect(await written()).toEqual([])
    })
  })
})
