import { describe, expect, test } from 'vitest'
import { flush } from '../../fixtures/limiter/passing-time.ts'
import {
  createLimiter,
  fixedWindow,
  type Limiter,
  memoryStore,
  type Policy,
  type Store,
  tokenBucket,
} from '../../index.ts'
import type { Change } from '../../stores/store.ts'
import { type FakeClock, fakeClock } from '../../testing/index.ts'
import { type Timer, TimerQueue } from './timer-queue.ts'

const COUNT = 4096

/** A store that notes the calls it gets, and a clock that notes the timers it sets. */
function world(policy: Policy) {
  const inner: FakeClock = fakeClock(1000)
  const seen = { asked: 0, amended: [] as (readonly Change[])[], timers: 0 }
  const clock: FakeClock = {
    ...inner,
    after(ms, callback) {
      seen.timers++
      return inner.after(ms, callback)
    },
  }
  const memory = memoryStore({ clock })
  const store: Store<'sync'> = {
    ...memory,
    mode: 'sync',
    clock,
    bind: path => memory.bind(path),
    ask: question => {
      seen.asked++
      memory.ask(question)
    },
    amend: changes => {
      seen.amended.push(changes)
      return memory.amend(changes)
    },
    inspect: charge => memory.inspect(charge),
    close: () => memory.close(),
  }
  const limiter = createLimiter(policy, { store })
  const reset = () => Object.assign(seen, { asked: 0, amended: [], timers: 0 })
  return { limiter, seen, reset }
}

const booked = tokenBucket({ capacity: 1, refill: '1/s' })
const queued = fixedWindow({ limit: 1, window: '1h' })

/** Fills the limit and lets so many wait for it, each under its signal. */
async function crowd(limiter: Limiter, signals: readonly (AbortSignal | undefined)[]): Promise<{ left: number }> {
  const gone = { left: 0 }
  await limiter.consume('a')
  for (const signal of signals) {
    limiter.wait('a', { maxWait: '365d', ...(signal && { signal }) }).catch(() => gone.left++)
  }
  await flush()
  return gone
}

const ORDERS = {
  'in the order they came': (n: number) => n,
  'from the last to the first': (n: number) => COUNT - 1 - n,
  'in no order': (n: number) => (n * 1021) % COUNT,
}

/** Thousands wait, then each aborts; what is seen counts from the first abort on. */
async function afterAllLeft(policy: Policy, nth: (n: number) => number) {
  const { limiter, seen, reset } = world(policy)
  const all = Array.from({ length: COUNT }, () => new AbortController())
  const gone = await crowd(
    limiter,
    all.map(one => one.signal),
  )
  reset()
  for (let n = 0; n < COUNT; n++) all[nth(n)]!.abort()
  await flush()
  return { limiter, seen, gone }
}

describe.each(Object.entries(ORDERS))('thousands who leave, %s', (_, nth) => {
  test('booked: one change to the store for each, and hardly a timer', async () => {
    const { limiter, seen, gone } = await afterAllLeft(booked, nth)
    expect(gone.left).toBe(COUNT)
    expect(seen.amended.flat()).toHaveLength(COUNT)
    expect(seen.asked).toBe(0)
    expect(seen.timers).toBe(0)
    expect(limiter.peek('a').resetAfterMs).toBe(1000)
  })

  test('queued: the store is not asked for those who leave', async () => {
    const { seen, gone } = await afterAllLeft(queued, nth)
    expect(gone.left).toBe(COUNT)
    expect(seen).toEqual({ asked: 0, amended: [], timers: 0 })
  })
})

describe.each([
  ['booked', booked, 1],
  ['queued', queued, 0],
] as const)('thousands who leave together, %s', (_, policy, calls) => {
  test.each(['a signal they share', 'close()'])('by %s: one call to the store at most', async way => {
    const { limiter, seen, reset } = world(policy)
    const shared = new AbortController()
    const gone = await crowd(
      limiter,
      Array.from({ length: COUNT }, () => shared.signal),
    )
    reset()
    if (way === 'close()') limiter.close()
    else shared.abort()
    await flush()
    expect(gone.left).toBe(COUNT)
    expect(seen.amended).toHaveLength(calls)
    expect(seen.amended.flat()).toHaveLength(calls * COUNT)
    expect(seen.asked).toBe(0)
    expect(seen.timers).toBe(0)
  })
})

test('a timer is added and removed in about log n comparisons', () => {
  let reads = 0
  const timers = Array.from({ length: COUNT }, (_, i): Timer => {
    return {
      place: -1,
      get order() {
        reads++
        return (i * 1021) % COUNT
      },
      ring() {},
    }
  })
  const queue = new TimerQueue(fakeClock())
  // All are due at once, so that each comparison reads two orders.
  for (const timer of timers) queue.add(timer, 1_000_000)
  for (const timer of timers) queue.remove(timer)
  // Each step up or down compares at most two pairs.
  expect(reads).toBeLessThan(2 * COUNT * 4 * Math.log2(COUNT))
})

test('what sixty thousand give back together costs each as much as what a few do', { timeout: 30_000 }, async () => {
  const { limiter } = world(booked)
  const leaving = new AbortController()
  const gone = await crowd(
    limiter,
    Array.from({ length: 60_000 }, () => leaving.signal),
  )
  const before = process.cpuUsage()
  leaving.abort()
  await flush()
  const { user, system } = process.cpuUsage(before)
  expect(gone.left).toBe(60_000)
  // A fifth of a second of this process's own time. Where each looked at all before it, it was many seconds.
  expect((user + system) / 1e6).toBeLessThan(2.5)
})
