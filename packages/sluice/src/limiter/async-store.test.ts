import { describe, expect, expectTypeOf, test } from 'vitest'
import { laterMemory } from '../fixtures/stores/later-memory.ts'
import {
  concurrency,
  createLimiter,
  type Decision,
  fixedWindow,
  type Limiter,
  limits,
  memoryStore,
  type Reservation,
  type Settlement,
  slidingLog,
  tokenBucket,
} from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const policy = slidingLog({ limit: 3, window: '1m' })

describe('with an async store', () => {
  const limiter = createLimiter({
    store: laterMemory(fakeClock()),
    limits: limits<{ user?: string }>({ user: { policy, key: s => s.user } }),
  })
  const u = { user: 'u' }

  test.each<[name: string, call: () => unknown]>([
    ['consume', () => limiter.consume(u)],
    ['consume, where nothing applies', () => limiter.consume({})],
    ['peek', () => limiter.peek(u)],
    ['wait', () => limiter.wait({})],
    ['reserve', () => limiter.reserve(u, { cost: 1, ttl: '1s' })],
    ['refund', () => limiter.refund(u, { cost: 1 })],
    ['reset', () => limiter.reset(u)],
    ['block', () => limiter.block({ user: 'v' }, { for: '1s' })],
    ['block, where the limit does not apply', () => limiter.block({}, { for: '1s' })],
    ['history', () => limiter.history(u)],
    ['history, where the limit does not apply', () => limiter.history({})],
    ['close', () => limiter.close()],
  ])('%s answers with a promise', async (_, call) => {
    const answer = call()
    expect(answer).toBeInstanceOf(Promise)
    await answer
  })

  test('the decisions are those of the in-process store', async () => {
    const [a, b] = [fakeClock(), fakeClock()]
    const near = createLimiter(policy, { clock: a })
    const far = createLimiter(policy, { store: laterMemory(b) })
    for (const [gap, cost] of [
      [0, 2],
      [100, 2],
      [60_000, 1],
      [0, 4],
      [60_000, 3],
    ] as const) {
      a.advance(gap)
      b.advance(gap)
      expect((await far.consume('a', { cost })).toJSON()).toEqual(near.consume('a', { cost }).toJSON())
    }
  })

  test('a reservation settles with a promise, once', async () => {
    const far = createLimiter(tokenBucket({ capacity: 10, refill: '1/s' }), { store: laterMemory(fakeClock()) })
    const call = await far.reserve('a', { cost: 9, ttl: '1m' })
    const [one, two] = [call.settle(2), call.settle(5)]
    expect(one).toBeInstanceOf(Promise)
    expect(await two).toEqual(await one)
    expect((await far.peek('a')).remaining).toBe(8)
  })

  test('ten at once at a limit of five pass exactly five', async () => {
    const far = createLimiter(fixedWindow({ limit: 5, window: '1m' }), { store: laterMemory(fakeClock()) })
    const decisions = await Promise.all(Array.from({ length: 10 }, () => far.consume('a')))
    expect(decisions.map(d => d.allowed)).toEqual([...Array(5).fill(true), ...Array(5).fill(false)])
  })

  test('waits are served first come first served, and releases wake them', async () => {
    const far = createLimiter(concurrency({ limit: 1, ttl: '1h' }), { store: laterMemory(fakeClock()) })
    const order: number[] = []
    const waits = [0, 1, 2].map(async i => {
      const decision = await far.wait('a')
      order.push(i)
      decision.release()
    })
    await Promise.all(waits)
    expect(order).toEqual([0, 1, 2])
  })

  test('releasing a slot while the store is away does not bring the process down', async () => {
    let broken = false
    const far = createLimiter(concurrency({ limit: 1, ttl: '1h' }), { store: laterMemory(fakeClock(), () => broken) })
    const decision = await far.consume('a')
    broken = true
    // An unhandled rejection would fail this run.
    expect(() => decision.release()).not.toThrow()
    await new Promise(resolve => setImmediate(resolve))
  })
})

test('the type says whether an answer must be waited for', () => {
  const near = createLimiter('100/m')
  expectTypeOf(near).toEqualTypeOf<Limiter<string, 'sync'>>()
  expectTypeOf(near.consume('a')).toEqualTypeOf<Decision>()
  expectTypeOf(near.peek('a')).toEqualTypeOf<Decision>()
  expectTypeOf(near.history).returns.toEqualTypeOf<number[]>()
  expectTypeOf(near.reserve).returns.toEqualTypeOf<Reservation<'sync'>>()
  expectTypeOf(near.wait('a')).toEqualTypeOf<Promise<Decision>>()
  expectTypeOf(near.reset('a')).toEqualTypeOf<void>()

  const far = createLimiter('100/m', { store: laterMemory(fakeClock()) })
  expectTypeOf(far).toEqualTypeOf<Limiter<string, 'async'>>()
  expectTypeOf(far.consume('a')).toEqualTypeOf<Promise<Decision>>()
  expectTypeOf(far.reserve).returns.toEqualTypeOf<Promise<Reservation<'async'>>>()
  expectTypeOf<Reservation<'async'>['settle']>().returns.toEqualTypeOf<Promise<Settlement>>()
  expectTypeOf(far.reset('a')).toEqualTypeOf<Promise<void>>()
  expectTypeOf(far.close()).toEqualTypeOf<Promise<void>>()

  expectTypeOf(createLimiter('1/m', { store: memoryStore() }).consume('a')).toEqualTypeOf<Decision>()
  expectTypeOf(createLimiter('1/m', { onDecision() {} }).consume('a')).toEqualTypeOf<Decision>()
  expectTypeOf<Limiter['consume']>().returns.toEqualTypeOf<Decision>()
})

test('the type of the subject comes from the limits', () => {
  interface Caller {
    ip: string
  }
  const inferred = createLimiter({ limits: limits<Caller>({ ip: { policy: '1/m', key: c => c.ip } }) })
  expectTypeOf(inferred).toEqualTypeOf<Limiter<Caller, 'sync'>>()
  const annotated = createLimiter({ limits: { ip: { policy: '1/m', key: (c: Caller) => c.ip } } })
  expectTypeOf(annotated.consume).parameter(0).toEqualTypeOf<Caller>()
  const far = createLimiter({
    store: laterMemory(fakeClock()),
    limits: limits<Caller>({ ip: { policy: '1/m', key: c => c.ip } }),
  })
  expectTypeOf(far.consume({ ip: 'x' })).toEqualTypeOf<Promise<Decision>>()
  // @ts-expect-error: a caller has an ip
  expect(() => inferred.consume({})).not.toThrow()
  // @ts-expect-error: the short form counts strings
  expect(() => createLimiter('1/m').consume(5)).toThrow()
})
