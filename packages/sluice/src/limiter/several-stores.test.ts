import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { RemoteMemory } from '../fixtures/stores/remote-memory.ts'
import { createLimiter, type Decision, fixedWindow, limits, memoryStore } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

const of = (limit: number) => fixedWindow({ limit, window: '1h' })
const own = (key: string) => key

describe('a limit in a store of its own', () => {
  test('in process beside in process: the answer is the decision itself, all or nothing', () => {
    const clock = fakeClock()
    const [here, there] = [memoryStore({ clock }), memoryStore({ clock })]
    const limiter = createLimiter({
      store: here,
      limits: limits<string>({ a: { policy: of(5), key: own }, b: { policy: of(2), key: own, store: there } }),
    })
    expectTypeOf(limiter.consume).returns.toEqualTypeOf<Decision>()
    const passed = [1, 2, 3, 4].map(() => limiter.consume('x').allowed)
    expect(passed).toEqual([true, true, false, false])
    expect(limiter.peek('x').limits.map(({ remaining }) => remaining)).toEqual([3, 0])
    expect([here.size, there.size]).toEqual([1, 1])
  })

  test('a flood that a limit in process refuses makes no call to the remote store', async () => {
    const clock = fakeClock()
    const store = new RemoteMemory(clock)
    const limiter = createLimiter({
      store,
      limits: {
        user: { policy: of(100), key: own },
        flood: { policy: of(3), key: own, store: memoryStore({ clock }) },
      },
    })
    const decisions: Decision[] = []
    for (let n = 0; n < 50; n++) decisions.push(await limiter.consume('x'))
    expect(decisions.filter(({ allowed }) => allowed)).toHaveLength(3)
    expect(store.asked).toHaveLength(3)
    expect(decisions[10]).toMatchObject({ policy: 'flood', limits: [{ name: 'flood', allowed: false }] })
  })

  test('what the process took is given back where the remote store refuses', async () => {
    const clock = fakeClock()
    const near = memoryStore({ clock })
    const limiter = createLimiter({
      store: new RemoteMemory(clock),
      limits: { user: { policy: of(2), key: own }, flood: { policy: of(10), key: own, store: near } },
    })
    for (let n = 0; n < 5; n++) await limiter.consume('x')
    expect((await limiter.peek('x')).limits.map(({ name, remaining }) => [name, remaining])).toEqual([
      ['user', 0],
      ['flood', 8],
    ])
  })

  test('an outage of the one store is answered by onOutage, and still all or nothing with the other', async () => {
    const clock = fakeClock()
    const store = new RemoteMemory(clock)
    const limiter = createLimiter({
      store,
      limits: {
        user: { policy: of(4), key: own, onOutage: 'local' },
        flood: { policy: of(10), key: own, store: memoryStore({ clock }) },
      },
    })
    store.set('SLUICE_STORE_FAILED')
    const passed: boolean[] = []
    for (let n = 0; n < 4; n++) passed.push((await limiter.consume('x')).allowed)
    expect(passed).toEqual([true, true, false, false])
    expect((await limiter.peek('x')).limits).toMatchObject([{ remaining: 0 }, { name: 'flood', remaining: 8 }])
  })

  test('reset, refund, inspect and history reach the store of each limit', async () => {
    const clock = fakeClock()
    const limiter = createLimiter({
      store: new RemoteMemory(clock),
      limits: {
        far: { policy: of(5), key: own },
        near: { policy: { kind: 'slidingLog', limit: 5, windowMs: 1000 }, key: own, store: memoryStore({ clock }) },
      },
    })
    const left = async () => (await limiter.inspect('x')).map(({ name, remaining }) => [name, remaining])
    const decision = await limiter.consume('x', { cost: 2 })
    expect(await left()).toEqual([['far', 3], ['near', 3]]) // biome-ignore format: one row
    expect(await limiter.history('x', { limit: 'near' })).toEqual([0, 0])
    await limiter.refund(decision)
    expect(await left()).toEqual([['far', 5], ['near', 5]]) // biome-ignore format: one row
    await limiter.consume('x')
    await limiter.reset('x')
    expect(await left()).toEqual([['far', 5], ['near', 5]]) // biome-ignore format: one row
  })

  test('decides as one store would, whatever is asked', async () => {
    const step = fc.record({
      cost: fc.integer({ min: 0, max: 4 }),
      key: fc.constantFrom('x', 'y'),
      wait: fc.constantFrom(0, 0, 400_000),
      shadow: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
        const clock = fakeClock()
        let shadow = false
        const named = (store?: ReturnType<typeof memoryStore>) => ({
          a: { policy: of(6), key: own },
          b: { policy: of(9), key: () => 'all', ...(store && { store }) },
          c: {
            policy: of(4),
            key: own,
            mode: () => (shadow ? ('shadow' as const) : 'enforce'),
            ...(store && { store }),
          },
        })
        const one = createLimiter({ clock, limits: named() })
        const two = createLimiter({ clock, limits: named(memoryStore({ clock })) })
        for (const { cost, key, wait, ...modes } of steps) {
          shadow = modes.shadow
          clock.advance(wait)
          const [expected, got] = [one.consume(key, { cost }), two.consume(key, { cost })]
          expect(got.toJSON()).toEqual(expected.toJSON())
        }
      }),
      { numRuns: 200 },
    )
  })

  test('what is no store is refused by name', () => {
    const client = { get() {}, set() {} }
    expect(() => createLimiter({ limits: { a: { policy: of(1), store: client as never } } })).toThrow(
      "expected limit 'a' store such as memoryStore()",
    )
  })
})
