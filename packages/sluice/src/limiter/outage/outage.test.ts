import { describe, expect, test } from 'vitest'
import { fiveOfEach } from '../../fixtures/limiter/five-of-each.ts'
import { DOWN, FIVE, outageWorld } from '../../fixtures/limiter/outage-world.ts'
import { RemoteMemory } from '../../fixtures/stores/remote-memory.ts'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  gcra,
  leakyBucket,
  type OnOutage,
  type OutageMode,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../index.ts'
import { resilient } from '../../stores/remote/resilient.ts'
import { envelopeViolation, fakeClock, random } from '../../testing/index.ts'

/** Half of each of `fiveOfEach`, rounded up; a bucket fills half as fast. */
const halfOfEach: Policy[] = [
  tokenBucket({ capacity: 3, refill: '1/2s' }),
  leakyBucket({ capacity: 3, leak: '1/2s' }),
  gcra({ rate: '1/2s', burst: 3 }),
  fixedWindow({ limit: 3, window: '5s' }),
  slidingWindow({ limit: 3, window: '5s', buckets: 5 }),
  slidingLog({ limit: 3, window: '5s' }),
  concurrency({ limit: 3, ttl: '5s' }),
]

const modes: OutageMode[] = ['local', 'open', 'closed']

describe.each(fiveOfEach.map((policy, i) => ({ kind: policy.kind, policy, half: halfOfEach[i]! })))(
  '$kind while the store is down',
  ({ policy, half }) => {
    test("'closed' refuses, for a second at a time", async () => {
      const { store, limiter } = outageWorld({ one: { policy, onOutage: 'closed' } })
      store.set(DOWN)
      for (const call of [limiter.consume('a'), limiter.peek('a')]) {
        expect(await call).toMatchObject({
          allowed: false,
          reason: 'outage',
          degraded: 'closed',
          policy: 'one',
          limit: 5,
          remaining: 0,
          at: 1000,
          retryAfterMs: 1000,
        })
      }
    })

    test("'open' lets pass, as if nothing had been used", async () => {
      const { store, limiter } = outageWorld({ one: { policy, onOutage: 'open' } })
      store.set(DOWN)
      for (let i = 0; i < 20; i++) {
        expect(await limiter.consume('a')).toMatchObject({
          allowed: true,
          reason: 'ok',
          degraded: 'open',
          limit: 5,
          remaining: 5,
          at: 1000,
          resetAfterMs: 0,
          retryAfterMs: 0,
        })
      }
    })

    test("'local' decides as a limiter of half of it would, here and by itself", async () => {
      const { clock, store, limiter } = outageWorld({ one: { policy } })
      const alone = createLimiter({ clock, limits: { one: { policy: half, key: (key: string) => key } } })
      store.set(DOWN)
      for (const [gap, cost] of [
        [0, 1],
        [0, 2],
        [0, 1],
        [700, 1],
        [2300, 1],
        [0, 0],
        [4000, 3],
        [0, 3],
      ] as const) {
        clock.advance(gap)
        expect((await limiter.peek('a', { cost })).toJSON()).toEqual({
          ...alone.peek('a', { cost }).toJSON(),
          degraded: 'local',
        })
        expect((await limiter.consume('a', { cost })).toJSON()).toEqual({
          ...alone.consume('a', { cost }).toJSON(),
          degraded: 'local',
        })
      }
    })

    test('a cost above the local limit is an outage that ends, above the real one it never passes', async () => {
      const { store, limiter } = outageWorld({ one: { policy } })
      store.set(DOWN)
      const asked = { degraded: 'local', allowed: false }
      expect(await limiter.consume('a', { cost: 3 })).toMatchObject({ degraded: 'local', allowed: true })
      expect(await limiter.consume('b', { cost: 4 })).toMatchObject({ ...asked, reason: 'outage', retryAfterMs: 1000 })
      expect(await limiter.consume('b', { cost: 5 })).toMatchObject({ ...asked, reason: 'outage', retryAfterMs: 1000 })
      expect(await limiter.consume('b', { cost: 6 })).toMatchObject({
        ...asked,
        reason: 'cost-exceeds-limit',
        retryAfterMs: Infinity,
      })
      expect(await limiter.consume('b', { cost: 3 })).toMatchObject({ allowed: true })
    })

    test('a store that comes and goes hands out no second share', async () => {
      const { clock, store, limiter } = outageWorld({ one: { policy } })
      const admitted: { at: number; cost: number }[] = []
      const rng = random(7)
      for (let i = 0; i < 400; i++) {
        if (rng() < 0.2) store.set(rng() < 0.5 ? DOWN : 'up')
        clock.advance(Math.floor(rng() * 400))
        const decision = await limiter.consume('a')
        if (decision.allowed && decision.degraded === 'local') admitted.push({ at: decision.at * 1000, cost: 1 })
      }
      expect(admitted.length).toBeGreaterThan(20)
      expect(envelopeViolation(half, admitted)).toBeUndefined()
    })

    test.each(modes)('and with %s it is the store that decides once it is back', async onOutage => {
      const { store, limiter, stored } = outageWorld({ one: { policy, onOutage } })
      await limiter.consume('a')
      store.set(DOWN)
      await limiter.consume('a')
      store.set('up')
      expect(await limiter.consume('a')).toMatchObject({ allowed: true, degraded: false, limit: 5, remaining: 3 })
      expect(stored('one', 'a')).toBe(2)
    })
  },
)

describe('the share', () => {
  test.each([
    [undefined, 3],
    [0.2, 1],
    [0.25, 2],
    [1, 5],
  ])('is what the store says, half where it says nothing: %s of five is %d', async (share, limit) => {
    const { store, limiter } = outageWorld({ one: {} }, share)
    store.set(DOWN)
    expect((await limiter.consume('a')).limit).toBe(limit)
  })

  test('may change, and what was used stays used', async () => {
    const { store, limiter } = outageWorld({ one: {} }, 1)
    store.set(DOWN)
    await limiter.consume('a', { cost: 3 })
    store.localShare = 0.5
    expect(await limiter.consume('a')).toMatchObject({ allowed: false, limit: 3 })
  })

  test.each(modes)('a limit of 0 refuses, with %s too', async onOutage => {
    const { store, limiter } = outageWorld({ one: { policy: fixedWindow({ limit: 0, window: '1h' }), onOutage } })
    store.set(DOWN)
    expect(await limiter.consume('a')).toMatchObject({ allowed: false, reason: 'cost-exceeds-limit', limit: 0 })
  })
})

describe('{ local } says how much of a limit this process enforces', () => {
  const down = (onOutage: OnOutage, policy: Policy = FIVE, share?: number) => {
    const world = outageWorld({ one: { policy, onOutage } }, share)
    world.store.set(DOWN)
    return world
  }
  const passed = async (limiter: { consume(key: string): Promise<{ allowed: boolean }> }, times: number) => {
    let count = 0
    for (let i = 0; i < times; i++) if ((await limiter.consume('a')).allowed) count++
    return count
  }

  test.each([
    [0.1, 1],
    [0.2, 1],
    [0.5, 3],
    [1, 5],
  ])('a share of %s of five is %d, whatever the store says', async (local, limit) => {
    const { limiter } = down({ local }, FIVE, 0.9)
    expect(await limiter.peek('a')).toMatchObject({ limit, degraded: 'local' })
    expect(await passed(limiter, 10)).toBe(limit)
  })

  test.each<[OnOutage, number]>([
    [{ local: '2/m' }, 2],
    [{ local: tokenBucket({ capacity: 3, refill: '1/h' }) }, 3],
    [{ local: fixedWindow({ limit: 40, window: '1h' }) }, 40],
  ])('its own numbers: %j admit %d', async (onOutage, limit) => {
    const { limiter } = down(onOutage)
    expect(await limiter.peek('a')).toMatchObject({ limit, degraded: 'local' })
    expect(await passed(limiter, 50)).toBe(limit)
  })

  test('its own numbers count in their own time, and outlive a store that comes and goes', async () => {
    const { clock, store, limiter } = down({ local: '2/m' })
    expect(await passed(limiter, 5)).toBe(2)
    store.set('up')
    expect((await limiter.consume('a')).degraded).toBe(false)
    store.set(DOWN)
    expect(await limiter.consume('a')).toMatchObject({ allowed: false, reason: 'limited', retryAfterMs: 60_000 })
    clock.advance(60_000)
    expect(await passed(limiter, 5)).toBe(2)
  })

  test('a cost above its own numbers is an outage that ends, above the limit it never passes', async () => {
    const { limiter } = down({ local: '2/m' })
    const [above, never] = [await limiter.consume('a', { cost: 3 }), await limiter.consume('a', { cost: 6 })]
    expect(above).toMatchObject({ allowed: false, reason: 'outage', degraded: 'local', retryAfterMs: 1000 })
    expect(never).toMatchObject({ allowed: false, reason: 'cost-exceeds-limit', retryAfterMs: Infinity })
    const generous = down({ local: '20/m' }).limiter
    expect(await generous.consume('a', { cost: 6 })).toMatchObject({ allowed: false, reason: 'cost-exceeds-limit' })
  })

  test('a limit of 0 refuses whatever its own numbers are', async () => {
    const { limiter } = down({ local: '20/m' }, fixedWindow({ limit: 0, window: '1h' }))
    expect(await limiter.consume('a')).toMatchObject({ allowed: false, reason: 'cost-exceeds-limit', limit: 0 })
    expect(await limiter.peek('a', { cost: 0 })).toMatchObject({ limit: 0 })
  })

  test('slots of its own are given back here', async () => {
    const slots = concurrency({ limit: 4, ttl: '1h' })
    const { limiter } = down({ local: concurrency({ limit: 1, ttl: '1m' }) }, slots)
    const held = await limiter.consume('a')
    expect((await limiter.consume('a')).allowed).toBe(false)
    held.release()
    expect((await limiter.consume('a')).allowed).toBe(true)
  })

  test('the event says local', async () => {
    const { limiter, events } = down({ local: '2/m' })
    await limiter.consume('a')
    expect(events).toMatchObject([{ type: 'degraded', limit: 'one', mode: 'local' }])
  })

  test.each<[unknown, Policy, string]>([
    [{ local: 0 }, FIVE, 'onOutage.local as a share above 0, up to 1, got 0'],
    [{ local: 1.5 }, FIVE, "up to 1, got 1.5; a number of requests needs a time: { local: '20/m' }"],
    [{ local: Number.NaN }, FIVE, 'up to 1, got NaN'],
    [{ local: '20' }, FIVE, "got '20'"],
    [{ local: {} }, FIVE, 'a policy such as'],
    [{ local: undefined }, FIVE, 'a policy such as'],
    [{ local: 0.5, open: true }, FIVE, 'open'],
    [{}, FIVE, "onOutage 'local', 'open', 'closed', { local: 0.5 } or { local: '20/m' }"],
    ['half', FIVE, "onOutage 'local', 'open', 'closed', { local: 0.5 } or { local: '20/m' }"],
    [{ local: concurrency({ limit: 1, ttl: '1m' }) }, FIVE, 'onOutage.local as a rate'],
    [{ local: '20/m' }, concurrency({ limit: 1, ttl: '1m' }), 'onOutage.local as concurrency'],
  ])('%j is refused where it is written', (onOutage, policy, message) => {
    expect(() => outageWorld({ one: { policy, onOutage: onOutage as OnOutage } })).toThrow(message)
  })

  test('a rate chosen beside slots of its own is refused when it is chosen, not first in an outage', async () => {
    const { limiter } = outageWorld({
      one: { policy: () => FIVE, onOutage: { local: concurrency({ limit: 1, ttl: '1m' }) } },
    })
    await expect((async () => limiter.consume('a'))()).rejects.toThrow('onOutage.local as a rate')
  })
})

test('the short form takes onOutage too', async () => {
  const store = new RemoteMemory(fakeClock())
  store.set(DOWN)
  const make = (onOutage?: OnOutage) => createLimiter(FIVE, { store, ...(onOutage && { onOutage }) })
  expect((await make().consume('a')).degraded).toBe('local')
  for (const mode of modes) expect((await make(mode).consume('a')).degraded).toBe(mode)
})

test('blocks start and hold here as well', async () => {
  const { clock, store, limiter } = outageWorld({
    one: { blockFor: '10s', policy: fixedWindow({ limit: 2, window: '1s' }) },
  })
  store.set(DOWN)
  await limiter.consume('a')
  expect(await limiter.consume('a')).toMatchObject({ reason: 'limited', retryAfterMs: 10_000 })
  clock.advance(5000)
  expect(await limiter.consume('a')).toMatchObject({ reason: 'blocked', retryAfterMs: 5000, degraded: 'local' })
})

describe('the decision is degraded as its worst limit', () => {
  const every = ['ok', ...modes] as const
  const rank = [false, 'open', 'local', 'closed']
  const pairs = every.flatMap(a => every.map(b => [a, b] as const))
  test.each(pairs)('%s beside %s', async (a, b) => {
    const { store, limiter } = outageWorld({
      a: { key: key => (a === 'ok' ? `0${key}` : `1${key}`), ...(a !== 'ok' && { onOutage: a }) },
      b: { key: key => (b === 'ok' ? `0${key}` : `1${key}`), ...(b !== 'ok' && { onOutage: b }) },
      shadow: { mode: 'shadow', key: key => `1${key}`, onOutage: 'closed' }, // on which nothing depends
    })
    store.set(DOWN, 1)
    const decision = await limiter.consume('a')
    const worst = Math.max(...[a, b].map(mode => rank.indexOf(mode === 'ok' ? false : mode)))
    expect(decision.degraded).toBe(rank[worst])
    expect(decision.toJSON().degraded).toBe(rank[worst])
    expect(decision.allowed).toBe(a !== 'closed' && b !== 'closed')
    expect(decision.limits.map(({ name }) => name)).toEqual(['a', 'b', 'shadow'])
  })
})

describe('events', () => {
  test('come when a limit starts to be decided without its store, and when it no longer is', async () => {
    const { clock, store, events, limiter } = outageWorld({ one: {}, two: { onOutage: 'closed' } })
    for (let i = 0; i < 3; i++) await limiter.consume('a')
    expect(events).toEqual([])
    store.set(DOWN)
    for (let i = 0; i < 10; i++) await limiter.consume('a')
    const error = expect.objectContaining({ name: 'StoreUnavailable', code: DOWN })
    const degraded = [
      { type: 'degraded', limiter: 'api', limit: 'one', mode: 'local', error },
      { type: 'degraded', limiter: 'api', limit: 'two', mode: 'closed', error },
    ]
    expect(events).toEqual(degraded)
    store.set('up')
    for (let i = 0; i < 10; i++) {
      clock.advance(200)
      await limiter.consume('a')
    }
    const restored = ['one', 'two'].map(limit => ({ type: 'restored', limiter: 'api', limit }))
    expect(events).toEqual([...degraded, ...restored])
  })

  test('do not come with every request where one key of many is affected', async () => {
    const { clock, store, events, limiter } = outageWorld({ one: {} })
    store.set('SLUICE_FOREIGN_VALUE', 1)
    for (let i = 0; i < 1000; i++) {
      clock.advance(10)
      await limiter.consume(`${i % 2}`)
    }
    expect(events.map(({ type }) => type)).toEqual(['degraded'])
  })
})

test('a store that hangs behind its wrapper is answered for at the deadline', async () => {
  const clock = fakeClock()
  const inner = new RemoteMemory(clock)
  const limiter = createLimiter(FIVE, { store: resilient(inner, inner, { clock, random: () => 0.5 }) })
  const turn = () => new Promise(resolve => setImmediate(resolve))
  await limiter.consume('a')
  inner.set('hung')
  const asked = limiter.consume('a')
  await turn()
  clock.advance(25)
  expect(await asked).toMatchObject({ allowed: true, degraded: 'local', limit: 3, at: 25 })
  expect(await limiter.consume('a')).toMatchObject({ allowed: true, degraded: 'local', remaining: 1, at: 25 })
  inner.set('up')
  await turn()
  clock.advance(400)
  await turn()
  // The one that was abandoned has landed: it is counted twice rather than not at all.
  expect(await limiter.consume('a')).toMatchObject({ allowed: true, degraded: false, limit: 5, remaining: 2 })
})
