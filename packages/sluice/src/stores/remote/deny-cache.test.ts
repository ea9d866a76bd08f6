import { describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../errors.ts'
import { codeOf } from '../../fixtures/limiter/misuse.ts'
import { askStore } from '../../fixtures/stores/ask-store.ts'
import { CachedFarStore } from '../../fixtures/stores/cached-far-store.ts'
import { farMemory } from '../../fixtures/stores/far-memory.ts'
import { concurrency, fixedWindow, slidingLog, tokenBucket } from '../../policy.ts'
import type { StoredLimit } from '../../testing/store-suite/stored-limit.ts'
import { TODAY } from '../../testing/store-suite/world.ts'
import { BESIDE, Charge, ENFORCED } from '../charge.ts'
import { type Intent, LOOK, reserving, TAKE, WAIT } from '../store.ts'
import { type DenyCacheOptions, denyCache } from './deny-cache.ts'
import type { RemoteStore } from './remote-store.ts'

const MS = 1000
const SECOND = 1000 * MS
/** Two at once, then one a minute. */
const slow = tokenBucket({ capacity: 2, refill: '1/m' })
/** Two at once, then ten a second. */
const quick = tokenBucket({ capacity: 2, refill: '10/s' })

/** A limit whose key `a` is refused, and known to be. */
async function refused(
  store: CachedFarStore,
  policy = slow,
  options: Parameters<CachedFarStore['stored']>[1] = {},
): Promise<StoredLimit> {
  const stored = store.stored(policy, options)
  await stored.consume('a', 2)
  const { allowed, cached } = await stored.consume('a')
  expect({ allowed, cached }).toEqual({ allowed: false, cached: false })
  return stored
}

describe('a refusal', () => {
  test('is repeated without asking, with less left to wait', async () => {
    const store = new CachedFarStore()
    const stored = await refused(store)
    const { asked } = store.far
    store.goTo(300 * MS)
    const { allowed, cached, receipt, at, retryAt, remaining } = await stored.consume('a')
    expect({ allowed, cached, receipt, remaining }).toEqual({ allowed: false, cached: true, receipt: 0, remaining: 0 })
    expect([at, retryAt]).toEqual([TODAY + 300 * MS, TODAY + 60 * SECOND])
    expect([store.far.asked, store.cache.hits, store.cache.size]).toEqual([asked, 1, 1])
  })

  test('ends at retryAt, to the tick', async () => {
    const store = new CachedFarStore()
    const stored = await refused(store, quick)
    store.goTo(100 * MS - 1)
    expect(await store.asks(() => stored.consume('a'))).toBe(false)
    store.goTo(100 * MS)
    expect([(await stored.consume('a')).allowed, store.cache.size]).toEqual([true, 0])
  })

  test.each([1, 50, 1000, 5000])('ends after %i ms where those are fewer', async forMs => {
    const store = new CachedFarStore({ forMs })
    const stored = await refused(store)
    store.goTo(forMs * MS - 1)
    expect(await store.asks(() => stored.consume('a'))).toBe(false)
    store.goTo(forMs * MS)
    expect(await store.asks(() => stored.consume('a'))).toBe(true)
    store.goTo(2 * forMs * MS - 1)
    expect(await store.asks(() => stored.consume('a'))).toBe(false)
  })

  test('is as old as the question, however long the answer took', async () => {
    const store = new CachedFarStore()
    const stored = store.stored(slow)
    await stored.consume('a', 2)
    const arrive = store.far.holdAnswers()
    const answer = askStore(store.cache, [stored.charge('a', 1)], TAKE)
    store.goTo(400 * MS)
    arrive()
    await answer
    store.goTo(SECOND - 1)
    const again = stored.charge('a', 1)
    await askStore(store.cache, [again], TAKE)
    // The store decided it at 0 or later: by its clock no more has passed than since the answer came.
    expect([again.cached, again.at]).toEqual([true, TODAY + 600 * MS - 1])
    store.goTo(SECOND)
    expect(await store.asks(() => askStore(store.cache, [stored.charge('a', 1)], TAKE))).toBe(true)
  })

  test.each([
    ['a cost above the limit', slow, 3],
    ['a limit of 0', fixedWindow({ limit: 0, window: '1s' }), 1],
  ])('of %s is repeated too', async (_, policy, cost) => {
    const store = new CachedFarStore()
    const stored = store.stored(policy)
    await stored.consume('a', cost)
    store.goTo(SECOND - 1)
    const { allowed, cached, retryAt } = await stored.consume('a', cost)
    expect({ allowed, cached, retryAt }).toEqual({ allowed: false, cached: true, retryAt: Infinity })
    store.goTo(SECOND)
    expect(await store.asks(() => stored.consume('a', cost))).toBe(true)
  })

  test('lifted elsewhere is seen to be within forMs', async () => {
    const store = new CachedFarStore()
    const stored = await refused(store)
    await store.elsewhere(stored).reset('a')
    store.goTo(SECOND - 1)
    expect((await stored.consume('a')).allowed).toBe(false)
    store.goTo(SECOND)
    expect((await stored.consume('a')).allowed).toBe(true)
  })
})

describe('what happens here is seen at once', () => {
  const changes: [
    name: string,
    change: (stored: StoredLimit) => Promise<unknown>,
    allowed: boolean,
    waitTicks: number,
  ][] = [
    ['a reset', stored => stored.reset('a'), true, 0],
    ['a credit', stored => stored.credit('a', 1), true, 0],
    [
      'a block',
      stored => stored.amend({ type: 'block', charge: stored.charge('a', 0), ticks: 90 * SECOND }),
      false,
      90 * SECOND,
    ],
  ]

  test.each(changes)('%s', async (_, change, allowed, waitTicks) => {
    const stored = await refused(new CachedFarStore())
    await change(stored)
    const after = await stored.consume('a')
    expect([after.allowed, Math.max(0, after.retryAt - TODAY)]).toEqual([allowed, waitTicks])
  })

  test.each(changes)('%s, while a refusal is on its way', async (_, change, allowed) => {
    const store = new CachedFarStore()
    const stored = store.stored(slow)
    await stored.consume('a', 2)
    const arrive = store.far.holdAnswers()
    const answers = [stored.consume('a'), change(stored)]
    arrive()
    await Promise.all(answers)
    const after = await stored.consume('a')
    expect([after.allowed, after.cached]).toEqual([allowed, false])
  })

  test.each(changes)('%s that a refusal has overtaken', async (_, change, allowed) => {
    let leave = () => {}
    const left = new Promise<void>(resolve => {
      leave = resolve
    })
    const store = new CachedFarStore({}, far => ({ ...far, amend: changes => left.then(() => far.amend(changes)) }))
    const stored = store.stored(slow)
    await stored.consume('a', 2)
    const changed = change(stored)
    expect((await stored.consume('a')).allowed).toBe(false)
    leave()
    await changed
    const after = await stored.consume('a')
    expect([after.allowed, after.cached]).toEqual([allowed, false])
  })

  test('a refund, a settlement, a booking taken back', async () => {
    const store = new CachedFarStore()
    const stored = store.stored(slow)
    const first = await stored.consume('a', 2)
    await stored.consume('a')
    await stored.refund(first)
    const held = await stored.reserve('a', 2, 60 * SECOND)
    expect((await stored.consume('a')).allowed).toBe(false)
    await stored.settle(held, 0)
    expect((await stored.consume('a', 2)).allowed).toBe(true)
    const booked = await stored.book('a', 1, 60 * SECOND)
    expect((await stored.consume('a')).retryAt).toBe(TODAY + 120 * SECOND)
    await stored.amend({ type: 'unbook', charge: booked })
    expect((await stored.consume('a')).retryAt).toBe(TODAY + 60 * SECOND)
  })

  test('a change that fails, since it may have been made all the same', async () => {
    const fail = () => Promise.reject(new StoreUnavailable('SLUICE_STORE_TIMEOUT', 'too late'))
    const store = new CachedFarStore({}, far => ({ ...far, amend: fail }))
    const stored = await refused(store)
    await expect(stored.reset('a')).rejects.toThrow('too late')
    expect(await store.asks(() => stored.consume('a'))).toBe(true)
  })

  test('a charge of less on the same key, which puts retryAt off', async () => {
    const stored = new CachedFarStore().stored(slow)
    await stored.consume('a')
    expect((await stored.consume('a', 2)).retryAt).toBe(TODAY + 60 * SECOND)
    await stored.consume('a')
    expect((await stored.consume('a', 2)).retryAt).toBe(TODAY + 120 * SECOND)
  })

  test('such a charge that was on its way together with the refusal', async () => {
    const stored = new CachedFarStore().stored(slow)
    await stored.consume('a')
    const [refused, passed] = await Promise.all([stored.consume('a', 2), stored.consume('a')])
    expect([refused.allowed, passed.allowed]).toEqual([false, true])
    expect((await stored.consume('a', 2)).retryAt).toBe(TODAY + 120 * SECOND)
  })

  test('a reset, however many others follow', async () => {
    const stored = await refused(new CachedFarStore())
    await stored.reset('a')
    for (let n = 0; n < 5000; n++) await stored.reset(`key ${n}`)
    expect((await stored.consume('a')).allowed).toBe(true)
  })

  test('but a change of another key, or of another limit, drops nothing', async () => {
    const store = new CachedFarStore()
    const stored = await refused(store)
    await stored.reset('b')
    await store.stored(slow, { path: 'other' }).reset('a')
    expect(await store.asks(() => stored.consume('a'))).toBe(false)
  })
})

describe('another question is asked', () => {
  const block = { first: SECOND, factor: 1, max: SECOND }
  test.each<[what: string, ask: (store: CachedFarStore, stored: StoredLimit) => Promise<unknown>]>([
    ['another key', (_, stored) => stored.consume('b')],
    ['another cost', (_, stored) => stored.consume('a', 2)],
    ['another limit', store => store.stored(slow, { path: 'other' }).consume('a')],
    [
      'another policy of the same shape',
      store => store.stored(tokenBucket({ capacity: 3, refill: '1/m' })).consume('a'),
    ],
    ['another policy', store => store.stored(slidingLog({ limit: 2, window: '1m' })).consume('a')],
    [
      'another block rule',
      (store, { limit: { space }, rule }) =>
        askStore(store.cache, [new Charge({ space, block, atOnce: false }, rule, 'a', 1, ENFORCED)], TAKE),
    ],
    ['another role', (store, stored) => askStore(store.cache, [stored.charge('a', 1, BESIDE)], TAKE)],
    [
      'one limit more',
      (store, stored) => store.world.decide([stored.charge('a', 1), other(store).charge('a', 1)], TAKE),
    ],
    ['a look', (_, stored) => stored.peek('a')],
    ['a wait', (_, stored) => stored.ask('a', 1, WAIT)],
    ['a reservation', (_, stored) => stored.reserve('a', 1, SECOND)],
    ['a booking', (_, stored) => stored.book('a', 1, 0)],
  ])('%s', async (_, ask) => {
    const store = new CachedFarStore()
    const stored = await refused(store)
    expect(await store.asks(() => ask(store, stored))).toBe(true)
  })

  const other = (store: CachedFarStore) => store.stored(slow, { path: 'other' })

  test('another role of one of several limits', async () => {
    const store = new CachedFarStore()
    const [stored, beside] = [await refused(store), other(store)]
    const ask = (role: number) => askStore(store.cache, [stored.charge('a', 1), beside.charge('a', 1, role)], TAKE)
    const asks = []
    for (const role of [ENFORCED, BESIDE, BESIDE, ENFORCED]) asks.push(await store.asks(() => ask(role)))
    expect(asks).toEqual([true, true, false, false])
  })

  test('the same policy made anew is the same question', async () => {
    const store = new CachedFarStore()
    await refused(store)
    expect(await store.asks(() => store.stored({ ...slow }).consume('a'))).toBe(false)
  })
})

describe('not remembered is', () => {
  /** Asks twice, after the limit is used up. */
  async function twice(store: CachedFarStore, charges: () => readonly Charge[], intent: Intent = TAKE): Promise<void> {
    for (let n = 0; n < 2; n++) {
      expect(await store.asks(() => store.world.decide(charges(), intent))).toBe(true)
      expect(store.cache.size).toBe(0)
    }
  }

  test('what passes', async () => {
    const store = new CachedFarStore()
    await twice(store, () => [store.stored(slow).charge('a', 1)])
  })

  test('a refusal by concurrency', async () => {
    const store = new CachedFarStore()
    const stored = store.stored(concurrency({ limit: 1, ttl: '1m' }))
    await store.elsewhere(stored).consume('a')
    await twice(store, () => [stored.charge('a', 1)])
  })

  test('what the store calls tentative', async () => {
    const store = new CachedFarStore()
    const stored = store.stored(slow)
    await store.elsewhere(stored).reserve('a', 2, 60 * SECOND)
    await twice(store, () => [stored.charge('a', 1)])
  })

  test('a call with a shadow in place of a limit', async () => {
    const store = new CachedFarStore()
    const [stored, shadow] = [store.stored(slow), store.stored(quick, { path: 'shadow' })]
    await stored.consume('a', 2)
    await twice(store, () => [stored.charge('a', 1), shadow.charge('a', 1, 0)])
  })

  test('a refusal beside what could not be decided', async () => {
    const fault = new StoreUnavailable('SLUICE_STORE_TIMEOUT', 'too late')
    const withFault = (far: RemoteStore): RemoteStore => ({
      ...far,
      ask(question) {
        const { charges, intent } = question
        const done = () => {
          if (charges.length > 1) charges[1]!.fault = fault
          question.done()
        }
        far.ask({ charges, intent, done })
      },
    })
    const store = new CachedFarStore({}, withFault)
    const [stored, other] = [store.stored(slow), store.stored(slow, { path: 'other' })]
    await stored.consume('a', 2)
    await twice(store, () => [stored.charge('a', 1), other.charge('a', 1)])
  })

  test.each([
    ['a look', LOOK],
    ['a wait', WAIT],
    ['a reservation', reserving(SECOND)],
  ])('%s that is refused', async (_, intent) => {
    const store = new CachedFarStore()
    const stored = store.stored(slow)
    await stored.consume('a', 2)
    await twice(store, () => [stored.charge('a', 1)], intent)
  })

  test('a key so long that many of them would fill the memory', async () => {
    const store = new CachedFarStore()
    await twice(store, () => [store.stored(slow).charge('x'.repeat(65_536), 3)])
  })
})

describe('with several limits', () => {
  test('a call is refused until the last of them frees, and the others free meanwhile', async () => {
    const store = new CachedFarStore()
    const limits = [store.stored(quick, { path: 'quick' }), store.stored(slow, { path: 'slow' })]
    const ask = async () => {
      const charges = limits.map(stored => stored.charge('a', 1))
      await store.world.decide(charges, TAKE)
      return charges.map(({ allowed, retryAt, remaining, cached }) => ({ allowed, retryAt, remaining, cached }))
    }
    for (const stored of limits) await stored.consume('a', 2)
    await ask()
    store.goTo(100 * MS - 1)
    const bySlow = { allowed: false, retryAt: TODAY + 60 * SECOND, remaining: 0, cached: true }
    expect(await ask()).toEqual([{ allowed: false, retryAt: TODAY + 100 * MS, remaining: 0, cached: true }, bySlow])
    store.goTo(100 * MS)
    expect(await ask()).toEqual([{ allowed: true, retryAt: 0, remaining: 1, cached: true }, bySlow])
    store.goTo(200 * MS)
    expect(await ask()).toEqual([{ allowed: true, retryAt: 0, remaining: 2, cached: true }, bySlow])
    await limits[0]!.reset('a')
    expect((await ask())[1]!.cached).toBe(false)
  })

  test('a limit that everybody shares may be charged by others, and a shadow stand beside', async () => {
    const store = new CachedFarStore()
    const shared = store.stored(tokenBucket({ capacity: 1000, refill: '1000/s' }), { path: 'shared' })
    const slots = store.stored(concurrency({ limit: 9, ttl: '1m' }), { path: 'slots' })
    const [user, shadow] = [store.stored(slow, { path: 'user' }), store.stored(slow, { path: 'shadow' })]
    const ask = async (key: string) => {
      const charges = [shared.charge('', 1), user.charge(key, 1), slots.charge('', 1), shadow.charge(key, 1, BESIDE)]
      await store.world.decide(charges, TAKE)
      return charges
    }
    for (let n = 0; n < 3; n++) await ask('a')
    const [, , slot] = await ask('b')
    await slots.release(slot!)
    expect(await store.asks(() => ask('a'))).toBe(false)
    expect((await ask('a')).map(({ role, allowed }) => [role, allowed])).toEqual([
      ...[true, false, true].map(allowed => [ENFORCED, allowed]),
      [BESIDE, false],
    ])
  })
})

describe('a block', () => {
  const block = { first: 300 * MS, factor: 2, max: 60 * SECOND }

  // The first cost is the one that starts the block; another only hears of it.
  test.each([1, 2])('is named in what is repeated, and its end is not slept through, by a cost of %i', async cost => {
    const store = new CachedFarStore()
    const stored = await refused(store, slow, { block })
    for (const tick of [1, 300 * MS - 1]) {
      store.goTo(tick)
      expect((await stored.consume('a', cost)).blocked).toBe(true)
    }
    expect(store.cache.hits).toBe(3 - cost)
    store.goTo(300 * MS)
    expect((await stored.consume('a', cost)).blocked).toBe(false)
    store.goTo(900 * MS - 1)
    expect((await stored.peek('a', 0)).blocked).toBe(true)
  })

  test('that a refusal of another cost has started is seen at once', async () => {
    const store = new CachedFarStore()
    const stored = store.stored(slow, { block })
    await stored.consume('a', 2)
    await stored.consume('a', 3)
    expect((await stored.consume('a', 3)).cached).toBe(true)
    await stored.consume('a', 1)
    expect((await stored.consume('a', 3)).blocked).toBe(true)
  })
})

test('no more than maxEntries are remembered, the oldest going first', async () => {
  const store = new CachedFarStore({ maxEntries: 100 })
  const stored = store.stored(slow)
  for (let n = 0; n < 40_000; n++) await askStore(store.cache, [stored.charge(`key ${n}`, 3)], TAKE)
  expect(store.cache.size).toBe(100)
  for (let n = 39_900; n < 40_000; n++) expect(await store.asks(() => stored.consume(`key ${n}`, 3))).toBe(false)
  expect(await store.asks(() => stored.consume('key 39899', 3))).toBe(true)
  // That one took the place of the oldest. One asked for anew is young again.
  expect(await store.asks(() => stored.consume('key 39901', 3))).toBe(false)
  expect(await store.asks(() => stored.consume('key 39900', 3))).toBe(true)
  expect(store.cache.size).toBe(100)
})

test('what is asked together costs one reading of the clock, and an answer asks for the next', async () => {
  let readings = 0
  const store = new CachedFarStore({ clock: { now: () => ++readings } })
  const stored = store.stored(tokenBucket({ capacity: 1000, refill: '1/m' }))
  const together = () => Promise.all(Array.from({ length: 100 }, (_, n) => stored.consume(`key ${n}`)))
  for (const expected of [1, 2, 3]) {
    await together()
    expect(readings).toBe(expected)
  }
})

test('a question that is asked while another waits is held for older, never for younger', async () => {
  const store = new CachedFarStore()
  const stored = store.stored(slow)
  await stored.consume('a', 2)
  const arrive = store.far.holdAnswers()
  const waiting = askStore(store.cache, [stored.charge('b', 1)], TAKE)
  store.goTo(400 * MS)
  const refusal = askStore(store.cache, [stored.charge('a', 1)], TAKE)
  arrive()
  await Promise.all([waiting, refusal])
  store.goTo(SECOND - 1)
  expect(await store.asks(() => stored.consume('a'))).toBe(false)
  store.goTo(SECOND)
  expect(await store.asks(() => stored.consume('a'))).toBe(true)
})

test('all else is the store underneath', async () => {
  let closed = false
  const store = new CachedFarStore({}, far => ({
    ...far,
    close: async () => {
      closed = true
    },
  }))
  const { cache, far } = store
  const stored = store.stored(slidingLog({ limit: 1, window: '1s' }))
  await stored.consume('a')
  expect(await cache.inspect(stored.charge('a', 1))).toEqual(await far.inspect(stored.charge('a', 1)))
  expect([cache.mode, cache.clock, cache.bind('x')]).toEqual(['async', far.clock, far.bind('x')])
  await cache.close()
  expect(closed).toBe(true)
})

test.each<[options: object, code: string]>([
  [{ forMs: 0 }, 'SLUICE_BAD_OPTION'],
  [{ forMs: Number.NaN }, 'SLUICE_BAD_OPTION'],
  [{ forMs: '1s' }, 'SLUICE_BAD_OPTION'],
  [{ maxEntries: 0 }, 'SLUICE_BAD_OPTION'],
  [{ maxEntries: 1.5 }, 'SLUICE_BAD_OPTION'],
  [{ clock: {} }, 'SLUICE_BAD_CLOCK'],
])('%o is refused', (options, code) => {
  expect(codeOf(() => denyCache(farMemory({ now: () => 0 }), options as DenyCacheOptions))).toBe(code)
})
