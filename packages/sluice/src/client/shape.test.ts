import { describe, expect, test } from 'vitest'
import { flush, pass } from '../fixtures/limiter/passing-time.ts'
import { farMemory } from '../fixtures/stores/far-memory.ts'
import { fixedWindow, leakyBucket, memoryStore } from '../index.ts'
import { type FakeClock, fakeClock } from '../testing/index.ts'
import { type CallOptions, type ShapeOptions, shape } from './index.ts'

const ONE_A_SECOND = leakyBucket({ capacity: 100, leak: '1/s' })

/** A shaped function that notes who started when, and ends when told to. */
function stage(options: Partial<ShapeOptions> & { clock?: FakeClock } = {}) {
  const { clock = fakeClock() } = options
  const started: string[] = []
  const failed: string[] = []
  const ends = new Map<string, () => void>()
  const shaped = shape(
    (name: string) => {
      started.push(`${name} at ${clock.now()}`)
      return options.concurrency === undefined
        ? name
        : new Promise<string>(resolve => ends.set(name, () => resolve(name)))
    },
    { policy: ONE_A_SECOND, clock, ...options },
  )
  const call = (name: string, callOptions?: CallOptions) => {
    const result = callOptions ? shaped.with(callOptions)(name) : shaped(name)
    result.catch((error: unknown) => failed.push(`${name}: ${(error as { code?: string }).code ?? error}`))
    return result
  }
  return { clock, started, failed, shaped, call, end: (name: string) => ends.get(name)!() }
}

test('starts one call per 1/leak, from the first on, and hands its result through', async () => {
  const { clock, started, call } = stage()
  const results = ['a', 'b', 'c'].map(name => call(name))
  await pass(clock, 3000)
  expect(started).toEqual(['a at 0', 'b at 1000', 'c at 2000'])
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c'])
})

test('a call that throws rejects, and the others go on', async () => {
  const clock = fakeClock()
  const shaped = shape(
    (n: number) => {
      if (n === 1) throw new Error('no')
      return n
    },
    { policy: ONE_A_SECOND, clock },
  )
  const results = Promise.allSettled([shaped(1), shaped(2)])
  await pass(clock, 2000)
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

test('two processes over one store share the slots, and neither waits for the other to ask', async () => {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const starts: number[] = []
  const make = () => shape(() => void starts.push(clock.now()), { policy: ONE_A_SECOND, store, clock })
  const [one, other] = [make(), make()]
  for (let i = 0; i < 3; i++) {
    void one()
    void other()
  }
  await pass(clock, 6000)
  expect(starts).toEqual([0, 1000, 2000, 3000, 4000, 5000])
})

test('windows shape, too', async () => {
  const { clock, started, call } = stage({ policy: fixedWindow({ limit: 2, window: '1s' }) })
  for (const name of ['a', 'b', 'c']) void call(name)
  await pass(clock, 2000)
  expect(started).toEqual(['a at 0', 'b at 0', 'c at 1000'])
})

describe('priorities', () => {
  test('the higher starts first, and within one the first', async () => {
    const { clock, started, call } = stage()
    for (const name of ['a', 'b', 'c']) void call(name)
    await flush()
    void call('high 1', { priority: 1 })
    void call('low', { priority: -1 })
    void call('high 2', { priority: 1 })
    await pass(clock, 6000)
    expect(started.map(text => text.replace(/ at.*/, ''))).toEqual(['a', 'high 1', 'high 2', 'b', 'c', 'low'])
  })

  test.each(['b', 'high'])('a cancelled call gives a slot back whoever had booked it: %s', async cancelled => {
    const { clock, started, call, failed } = stage()
    const abort = new AbortController()
    const options = (name: string) => (name === cancelled ? { signal: abort.signal } : {})
    void call('a')
    await flush()
    void call('b', options('b'))
    void call('high', { priority: 1, ...options('high') })
    await pass(clock, 500)
    abort.abort('gone')
    await flush()
    void call('c')
    await pass(clock, 4000)
    const other = cancelled === 'b' ? 'high' : 'b'
    expect(started).toEqual(['a at 0', `${other} at 1000`, 'c at 2000'])
    expect(failed).toEqual([`${cancelled}: gone`])
  })

  test('options that are changed after the call was made change nothing', async () => {
    const { clock, started, call, shaped } = stage()
    const options = { priority: 1 }
    for (const name of ['a', 'b', 'c']) void call(name)
    await flush()
    void call('high', options)
    options.priority = -1
    await pass(clock, 4000)
    expect(started.map(text => text.replace(/ at.*/, ''))).toEqual(['a', 'high', 'b', 'c'])
    expect(shaped.depth).toBe(0)
  })

  test('one that was overtaken for too long is refused', async () => {
    const { clock, started, call, failed } = stage({ maxWait: '2s' })
    void call('a')
    void call('b')
    await pass(clock, 500)
    void call('high 1', { priority: 1 })
    await pass(clock, 1000)
    void call('high 2', { priority: 1 })
    await pass(clock, 3000)
    expect(started).toEqual(['a at 0', 'high 1 at 1000', 'high 2 at 2000'])
    expect(failed).toEqual(['b: SLUICE_WAIT_TOO_LONG'])
  })
})

describe('the backlog', () => {
  test('is bounded in length', async () => {
    const { clock, call, failed, started } = stage({ maxBacklog: 2 })
    for (const name of ['a', 'b', 'c', 'd']) {
      void call(name)
      await flush()
    }
    expect(failed).toEqual(['d: SLUICE_BACKLOG_FULL'])
    await pass(clock, 3000)
    expect(started.length).toBe(3)
  })

  test('is bounded by the capacity of the bucket, over all processes', async () => {
    const { call, failed } = stage({ policy: leakyBucket({ capacity: 2, leak: '1/s' }) })
    for (const name of ['a', 'b', 'c']) void call(name)
    await flush()
    expect(failed).toEqual(['c: SLUICE_BACKLOG_FULL'])
  })

  test('is bounded in age: a call that would wait too long is refused at once, and told when not', async () => {
    const { shaped } = stage({ maxWait: '1500ms' })
    const [, , late] = [shaped('a'), shaped('b'), shaped('c')]
    await expect(late).rejects.toMatchObject({ code: 'SLUICE_WAIT_TOO_LONG', retryAfterMs: 500 })
  })

  test('a call whose slot is in time starts, even where the timer rings a moment late', async () => {
    const { clock, started, call, failed } = stage({ maxWait: '1s' })
    void call('a')
    void call('b')
    await flush()
    clock.advance(1003)
    await flush()
    expect(started).toEqual(['a at 0', 'b at 1003'])
    expect(failed).toEqual([])
  })

  test('tells of pressure once on the way up and once on the way down', async () => {
    const told: unknown[] = []
    const { clock, call } = stage({ maxBacklog: 10, onPressure: pressure => told.push(pressure) })
    for (let i = 0; i < 10; i++) void call(`${i}`)
    await pass(clock, 10_000)
    expect(told).toEqual([
      { high: true, depth: 8 },
      { high: false, depth: 5 },
    ])
  })

  test('may leak faster the longer it is', async () => {
    const policy = (depth: number) => leakyBucket({ capacity: 100, leak: depth < 2 ? '1/s' : '2/s' })
    const { clock, call, started } = stage({ policy })
    for (const name of ['a', 'b', 'c', 'd', 'e']) void call(name)
    await pass(clock, 6000)
    const times = started.map(text => Number(text.split(' at ')[1]))
    expect(times.length).toBe(5)
    expect(times[4]! - times[3]!).toBeLessThanOrEqual(500)
  })
})

test('an abort before the start gives the slot to the next', async () => {
  const { clock, started, call, failed, shaped } = stage()
  const abort = new AbortController()
  void call('a')
  void call('b', { signal: abort.signal })
  void call('c')
  await pass(clock, 500)
  expect(shaped.depth).toBe(2)
  abort.abort('gone')
  await pass(clock, 2500)
  expect(started).toEqual(['a at 0', 'c at 1000'])
  expect(failed).toEqual(['b: gone'])
})

test('so does one while the store is still asked', async () => {
  const clock = fakeClock()
  const { started, call, failed } = stage({ clock, store: farMemory(clock) })
  const abort = new AbortController()
  void call('a')
  void call('b', { signal: abort.signal })
  abort.abort('gone')
  await pass(clock, 1000)
  void call('c')
  await pass(clock, 1000)
  expect(started).toEqual(['a at 0', 'c at 1000'])
  expect(failed).toEqual(['b: gone'])
})

test('no more than `concurrency` run at once, and none is lost', async () => {
  const { clock, started, call, end, shaped } = stage({ concurrency: 1 })
  for (const name of ['a', 'b', 'c']) void call(name)
  await pass(clock, 5000)
  expect(started).toEqual(['a at 0'])
  expect([shaped.running, shaped.depth]).toEqual([1, 2])
  end('a')
  await flush()
  end('b')
  await flush()
  expect(started).toEqual(['a at 0', 'b at 5000', 'c at 5000'])
})

test('drain lets all that were taken end, and takes no more', async () => {
  const { clock, started, call, shaped, failed } = stage()
  void call('a')
  void call('b')
  let isDrained = false
  void shaped.drain().then(() => {
    isDrained = true
  })
  void call('late')
  await flush()
  expect(isDrained).toBe(false)
  await pass(clock, 1000)
  expect([isDrained, started.length, failed]).toEqual([true, 2, ['late: SLUICE_BACKLOG_FULL']])
})

test('close refuses those who wait', async () => {
  const { clock, call, shaped, failed, started } = stage()
  void call('a')
  void call('b')
  await flush()
  await shaped.close()
  await pass(clock, 3000)
  expect([started, failed]).toEqual([['a at 0'], ['b: SLUICE_BACKLOG_FULL']])
})

test.each([
  [{ policy: '1/s', concurrency: 0 }],
  [{ policy: '1/s', maxBacklog: 1.5 }],
  [{ policy: '1/s', rate: 5 }],
  [null],
])('refuses %o', options => {
  expect(() => shape(() => {}, options as never)).toThrow(expect.objectContaining({ code: 'SLUICE_BAD_OPTION' }))
})
