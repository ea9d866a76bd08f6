import { describe, expect, test } from 'vitest'
import {
  ask,
  askLater,
  FakeReply,
  type FakeRequest,
  type FakeView,
  heard,
  leftIn,
  reader,
  serve,
  statusOf,
} from '../../fixtures/http/fake-exchange.ts'
import type { Any } from '../../fixtures/limiter/misuse.ts'
import { flush } from '../../fixtures/limiter/passing-time.ts'
import { farMemory } from '../../fixtures/stores/far-memory.ts'
import { fixedWindow, memoryStore } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type GuardOptions, type GuardSettings, ip, plans } from '../index.ts'
import type { Guard } from './guard.ts'

const of = (limit: number) => fixedWindow({ limit, window: '1h' })

function guarded(options: GuardOptions<FakeView>) {
  const told = heard()
  const clock = fakeClock()
  return { ...told, clock, guard: createGuard({ clock, onEvent: told.onEvent, ...options } as GuardOptions<FakeView>) }
}

async function later(guard: Guard, times: number, request: FakeRequest = {}): Promise<number[]> {
  const found: number[] = []
  for (let i = 0; i < times; i++) found.push(statusOf(await askLater(guard, request)))
  return found
}

describe('an async function', () => {
  const byName = (r: FakeView) => Promise.resolve(r.name as string)

  test('chooses the policy', async () => {
    const { guard } = guarded({ policy: async r => of(r.plan === 'pro' ? 3 : 1), key: ip() })
    expect(leftIn(await askLater(guard, { plan: 'pro' }))).toEqual({ default: 2 })
    expect(await later(guard, 2, { from: '192.0.2.9' })).toEqual([200, 429])
  })

  test('chooses it by plans as well', async () => {
    const byPlan = plans({ anonymous: of(1), pro: of(3) }, (r: FakeView) => r.plan)
    const { guard } = guarded({ policy: async (r: Any) => byPlan(r), key: ip() })
    expect(leftIn(await askLater(guard, { plan: 'pro' }))).toEqual({ default: 2 })
  })

  test('tells the key, the cost, whether the limit applies, and whom no limit concerns', async () => {
    const { guard } = guarded({
      skip: async r => r.name === 'admin',
      limits: { caller: { policy: of(10), key: byName, cost: async r => r.cost, when: async r => r.name !== 'bob' } },
    })
    expect(leftIn(await askLater(guard, { name: 'ann', cost: 4 }))).toEqual({ caller: 6 })
    expect(leftIn(await askLater(guard, { name: 'cy', cost: 1 }))).toEqual({ caller: 9 })
    expect(await askLater(guard, { name: 'bob', cost: 4 })).toBeUndefined()
    expect(await askLater(guard, { name: 'admin', cost: 4 })).toBeUndefined()
    expect(leftIn(await askLater(guard, { name: 'ann', cost: 1 }))).toEqual({ caller: 5 })
  })

  test('that answers at once at times is not waited for then', async () => {
    const known = new Map([['ann', of(5)]])
    const { guard } = guarded({ policy: r => known.get(r.name) ?? Promise.resolve(of(1)), key: byName })
    expect(leftIn(await askLater(guard, { name: 'bob' }))).toEqual({ default: 0 })
    expect(leftIn(await askLater(guard, { name: 'ann' }))).toEqual({ default: 4 })
  })

  test('is asked once a request, and settles and forgives what it answered', async () => {
    const asked: string[] = []
    const key = async (r: FakeView) => {
      asked.push(r.name)
      return r.name as string
    }
    const { guard } = guarded({ policy: of(2), key, resetWhen: ({ status }) => status === 204 })
    const outcome = await askLater(guard, { name: 'ann' })
    outcome!.ended!(204, 0, false)
    expect(leftIn(await askLater(guard, { name: 'ann' }))).toEqual({ default: 1 })
    expect(asked).toEqual(['ann', 'ann'])
  })

  test('works over a store across a network', async () => {
    const clock = fakeClock()
    const { guard } = guarded({ policy: async () => of(1), key: ip(), store: farMemory(clock) })
    expect(await later(guard, 2)).toEqual([200, 429])
  })
})

describe('a flood makes no look-ups', () => {
  test.each<[string, (clock: ReturnType<typeof fakeClock>) => GuardSettings]>([
    ['in one process', () => ({})],
    ['with a store across a network', clock => ({ store: farMemory(clock) })],
  ])('%s', async (_, options) => {
    let asked = 0
    const lookUp = <T>(value: T) => {
      asked++
      return Promise.resolve(value)
    }
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const told = heard()
    const guard = createGuard({
      clock,
      onEvent: told.onEvent,
      ...options(clock),
      skip: () => lookUp(false),
      limits: {
        flood: { policy: of(3), key: ip(), store },
        caller: { policy: () => lookUp(of(100)), key: () => lookUp('ann'), cost: () => lookUp(1), unit: 'tokens' },
        everybody: { policy: of(100) },
      },
    })
    expect(await later(guard, 6)).toEqual([200, 200, 200, 429, 429, 429])
    expect(asked).toBe(12)
    expect(leftIn(await askLater(guard, { from: '192.0.2.9' }))).toEqual({ flood: 2, caller: 96, everybody: 96 })
    expect(told.events).toEqual([])
  })

  test('an event does not say that nothing applied where only look-ups were left', async () => {
    const { guard, events } = guarded({
      limits: {
        some: { policy: of(9), key: ip(), when: () => false },
        caller: { policy: async () => of(9), key: ip() },
      },
    })
    await askLater(guard)
    expect(events).toEqual([])
  })

  test('nor does a limit that is switched off', async () => {
    let asked = 0
    const { guard } = guarded({
      limits: {
        caller: {
          policy: async () => {
            asked++
            return of(1)
          },
          key: ip(),
        },
        other: { policy: of(5), key: ip() },
      },
    })
    guard.setMode('off', 'caller')
    expect(leftIn(ask(guard))).toEqual({ other: 4 })
    guard.setMode(undefined)
    expect(leftIn(await askLater(guard))).toEqual({ caller: 0, other: 3 })
    expect(asked).toBe(1)
  })
})

describe('one that fails falls back, and an event says so', () => {
  const rejects = () => Promise.reject(new Error('broken'))
  const never = () => new Promise<never>(() => {})
  const nonsense = async () => ({})

  test.each<[string, Any]>([
    ['rejects', rejects],
    ['is late', never],
    ['answers nonsense', nonsense],
  ])('%s', async (_, fails) => {
    const { guard, fallbacks, clock } = guarded({
      skip: fails,
      limits: {
        caller: { policy: fails, key: fails, cost: fails, when: fails },
        strict: { policy: of(2), key: ip(), mode: 'shadow' },
      },
    })
    const asked = async (from: string) => {
      const outcome = guard.ask({ from }, new FakeReply(), reader) as Promise<Any>
      for (let i = 0; i < 5; i++) {
        await flush()
        clock.advance(1000)
      }
      return outcome
    }
    expect((await asked('192.0.2.1'))?.decision).toMatchObject({ policy: 'caller', limit: 2, remaining: 1 })
    expect((await asked('192.0.2.2'))?.decision).toMatchObject({ remaining: 1 })
    const used = ['the address', 'true', '1', JSON.stringify(of(2)), 'false']
    expect([...new Set(fallbacks())].length).toBe(5)
    for (const text of used) expect(fallbacks().some(said => said.endsWith(`: ${text}`))).toBe(true)
  })

  test('a second passes, or what lookupDeadline says, and then it is late', async () => {
    const { guard, fallbacks, clock } = guarded({ policy: of(2), key: never, lookupDeadline: '50ms' })
    const outcome = askLater(guard)
    await flush()
    clock.advance(49)
    await flush()
    expect(fallbacks()).toEqual([])
    clock.advance(1)
    expect(leftIn(await outcome)).toEqual({ default: 1 })
    expect(fallbacks()).toEqual(['default key: the address'])
  })
})

test.each<[string, Any]>([
  ['countWhen', { countWhen: async () => true }],
  ['resetWhen', { resetWhen: async () => true }],
  ['settle', { settle: async () => 1 }],
  ['mode', { mode: async () => 'enforce' }],
  ['refuse', { refuse: async () => undefined }],
  ['onDecision', { onDecision: async () => {} }],
])('%s must not be async', (option, options) => {
  expect(() => createGuard({ policy: of(1), ...options })).toThrow(`${option} as a function that is not async`)
})

test('functions that answer at once leave the answer at once', () => {
  const { guard } = guarded({ policy: () => of(2), key: () => 'ann', cost: () => 1, skip: () => false })
  expect(serve(guard, {})).toBe(200)
})
