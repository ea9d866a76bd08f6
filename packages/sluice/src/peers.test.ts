import { Session } from 'node:inspector/promises'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { farMemory } from './fixtures/stores/far-memory.ts'
import {
  createLimiter,
  fixedWindow,
  leakyBucket,
  memoryStore,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from './index.ts'
import { fakeClock } from './testing/index.ts'

/** What other limiters were seen to get wrong in memory, and what happens here instead. */

const DAY = 86_400_000
const five: Policy[] = [
  fixedWindow({ limit: 5, window: '1m' }),
  slidingWindow({ limit: 5, window: '1m' }),
  slidingLog({ limit: 5, window: '1m' }),
  tokenBucket({ capacity: 5, refill: '1/m' }),
  leakyBucket({ capacity: 5, leak: '1/m' }),
]

/** How often any piece of the library's code runs during `work`, counted by the engine: no clock decides this. */
async function stepsOf(work: () => void): Promise<number> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  const library = result.filter(({ url }) => /packages\/sluice\/src\/(?!.*\.test\.)/.test(url))
  const ranges = library.flatMap(script => script.functions.flatMap(one => one.ranges))
  return ranges.reduce((sum, range) => sum + range.count, 0)
}

/** The in-process store as one across a network would be: every answer comes a little later. */
const remote = () => farMemory(fakeClock())

describe.each(five)('ten at once at a limit of five: $kind', policy => {
  test('exactly five pass, by what each handler reads after waiting for something else', async () => {
    const limiter = createLimiter(policy, { clock: fakeClock() })
    const handler = async () => {
      const decision = limiter.consume('a')
      for (let i = 0; i < 5; i++) await Promise.resolve()
      return [decision.allowed, decision.remaining]
    }
    const seen = await Promise.all(Array.from({ length: 10 }, handler))
    const refused = Array(5).fill([false, 0])
    expect(seen).toEqual([[true, 4], [true, 3], [true, 2], [true, 1], [true, 0], ...refused])
  })

  test('exactly five pass across an async store', async () => {
    const limiter = createLimiter(policy, { store: remote() })
    const decisions = await Promise.all(Array.from({ length: 10 }, () => limiter.consume('a')))
    expect(decisions.filter(d => d.allowed)).toHaveLength(5)
  })
})

test('a decision is a snapshot: later requests do not change what it says', () => {
  const clock = fakeClock()
  const limiter = createLimiter(slidingWindow({ limit: 5, window: '1m' }), { clock })
  const decision = limiter.consume('a')
  const then = JSON.stringify(decision)
  for (let i = 0; i < 9; i++) limiter.consume('a')
  clock.advance(10_000)
  limiter.reset('a')
  expect(JSON.stringify(decision)).toBe(then)
})

describe('long and short windows', () => {
  afterEach(() => void vi.useRealTimers())

  test.each([
    fixedWindow({ limit: 2, window: '30d', align: 'first' }),
    slidingLog({ limit: 2, window: '30d' }),
    tokenBucket({ capacity: 2, refill: '1/30d' }),
  ])('a window of 30 days limits for 30 days: $kind', policy => {
    const clock = fakeClock()
    const limiter = createLimiter(policy, { clock })
    const allowed = () => limiter.consume('a').allowed
    expect([allowed(), allowed(), allowed()]).toEqual([true, true, false])
    for (const at of [100, 2 ** 31 - 1, 2 ** 31, 30 * DAY - 1]) {
      clock.set(at)
      expect(allowed()).toBe(false)
    }
    clock.set(30 * DAY)
    expect(allowed()).toBe(true)
  })

  test('no key costs a timer', () => {
    vi.useFakeTimers()
    const limiter = createLimiter(fixedWindow({ limit: 1, window: '30d' }))
    for (let i = 0; i < 1000; i++) limiter.consume(`key ${i}`)
    limiter.block('key 0', { for: '1d' })
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each([fixedWindow({ limit: 1, window: '0.5s' }), slidingLog({ limit: 1, window: '500ms' })])(
    'a window of half a second ends after half a second: $kind',
    policy => {
      const clock = fakeClock()
      const limiter = createLimiter(policy, { clock })
      limiter.consume('a')
      expect(limiter.consume('a')).toMatchObject({ allowed: false, retryAfterMs: 500 })
      clock.advance(500)
      expect(limiter.consume('a').allowed).toBe(true)
    },
  )

  test.each([tokenBucket({ capacity: 1, refill: '1/30d' }), fixedWindow({ limit: 1, window: '30d' })])(
    'one per 30 days runs once in 30 days: $kind',
    async policy => {
      vi.useFakeTimers({ now: 0 })
      const limiter = createLimiter(policy, { clock: { now: () => Date.now() } })
      let runs = 0
      for (let i = 0; i < 4; i++) void limiter.wait('a').then(() => runs++)
      await vi.advanceTimersByTimeAsync(100)
      expect(runs).toBe(1)
      await vi.advanceTimersByTimeAsync(30 * DAY - 101)
      expect(runs).toBe(1)
      await vi.advanceTimersByTimeAsync(1)
      expect(runs).toBe(2)
    },
  )
})

describe.each(five)('costs: $kind', policy => {
  test('a refused cost is not charged, however often it is refused', () => {
    const clock = fakeClock()
    const limiter = createLimiter(policy, { clock })
    const { resetAt } = limiter.consume('a', { cost: 2 })
    for (let i = 0; i < 100; i++) expect(limiter.consume('a', { cost: 4 }).allowed).toBe(false)
    expect(limiter.consume('a', { cost: 3 }).allowed).toBe(true)
    limiter.refund('a', { cost: 3 })
    expect(limiter.peek('a')).toMatchObject({ remaining: 3, resetAt })
  })

  test('a credit of a hundred at a limit of five still admits five', () => {
    const limiter = createLimiter(policy, { clock: fakeClock() })
    limiter.consume('a')
    limiter.refund('a', { cost: 100 })
    const allowed = Array.from({ length: 105 }, () => limiter.consume('a').allowed)
    expect(allowed.filter(Boolean)).toHaveLength(5)
  })

  test('a cost of 0.9 is a mistake, not free', () => {
    const limiter = createLimiter(policy, { clock: fakeClock() })
    expect(() => limiter.consume('a', { cost: 0.9 })).toThrow('expected a cost as a whole number')
  })
})

test('a union of limits burns nothing in those that passed, and asks the store once', () => {
  const memory = memoryStore({ clock: fakeClock() })
  const asked: (string | symbol)[] = []
  const store = new Proxy(memory, {
    get(_, name) {
      const value = Reflect.get(memory, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        asked.push(name)
        return value.apply(memory, args)
      }
    },
  })
  const limiter = createLimiter<object>({
    store,
    limits: Object.fromEntries(five.map((policy, i) => [`limit ${i}`, { policy }])),
  })
  limiter.block({}, { limit: 'limit 4', for: '1h' })
  asked.length = 0
  expect(limiter.consume({}).allowed).toBe(false)
  expect(asked).toHaveLength(1)
  for (let i = 0; i < 20; i++) limiter.consume({})
  const passed = limiter.peek({}).limits.slice(0, 4)
  expect(passed.map(({ remaining }) => remaining)).toEqual([5, 5, 5, 5])
})

test.each(['constructor', '__proto__', 'hasOwnProperty', 'toString'])('%s is a key like any other', async key => {
  const clock = fakeClock()
  const limiter = createLimiter(fixedWindow({ limit: 1, window: '1m' }), { clock })
  expect(limiter.consume(key).allowed).toBe(true)
  expect(limiter.consume(key).allowed).toBe(false)
  expect(await limiter.wait(key, { maxWait: '1s' })).toMatchObject({ allowed: false, retryAfterMs: 60_000 })
})

test('a refusal is a value, from consume and from wait: only a broken store is an error', async () => {
  const store = remote()
  const limiter = createLimiter(fixedWindow({ limit: 0, window: '1m' }), { store })
  await expect(limiter.consume('a')).resolves.toMatchObject({ allowed: false })
  await expect(limiter.wait('a', { maxWait: 0 })).resolves.toMatchObject({ allowed: false })
})

describe('many keys', () => {
  test('40,000 blocked keys cost as much each as 20,000 do', async () => {
    const blockAll = (count: number) => {
      const limiter = createLimiter(fixedWindow({ limit: 1, window: '1m' }), { clock: fakeClock() })
      for (let i = 0; i < count; i++) limiter.block(`key ${i}`, { for: '1h' })
      for (let i = 0; i < count; i++) limiter.consume(`key ${i}`)
    }
    blockAll(10)
    const some = await stepsOf(() => blockAll(20_000))
    const twice = await stepsOf(() => blockAll(40_000))
    expect(some).toBeGreaterThan(100_000)
    expect(twice / some).toBeLessThan(2.5)
  })

  test.each([undefined, 1000])('5,000 others do not evict an offender, in a store of %s keys', maxKeys => {
    const store = memoryStore({ clock: fakeClock(), ...(maxKeys && { maxKeys }) })
    const limiter = createLimiter(fixedWindow({ limit: 5, window: '1m' }), { store })
    for (let i = 0; i < 6; i++) limiter.consume('offender')
    for (let i = 0; i < 5000; i++) limiter.consume(`key ${i}`)
    expect(limiter.consume('offender').allowed).toBe(false)
  })

  test('idle keys are forgotten without a timer', () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const limiter = createLimiter(slidingLog({ limit: 5, window: '1s' }), { store })
    for (let i = 0; i < 5000; i++) limiter.consume(`key ${i}`)
    expect(store.size).toBe(5000)
    clock.advance(1000)
    for (let i = 0; i < 200_000; i++) limiter.consume('busy', { cost: 0 })
    expect(store.size).toBeLessThan(10)
  })

  test("reset('*') resets the key *", () => {
    const limiter = createLimiter(fixedWindow({ limit: 1, window: '1m' }), { clock: fakeClock() })
    for (const key of ['a', '*']) limiter.consume(key)
    limiter.reset('*')
    expect([limiter.consume('a').allowed, limiter.consume('*').allowed]).toEqual([false, true])
  })
})

describe.each([
  slidingWindow({ limit: 200_000, window: '1m' }),
  fixedWindow({ limit: 200_000, window: '1m' }),
  tokenBucket({ capacity: 200_000, refill: '1/m' }),
])('200,000 hits in one window: $kind', policy => {
  test('are admitted, the next is refused, and a decision costs what it cost at the start', async () => {
    const clock = fakeClock()
    const limiter = createLimiter(policy, { clock })
    const hit = (count: number) => {
      for (let i = 0; i < count; i++) limiter.consume('a')
    }
    hit(10)
    const early = await stepsOf(() => hit(1000))
    hit(198_000)
    const late = await stepsOf(() => hit(990))
    expect(early).toBeGreaterThan(1000)
    expect(late).toBeLessThan(early * 2)
    expect(limiter.consume('a')).toMatchObject({ allowed: false, remaining: 0 })
    clock.advance(120_000)
    expect(limiter.consume('a').allowed).toBe(true)
  })
})
