import { stat } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { ruleOf } from '../../algorithms/rule.ts'
import { systemClock } from '../../clock.ts'
import { askStore } from '../../fixtures/stores/ask-store.ts'
import { RemoteMemory } from '../../fixtures/stores/remote-memory.ts'
import { fixedWindow, type StoreEvent, StoreUnavailable } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { BESIDE, Charge, ENFORCED, isDecided } from '../charge.ts'
import { askInline, LOOK, TAKE } from '../store.ts'
import { type ResilientOptions, resilient } from './resilient.ts'

const rule = ruleOf(fixedWindow({ limit: 10, window: '1h' }))

/** Lets everything run that is ready to run. */
const turn = () => new Promise<void>(resolve => setImmediate(resolve))

function world(options: ResilientOptions = {}) {
  const clock = fakeClock()
  const inner = new RemoteMemory(clock)
  const events: StoreEvent[] = []
  const store = resilient(inner, inner, { clock, random: () => 0.5, onEvent: event => events.push(event), ...options })
  const charge = (key = '0', role = ENFORCED) => {
    return new Charge({ space: store.bind(`limit ${key}`), block: undefined, atOnce: false }, rule, key, 1, role)
  }
  const pass = async (ms: number) => {
    await turn()
    clock.advance(ms)
    await turn()
  }
  const ask = async (key?: string) => {
    const asked = charge(key)
    await askStore(store, [asked], TAKE)
    return asked
  }
  /** How many were taken of a key, by what the server knows. */
  const used = (key = '0') => {
    const look = charge(key)
    askInline(inner.memory, [look], LOOK)
    return look.used
  }
  /** Asks, and lets the deadline pass. */
  const askInVain = async (key?: string) => {
    const asked = ask(key)
    await pass(25)
    return asked
  }
  return { clock, inner, events, store, charge, pass, ask, askInVain, used }
}

const isSettled = async (promise: Promise<unknown>) => {
  let settled = false
  promise.then(
    () => (settled = true),
    () => (settled = true),
  )
  await turn()
  return settled
}

describe('the deadline', () => {
  test('a hung store costs the deadline once, then nothing', async () => {
    const { inner, store, ask, pass } = world()
    inner.set('hung')
    const first = ask()
    await pass(24.999)
    expect(await isSettled(first)).toBe(false)
    await pass(0.001)
    expect((await first).fault).toMatchObject({ code: 'SLUICE_STORE_TIMEOUT' })
    const asked = inner.asked.length
    for (let i = 0; i < 100; i++) expect((await ask()).fault).toMatchObject({ code: 'SLUICE_STORE_UNREACHABLE' })
    expect(inner.asked).toHaveLength(asked)
    expect(store).toMatchObject({ timeouts: 1, open: 1 })
  })

  test('all that wait are told in the order they came, each at its own deadline', async () => {
    const { inner, ask, pass } = world()
    inner.set('hung')
    const told: string[] = []
    const observe = (name: string) => ask().then(() => told.push(name))
    observe('a')
    observe('b')
    await pass(10)
    observe('c')
    await pass(15)
    expect(told).toEqual(['a', 'b'])
    await pass(10)
    expect(told).toEqual(['a', 'b', 'c'])
  })

  test('an answer in time needs no timer of its own, and leaves none behind', async () => {
    const { clock, store, ask, pass } = world()
    let timers = 0
    const { after } = clock
    clock.after = (ms, callback) => {
      timers++
      return after(ms, callback)
    }
    for (let i = 0; i < 50; i++) await ask()
    await Promise.all(Array.from({ length: 50 }, () => ask()))
    await turn()
    expect(timers).toBeLessThanOrEqual(1)
    await pass(1000)
    expect(timers).toBeLessThanOrEqual(1)
    expect(store.timeouts).toBe(0)
  })

  test('a late answer changes nothing', async () => {
    const { inner, store, askInVain, events, used } = world()
    inner.set('hung')
    const late = await askInVain()
    const { fault } = late
    inner.set('up')
    await turn()
    expect(late).toMatchObject({ allowed: false, taken: false })
    expect([isDecided(late), late.fault]).toEqual([false, fault])
    expect(store.open).toBe(1) // only a probe closes it
    expect(events.map(({ type }) => type)).toEqual(['outage'])
    expect(used()).toBe(1) // it landed, and is counted as one that may have
    expect(store.timeouts).toBe(1)
  })

  test('what is decided by the deadline stays decided', async () => {
    const { inner, store, charge, pass } = world()
    inner.set('hung', 1)
    const charges = [charge('0'), charge('1')]
    const decided = askStore(store, charges, TAKE)
    await pass(25)
    await decided
    expect(charges[0]).toMatchObject({ allowed: true, taken: true, fault: undefined })
    expect(charges[1]).toMatchObject({ taken: false, fault: { code: 'SLUICE_STORE_TIMEOUT' } })
  })

  test('a slow answer among quick ones is late, and the store is asked on', async () => {
    const { inner, store, ask, pass } = world()
    let slow = () => {}
    inner.delay = () => new Promise<void>(resolve => (slow = resolve))
    const late = ask()
    await pass(20)
    inner.delay = () => Promise.resolve()
    expect((await ask()).fault).toBeUndefined()
    await pass(5)
    expect((await late).fault).toMatchObject({ code: 'SLUICE_STORE_TIMEOUT' })
    expect(store.open).toBe(0)
    slow()
  })
})

describe('a stalled event loop is not an outage', () => {
  const busy = (ms: number) => {
    const until = systemClock.now() + ms
    while (systemClock.now() < until);
  }

  test('where the answer has arrived meanwhile', async () => {
    const { inner, store, ask } = world({ clock: systemClock, deadlineMs: 10 })
    // Another thread has it ready, but it is only seen when the loop polls: from here on, that comes after its timers.
    inner.delay = () => stat('.')
    await turn()
    const asked = ask()
    await new Promise<void>(resolve => process.nextTick(resolve))
    busy(50)
    expect((await asked).fault).toBeUndefined()
    expect(store.timeouts).toBe(0)
  })

  test('where the question could not even be sent', async () => {
    const { inner, store, ask } = world({ clock: systemClock, deadlineMs: 10 })
    inner.delay = async () => {
      await new Promise<void>(resolve => process.nextTick(resolve))
      await new Promise(resolve => setTimeout(resolve, 3))
    }
    const asked = ask()
    busy(20) // in the same turn: nothing goes out before it ends
    expect((await asked).fault).toBeUndefined()
    expect(store.timeouts).toBe(0)
  })
})

describe('the breaker', () => {
  test('opens when a deadline passes in silence, and every change of state is told', async () => {
    const { inner, events, askInVain, pass } = world()
    inner.set('hung')
    const { fault } = await askInVain()
    expect(events).toEqual([{ type: 'outage', shard: 0, error: fault }])
    await pass(1000)
    expect(events).toHaveLength(1)
    inner.set('up')
    await pass(1000)
    expect(events).toHaveLength(2)
    expect(events[1]).toMatchObject({ type: 'recovered', shard: 0 })
    const { outageMs } = events[1] as { outageMs: number }
    expect(outageMs).toBeGreaterThanOrEqual(1000)
    expect(outageMs).toBeLessThan(2000)
  })

  test.each(['hung', 'SLUICE_STORE_FAILED'] as const)(
    "closes within a second of the store's return, whenever that is: %s",
    async state => {
      for (const random of [() => 0, () => 0.999999]) {
        for (let outage = 25; outage < 1500; outage += 130) {
          const { inner, store, clock, ask, askInVain, pass } = world({ random })
          inner.set('hung')
          await askInVain()
          inner.set(state)
          while (clock.now() < outage) await pass(5)
          inner.set('up')
          for (let ms = 0; ms < 1000; ms += 5) await pass(5)
          expect(store.open).toBe(0)
          expect((await ask()).fault).toBeUndefined()
        }
      }
    },
  )

  test('probes about four times a second, and not in step with others', async () => {
    const gaps: number[] = []
    for (let seed = 0; seed < 20; seed++) {
      const { inner, askInVain, pass } = world({
        random: () => ((seed * 7919 + inner.probes.length * 104_729) % 1000) / 1000,
      })
      inner.set('hung')
      await askInVain()
      inner.set('SLUICE_STORE_FAILED')
      for (let ms = 0; ms < 2000; ms += 5) await pass(5)
      for (const [i, { at }] of inner.probes.entries()) gaps.push(at - (inner.probes[i - 1]?.at ?? 25))
    }
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(125)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(380) // in steps of 5
    expect(new Set(gaps).size).toBeGreaterThan(20)
  })

  test('a probe that is not answered in time has failed, and there is never more than one', async () => {
    const { inner, store, askInVain, pass } = world()
    inner.set('hung')
    await askInVain()
    for (let ms = 0; ms < 2750; ms += 25) await pass(25)
    expect(inner.probes).toHaveLength(10) // every 250 ms, and 25 for each to fail
    expect(store.open).toBe(1)
  })

  test.each([
    [1, 0],
    [2, 0],
    [3, 1],
  ])('faults in %d turns in a row leave %d shards open', async (turns, open) => {
    const { inner, store, ask } = world()
    inner.set('SLUICE_STORE_READONLY')
    for (let i = 0; i < turns; i++) {
      // A lost connection fails all calls of a turn at once: that is one failure.
      const all = await Promise.all(Array.from({ length: 20 }, () => ask()))
      expect(all.every(({ fault }) => fault?.code === 'SLUICE_STORE_READONLY')).toBe(true)
      await turn()
    }
    expect(store.open).toBe(open)
  })

  test('an answer from memory is no sign of life', async () => {
    const { inner, store, charge, ask, pass } = world()
    inner.set('hung')
    const late = ask()
    await pass(10)
    inner.ask = question => {
      Object.assign(question.charges[0]!, { at: 0, allowed: false, cached: true })
      question.done()
    }
    await askStore(store, [charge()], TAKE)
    await pass(15)
    expect((await late).fault).toMatchObject({ code: 'SLUICE_STORE_TIMEOUT' })
    expect(store.open).toBe(1)
  })

  test('faults with answers between do not add up', async () => {
    const { inner, store, ask } = world()
    for (let i = 0; i < 10; i++) {
      inner.set(i % 2 === 0 ? 'SLUICE_STORE_FULL' : 'up')
      await ask()
      await turn()
    }
    expect(store.open).toBe(0)
  })

  test.each(['SLUICE_FOREIGN_VALUE', 'SLUICE_KEY_TOO_LONG'] as const)("%s is the key's fault", async code => {
    const { inner, store, ask } = world()
    inner.set(code)
    for (let i = 0; i < 10; i++) {
      expect((await ask()).fault).toMatchObject({ code })
      await turn()
    }
    expect(store.open).toBe(0)
  })

  test('a hook that throws keeps nobody from an answer', async () => {
    const thrown: unknown[] = []
    const own = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException').on('uncaughtException', error => thrown.push(error))
    const { inner, ask, pass } = world({
      onEvent: () => {
        throw new Error('hook')
      },
    })
    inner.set('hung')
    const all = Promise.all([ask(), ask()])
    await pass(25)
    expect((await all).map(({ fault }) => fault?.code)).toEqual(['SLUICE_STORE_TIMEOUT', 'SLUICE_STORE_TIMEOUT'])
    process.removeAllListeners('uncaughtException')
    for (const listener of own) process.on('uncaughtException', listener)
    expect(thrown).toHaveLength(1)
  })
})

describe('shards', () => {
  test('one dead shard leaves the others alone', async () => {
    const { inner, store, ask, askInVain, events } = world()
    inner.set('hung', 1)
    await askInVain('1:a')
    expect((await ask('1:b')).fault).toMatchObject({ code: 'SLUICE_STORE_UNREACHABLE' })
    expect((await ask('2:a')).fault).toBeUndefined()
    expect((await ask('0:a')).fault).toBeUndefined()
    expect(store.open).toBe(1)
    expect(events).toMatchObject([{ type: 'outage', shard: 1 }])
  })

  test('a call over several goes without the charges of a dead one, and shadows keep their place', async () => {
    const { inner, store, charge, askInVain, used } = world()
    inner.set('hung', 1)
    await askInVain('1:a')
    const charges = [
      charge('1:b'),
      charge('0:a'),
      charge('0:b', 1), // in place of 0:a, which is the first of those that go
      charge('2:a', 0), // in place of one that does not go
      charge('1:c', BESIDE),
      charge('2:b', BESIDE),
    ]
    await askStore(store, charges, TAKE)
    expect(inner.asked.at(-1)!.map(({ key, role }) => [key, role])).toEqual([
      ['0:a', ENFORCED],
      ['0:b', 0],
      ['2:a', BESIDE],
      ['2:b', BESIDE],
    ])
    expect(charges.map(({ role }) => role)).toEqual([ENFORCED, ENFORCED, 1, 0, BESIDE, BESIDE])
    expect(charges.map(({ fault }) => fault?.code)).toEqual([
      'SLUICE_STORE_UNREACHABLE',
      undefined,
      undefined,
      undefined,
      'SLUICE_STORE_UNREACHABLE',
      undefined,
    ])
    expect(charges.map(({ taken }) => taken)).toEqual([false, true, true, true, false, true])
    expect(['0:a', '0:b', '2:a', '2:b'].map(key => used(key))).toEqual([1, 1, 1, 1])
  })
})

describe('before the first connection', () => {
  test('calls wait for it, not for the deadline', async () => {
    const { inner, store, ask, pass } = world()
    const connect = inner.connectLater()
    const [early, late] = [ask(), store.amend([])]
    await pass(900)
    expect(await isSettled(early)).toBe(false)
    expect(inner.asked).toEqual([])
    connect()
    expect((await early).fault).toBeUndefined()
    await late
    expect(store).toMatchObject({ open: 0, timeouts: 0 })
  })

  test('once it stands the deadline counts', async () => {
    const { inner, ask, pass } = world()
    const connect = inner.connectLater()
    inner.set('hung')
    const asked = ask()
    await pass(900)
    connect()
    await pass(25)
    expect((await asked).fault).toMatchObject({ code: 'SLUICE_STORE_TIMEOUT' })
  })

  test('the wait ends after a second, for all together, and those who come later do not wait', async () => {
    const { inner, events, ask, pass } = world()
    const connect = inner.connectLater()
    const first = ask()
    await pass(600)
    const second = ask()
    await pass(400)
    for (const asked of [first, second, ask()]) {
      expect((await asked).fault).toMatchObject({ code: 'SLUICE_STORE_UNREACHABLE' })
    }
    expect(events).toMatchObject([{ type: 'outage', shard: 0 }])
    connect()
    await pass(400)
    expect(events).toMatchObject([{ type: 'outage' }, { type: 'recovered' }])
    expect((await ask()).fault).toBeUndefined()
  })
})

describe('what has no onOutage to fall back on is rejected', () => {
  test.each(['amend', 'inspect'] as const)('%s, at the deadline and while the breaker is open', async name => {
    const { inner, store, charge, pass } = world()
    const call = (): Promise<unknown> =>
      name === 'amend' ? store.amend([{ type: 'reset', charge: charge() }]) : store.inspect(charge())
    await expect(call()).resolves.toMatchObject(name === 'amend' ? [0] : { used: 0 })
    inner.set('hung')
    const late = call()
    late.catch(() => {})
    await pass(25)
    await expect(late).rejects.toMatchObject({ name: 'StoreUnavailable', code: 'SLUICE_STORE_TIMEOUT' })
    await expect(call()).rejects.toMatchObject({ name: 'StoreUnavailable', code: 'SLUICE_STORE_UNREACHABLE' })
    expect(store).toMatchObject({ open: 1, timeouts: 0 })
  })

  test('a change in a shard that works is made all the same', async () => {
    const { inner, store, charge, ask, askInVain, used } = world()
    await ask('0:a')
    inner.set('hung', 1)
    await askInVain('1:a')
    const changes = ['1:a', '0:a'].map(key => ({ type: 'reset' as const, charge: charge(key) }))
    await expect(store.amend(changes)).rejects.toBeInstanceOf(StoreUnavailable)
    expect(used('0:a')).toBe(0)
  })

  test('faults of changes count against the shard', async () => {
    const { inner, store, charge } = world()
    inner.set('SLUICE_STORE_FAILED')
    for (let i = 0; i < 3; i++) {
      await expect(store.amend([{ type: 'reset', charge: charge() }])).rejects.toMatchObject({
        name: 'StoreUnavailable',
      })
      await turn()
    }
    expect(store.open).toBe(1)
  })
})

test('closing ends the probes and the wait for a connection, and closes the store within', async () => {
  const { inner, store, askInVain, pass } = world()
  inner.set('hung')
  await askInVain()
  await store.close()
  await pass(2000)
  expect(inner).toMatchObject({ closed: true, probes: [] })

  const other = world()
  other.inner.connectLater()
  const waiting = other.ask()
  await turn()
  await other.store.close()
  expect(await isSettled(waiting)).toBe(true)
})

test('the wrapper looks like what it wraps', () => {
  const { inner, store, clock } = world()
  expect(store).toMatchObject({ mode: 'async', clock })
  expect(store.bind('a')).toBe(inner.bind('a'))
})
