import { describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../errors.ts'
import { codeOf } from '../../fixtures/limiter/misuse.ts'
import { Desk } from '../../fixtures/stores/deny-desk.ts'
import { farMemory } from '../../fixtures/stores/far-memory.ts'
import { concurrency, fixedWindow, slidingLog, tokenBucket } from '../../policy.ts'
import type { Gate } from '../../testing/store-suite/gate.ts'
import { TODAY } from '../../testing/store-suite/world.ts'
import { BESIDE, Charge, ENFORCED } from '../charge.ts'
import { type Intent, LOOK, reserving, TAKE, WAIT } from '../store.ts'
import { type DenyCacheOptions, denyCache } from './deny-cache.ts'
import { askStore, type RemoteStore } from './remote-store.ts'

const MS = 1000
const SECOND = 1000 * MS
/** Two at once, then one a minute. */
const slow = tokenBucket({ capacity: 2, refill: '1/m' })
/** Two at once, then ten a second. */
const quick = tokenBucket({ capacity: 2, refill: '10/s' })

/** A limit whose key `a` is refused, and known to be. */
async function refused(desk: Desk, policy = slow, options: Parameters<Desk['gate']>[1] = {}): Promise<Gate> {
  const gate = desk.gate(policy, options)
  await gate.consume('a', 2)
  const { allowed, cached } = await gate.consume('a')
  expect({ allowed, cached }).toEqual({ allowed: false, cached: false })
  return gate
}

describe('a refusal', () => {
  test('is repeated without asking, with less left to wait', async () => {
    const desk = new Desk()
    const gate = await refused(desk)
    const { asked } = desk.far
    desk.goTo(300 * MS)
    const { allowed, cached, receipt, at, retryAt, remaining } = await gate.consume('a')
    expect({ allowed, cached, receipt, remaining }).toEqual({ allowed: false, cached: true, receipt: 0, remaining: 0 })
    expect([at, retryAt]).toEqual([TODAY + 300 * MS, TODAY + 60 * SECOND])
    expect([desk.far.asked, desk.cache.hits, desk.cache.size]).toEqual([asked, 1, 1])
  })

  test('ends at retryAt, to the tick', async () => {
    const desk = new Desk()
    const gate = await refused(desk, quick)
    desk.goTo(100 * MS - 1)
    expect(await desk.asks(() => gate.consume('a'))).toBe(false)
    desk.goTo(100 * MS)
    expect([(await gate.consume('a')).allowed, desk.cache.size]).toEqual([true, 0])
  })

  test.each([1, 50, 1000, 5000])('ends after %i ms where those are fewer', async forMs => {
    const desk = new Desk({ forMs })
    const gate = await refused(desk)
    desk.goTo(forMs * MS - 1)
    expect(await desk.asks(() => gate.consume('a'))).toBe(false)
    desk.goTo(forMs * MS)
    expect(await desk.asks(() => gate.consume('a'))).toBe(true)
    desk.goTo(2 * forMs * MS - 1)
    expect(await desk.asks(() => gate.consume('a'))).toBe(false)
  })

  test('is as old as the question, however long the answer took', async () => {
    const desk = new Desk()
    const gate = desk.gate(slow)
    await gate.consume('a', 2)
    const arrive = desk.far.holdAnswers()
    const answer = askStore(desk.cache, [gate.charge('a', 1)], TAKE)
    desk.goTo(400 * MS)
    arrive()
    await answer
    desk.goTo(SECOND - 1)
    const again = gate.charge('a', 1)
    await askStore(desk.cache, [again], TAKE)
    // The store decided it at 0 or later: by its clock no more has passed than since the answer came.
    expect([again.cached, again.at]).toEqual([true, TODAY + 600 * MS - 1])
    desk.goTo(SECOND)
    expect(await desk.asks(() => askStore(desk.cache, [gate.charge('a', 1)], TAKE))).toBe(true)
  })

  test.each([
    ['a cost above the limit', slow, 3],
    ['a limit of 0', fixedWindow({ limit: 0, window: '1s' }), 1],
  ])('of %s is repeated too', async (_, policy, cost) => {
    const desk = new Desk()
    const gate = desk.gate(policy)
    await gate.consume('a', cost)
    desk.goTo(SECOND - 1)
    const { allowed, cached, retryAt } = await gate.consume('a', cost)
    expect({ allowed, cached, retryAt }).toEqual({ allowed: false, cached: true, retryAt: Infinity })
    desk.goTo(SECOND)
    expect(await desk.asks(() => gate.consume('a', cost))).toBe(true)
  })

  test('lifted elsewhere is seen to be within forMs', async () => {
    const desk = new Desk()
    const gate = await refused(desk)
    await desk.elsewhere(gate).reset('a')
    desk.goTo(SECOND - 1)
    expect((await gate.consume('a')).allowed).toBe(false)
    desk.goTo(SECOND)
    expect((await gate.consume('a')).allowed).toBe(true)
  })
})

describe('what happens here is seen at once', () => {
  const changes: [name: string, change: (gate: Gate) => Promise<unknown>, allowed: boolean, waitTicks: number][] = [
    ['a reset', gate => gate.reset('a'), true, 0],
    ['a credit', gate => gate.credit('a', 1), true, 0],
    [
      'a block',
      gate => gate.amend({ type: 'block', charge: gate.charge('a', 0), ticks: 90 * SECOND }),
      false,
      90 * SECOND,
    ],
  ]

  test.each(changes)('%s', async (_, change, allowed, waitTicks) => {
    const gate = await refused(new Desk())
    await change(gate)
    const after = await gate.consume('a')
    expect([after.allowed, Math.max(0, after.retryAt - TODAY)]).toEqual([allowed, waitTicks])
  })

  test.each(changes)('%s, while a refusal is on its way', async (_, change, allowed) => {
    const desk = new Desk()
    const gate = desk.gate(slow)
    await gate.consume('a', 2)
    const arrive = desk.far.holdAnswers()
    const answers = [gate.consume('a'), change(gate)]
    arrive()
    await Promise.all(answers)
    const after = await gate.consume('a')
    expect([after.allowed, after.cached]).toEqual([allowed, false])
  })

  test.each(changes)('%s that a refusal has overtaken', async (_, change, allowed) => {
    let leave = () => {}
    const left = new Promise<void>(resolve => {
      leave = resolve
    })
    const desk = new Desk({}, far => ({ ...far, amend: changes => left.then(() => far.amend(changes)) }))
    const gate = desk.gate(slow)
    await gate.consume('a', 2)
    const changed = change(gate)
    expect((await gate.consume('a')).allowed).toBe(false)
    leave()
    await changed
    const after = await gate.consume('a')
    expect([after.allowed, after.cached]).toEqual([allowed, false])
  })

  test('a refund, a settlement, a booking taken back', async () => {
    const desk = new Desk()
    const gate = desk.gate(slow)
    const first = await gate.consume('a', 2)
    await gate.consume('a')
    await gate.refund(first)
    const held = await gate.reserve('a', 2, 60 * SECOND)
    expect((await gate.consume('a')).allowed).toBe(false)
    await gate.settle(held, 0)
    expect((await gate.consume('a', 2)).allowed).toBe(true)
    const booked = await gate.book('a', 1, 60 * SECOND)
    expect((await gate.consume('a')).retryAt).toBe(TODAY + 120 * SECOND)
    await gate.amend({ type: 'unbook', charge: booked })
    expect((await gate.consume('a')).retryAt).toBe(TODAY + 60 * SECOND)
  })

  test('a change that fails, since it may have been made all the same', async () => {
    const fail = () => Promise.reject(new StoreUnavailable('SLUICE_STORE_TIMEOUT', 'too late'))
    const desk = new Desk({}, far => ({ ...far, amend: fail }))
    const gate = await refused(desk)
    await expect(gate.reset('a')).rejects.toThrow('too late')
    expect(await desk.asks(() => gate.consume('a'))).toBe(true)
  })

  test('a charge of less on the same key, which puts retryAt off', async () => {
    const gate = new Desk().gate(slow)
    await gate.consume('a')
    expect((await gate.consume('a', 2)).retryAt).toBe(TODAY + 60 * SECOND)
    await gate.consume('a')
    expect((await gate.consume('a', 2)).retryAt).toBe(TODAY + 120 * SECOND)
  })

  test('such a charge that was on its way together with the refusal', async () => {
    const gate = new Desk().gate(slow)
    await gate.consume('a')
    const [refused, passed] = await Promise.all([gate.consume('a', 2), gate.consume('a')])
    expect([refused.allowed, passed.allowed]).toEqual([false, true])
    expect((await gate.consume('a', 2)).retryAt).toBe(TODAY + 120 * SECOND)
  })

  test('a reset, however many others follow', async () => {
    const gate = await refused(new Desk())
    await gate.reset('a')
    for (let n = 0; n < 5000; n++) await gate.reset(`key ${n}`)
    expect((await gate.consume('a')).allowed).toBe(true)
  })

  test('but a change of another key, or of another limit, drops nothing', async () => {
    const desk = new Desk()
    const gate = await refused(desk)
    await gate.reset('b')
    await desk.gate(slow, { path: 'other' }).reset('a')
    expect(await desk.asks(() => gate.consume('a'))).toBe(false)
  })
})

describe('another question is asked', () => {
  const block = { first: SECOND, factor: 1, max: SECOND }
  test.each<[what: string, ask: (desk: Desk, gate: Gate) => Promise<unknown>]>([
    ['another key', (_, gate) => gate.consume('b')],
    ['another cost', (_, gate) => gate.consume('a', 2)],
    ['another limit', desk => desk.gate(slow, { path: 'other' }).consume('a')],
    ['another policy of the same shape', desk => desk.gate(tokenBucket({ capacity: 3, refill: '1/m' })).consume('a')],
    ['another policy', desk => desk.gate(slidingLog({ limit: 2, window: '1m' })).consume('a')],
    [
      'another block rule',
      (desk, { limit: { space }, rule }) =>
        askStore(desk.cache, [new Charge({ space, block, atOnce: false }, rule, 'a', 1, ENFORCED)], TAKE),
    ],
    ['another role', (desk, gate) => askStore(desk.cache, [gate.charge('a', 1, BESIDE)], TAKE)],
    ['one limit more', (desk, gate) => desk.world.decide([gate.charge('a', 1), other(desk).charge('a', 1)], TAKE)],
    ['a look', (_, gate) => gate.peek('a')],
    ['a wait', (_, gate) => gate.ask('a', 1, WAIT)],
    ['a reservation', (_, gate) => gate.reserve('a', 1, SECOND)],
    ['a booking', (_, gate) => gate.book('a', 1, 0)],
  ])('%s', async (_, ask) => {
    const desk = new Desk()
    const gate = await refused(desk)
    expect(await desk.asks(() => ask(desk, gate))).toBe(true)
  })

  const other = (desk: Desk) => desk.gate(slow, { path: 'other' })

  test('another role of one of several limits', async () => {
    const desk = new Desk()
    const [gate, beside] = [await refused(desk), other(desk)]
    const ask = (role: number) => askStore(desk.cache, [gate.charge('a', 1), beside.charge('a', 1, role)], TAKE)
    const asks = []
    for (const role of [ENFORCED, BESIDE, BESIDE, ENFORCED]) asks.push(await desk.asks(() => ask(role)))
    expect(asks).toEqual([true, true, false, false])
  })

  test('the same policy made anew is the same question', async () => {
    const desk = new Desk()
    await refused(desk)
    expect(await desk.asks(() => desk.gate({ ...slow }).consume('a'))).toBe(false)
  })
})

describe('not remembered is', () => {
  /** Asks twice, after the limit is used up. */
  async function twice(desk: Desk, charges: () => readonly Charge[], intent: Intent = TAKE): Promise<void> {
    for (let n = 0; n < 2; n++) {
      expect(await desk.asks(() => desk.world.decide(charges(), intent))).toBe(true)
      expect(desk.cache.size).toBe(0)
    }
  }

  test('what passes', async () => {
    const desk = new Desk()
    await twice(desk, () => [desk.gate(slow).charge('a', 1)])
  })

  test('a refusal by concurrency', async () => {
    const desk = new Desk()
    const gate = desk.gate(concurrency({ limit: 1, ttl: '1m' }))
    await desk.elsewhere(gate).consume('a')
    await twice(desk, () => [gate.charge('a', 1)])
  })

  test('what the store calls tentative', async () => {
    const desk = new Desk()
    const gate = desk.gate(slow)
    await desk.elsewhere(gate).reserve('a', 2, 60 * SECOND)
    await twice(desk, () => [gate.charge('a', 1)])
  })

  test('a call with a shadow in place of a limit', async () => {
    const desk = new Desk()
    const [gate, shadow] = [desk.gate(slow), desk.gate(quick, { path: 'shadow' })]
    await gate.consume('a', 2)
    await twice(desk, () => [gate.charge('a', 1), shadow.charge('a', 1, 0)])
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
    const desk = new Desk({}, withFault)
    const [gate, other] = [desk.gate(slow), desk.gate(slow, { path: 'other' })]
    await gate.consume('a', 2)
    await twice(desk, () => [gate.charge('a', 1), other.charge('a', 1)])
  })

  test.each([
    ['a look', LOOK],
    ['a wait', WAIT],
    ['a reservation', reserving(SECOND)],
  ])('%s that is refused', async (_, intent) => {
    const desk = new Desk()
    const gate = desk.gate(slow)
    await gate.consume('a', 2)
    await twice(desk, () => [gate.charge('a', 1)], intent)
  })

  test('a key so long that many of them would fill the memory', async () => {
    const desk = new Desk()
    await twice(desk, () => [desk.gate(slow).charge('x'.repeat(65_536), 3)])
  })
})

describe('with several limits', () => {
  test('a call is refused until the last of them frees, and the others free meanwhile', async () => {
    const desk = new Desk()
    const gates = [desk.gate(quick, { path: 'quick' }), desk.gate(slow, { path: 'slow' })]
    const ask = async () => {
      const charges = gates.map(gate => gate.charge('a', 1))
      await desk.world.decide(charges, TAKE)
      return charges.map(({ allowed, retryAt, remaining, cached }) => ({ allowed, retryAt, remaining, cached }))
    }
    for (const gate of gates) await gate.consume('a', 2)
    await ask()
    desk.goTo(100 * MS - 1)
    const bySlow = { allowed: false, retryAt: TODAY + 60 * SECOND, remaining: 0, cached: true }
    expect(await ask()).toEqual([{ allowed: false, retryAt: TODAY + 100 * MS, remaining: 0, cached: true }, bySlow])
    desk.goTo(100 * MS)
    expect(await ask()).toEqual([{ allowed: true, retryAt: 0, remaining: 1, cached: true }, bySlow])
    desk.goTo(200 * MS)
    expect(await ask()).toEqual([{ allowed: true, retryAt: 0, remaining: 2, cached: true }, bySlow])
    await gates[0]!.reset('a')
    expect((await ask())[1]!.cached).toBe(false)
  })

  test('a limit that everybody shares may be charged by others, and a shadow stand beside', async () => {
    const desk = new Desk()
    const shared = desk.gate(tokenBucket({ capacity: 1000, refill: '1000/s' }), { path: 'shared' })
    const slots = desk.gate(concurrency({ limit: 9, ttl: '1m' }), { path: 'slots' })
    const [user, shadow] = [desk.gate(slow, { path: 'user' }), desk.gate(slow, { path: 'shadow' })]
    const ask = async (key: string) => {
      const charges = [shared.charge('', 1), user.charge(key, 1), slots.charge('', 1), shadow.charge(key, 1, BESIDE)]
      await desk.world.decide(charges, TAKE)
      return charges
    }
    for (let n = 0; n < 3; n++) await ask('a')
    const [, , slot] = await ask('b')
    await slots.release(slot!)
    expect(await desk.asks(() => ask('a'))).toBe(false)
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
    const desk = new Desk()
    const gate = await refused(desk, slow, { block })
    for (const tick of [1, 300 * MS - 1]) {
      desk.goTo(tick)
      expect((await gate.consume('a', cost)).blocked).toBe(true)
    }
    expect(desk.cache.hits).toBe(3 - cost)
    desk.goTo(300 * MS)
    expect((await gate.consume('a', cost)).blocked).toBe(false)
    desk.goTo(900 * MS - 1)
    expect((await gate.peek('a', 0)).blocked).toBe(true)
  })

  test('that a refusal of another cost has started is seen at once', async () => {
    const desk = new Desk()
    const gate = desk.gate(slow, { block })
    await gate.consume('a', 2)
    await gate.consume('a', 3)
    expect((await gate.consume('a', 3)).cached).toBe(true)
    await gate.consume('a', 1)
    expect((await gate.consume('a', 3)).blocked).toBe(true)
  })
})

test('no more than maxEntries are remembered, the oldest going first', async () => {
  const desk = new Desk({ maxEntries: 100 })
  const gate = desk.gate(slow)
  for (let n = 0; n < 40_000; n++) await askStore(desk.cache, [gate.charge(`key ${n}`, 3)], TAKE)
  expect(desk.cache.size).toBe(100)
  for (let n = 39_900; n < 40_000; n++) expect(await desk.asks(() => gate.consume(`key ${n}`, 3))).toBe(false)
  expect(await desk.asks(() => gate.consume('key 39899', 3))).toBe(true)
  // That one took the place of the oldest. One asked for anew is young again.
  expect(await desk.asks(() => gate.consume('key 39901', 3))).toBe(false)
  expect(await desk.asks(() => gate.consume('key 39900', 3))).toBe(true)
  expect(desk.cache.size).toBe(100)
})

test('what is asked together costs one reading of the clock, and an answer asks for the next', async () => {
  let readings = 0
  const desk = new Desk({ clock: { now: () => ++readings } })
  const gate = desk.gate(tokenBucket({ capacity: 1000, refill: '1/m' }))
  const together = () => Promise.all(Array.from({ length: 100 }, (_, n) => gate.consume(`key ${n}`)))
  for (const expected of [1, 2, 3]) {
    await together()
    expect(readings).toBe(expected)
  }
})

test('a question that is asked while another waits is held for older, never for younger', async () => {
  const desk = new Desk()
  const gate = desk.gate(slow)
  await gate.consume('a', 2)
  const arrive = desk.far.holdAnswers()
  const waiting = askStore(desk.cache, [gate.charge('b', 1)], TAKE)
  desk.goTo(400 * MS)
  const refusal = askStore(desk.cache, [gate.charge('a', 1)], TAKE)
  arrive()
  await Promise.all([waiting, refusal])
  desk.goTo(SECOND - 1)
  expect(await desk.asks(() => gate.consume('a'))).toBe(false)
  desk.goTo(SECOND)
  expect(await desk.asks(() => gate.consume('a'))).toBe(true)
})

test('all else is the store underneath', async () => {
  let closed = false
  const desk = new Desk({}, far => ({
    ...far,
    close: async () => {
      closed = true
    },
  }))
  const { cache, far } = desk
  const gate = desk.gate(slidingLog({ limit: 1, window: '1s' }))
  await gate.consume('a')
  expect(await cache.inspect(gate.charge('a', 1))).toEqual(await far.inspect(gate.charge('a', 1)))
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
