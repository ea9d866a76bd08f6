import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { after, afterPoll, afterUnref, atEndOfTurn, type Clock, inTicks, type TickClock, toTicks } from './clock.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('milliseconds to ticks', () => {
  test('brings every tick home until the year 2109', () => {
    const home = fc.property(fc.integer({ min: 0, max: 2 ** 42 * 1000 - 1 }), tick => {
      expect(toTicks(tick / 1000)).toBe(tick)
    })
    fc.assert(home, { numRuns: 20_000 })
  })

  test.each([
    [0, 0],
    [0.0004, 0],
    [0.0007, 0],
    [0.001, 1],
    [1.9996, 1999],
    [1_790_000_123_456.5, 1_790_000_123_456_500],
  ])('%d ms is tick %d, rounded down', (ms, tick) => expect(toTicks(ms)).toBe(tick))

  test('never turns later into earlier', () => {
    const ordered = fc.property(
      fc.double({ min: 0, max: 4e12, noNaN: true }),
      fc.double({ min: 0, max: 10, noNaN: true }),
      (ms, more) => {
        expect(toTicks(ms + more)).toBeGreaterThanOrEqual(toTicks(ms))
      },
    )
    fc.assert(ordered, { numRuns: 2000 })
  })
})

describe.each(['Node', 'a browser'])('the system clock of %s', host => {
  const START = 1_790_000_000_000
  let wall = START
  let elapsed = 0
  let clock: Clock & TickClock

  beforeEach(async () => {
    wall = START
    elapsed = 0
    vi.spyOn(Date, 'now').mockImplementation(() => wall)
    const bootedMs = 9_000_000_000 // so long ago that nanoseconds pass 2^53
    vi.spyOn(performance, 'now').mockImplementation(() => elapsed)
    vi.spyOn(process.hrtime, 'bigint').mockImplementation(() => BigInt(Math.round((bootedMs + elapsed) * 1e6)))
    if (host === 'a browser') vi.stubGlobal('process', { ...process, hrtime: undefined })
    vi.spyOn(performance, 'timeOrigin', 'get').mockImplementation(() => START)
    vi.resetModules()
    clock = (await import('./clock.ts')).systemClock
  })

  const pass = (ms: number, wallMs = ms) => {
    elapsed += ms
    wall += wallMs
    return clock.now()
  }

  test('tells epoch milliseconds, fractions too', () => {
    expect(clock.now()).toBe(START)
    expect(pass(1.5)).toBe(START + 1.5)
  })

  test('tells whole ticks, rounded down', () => {
    expect(clock.ticks()).toBe(START * 1000)
    elapsed += 0.0024
    expect(clock.ticks()).toBe(START * 1000 + 2)
    expect(clock.now()).toBe(START + 0.002)
  })

  test('does not go back with the wall clock', () => {
    pass(5000)
    expect(pass(1000, -3_600_000)).toBe(START + 6000)
    expect(pass(1000)).toBe(START + 7000)
  })

  test('goes on after the machine has slept, within about a second', () => {
    pass(5000)
    expect(pass(1001, 3_600_000)).toBe(START + 5000 + 3_600_000)
  })

  test('does not follow a wall clock that is a little ahead', () => {
    expect(pass(1001, 1101)).toBe(START + 1001)
  })

  test('never runs backwards, whatever the wall clock does', () => {
    let latest = clock.now()
    const steps = fc.array(fc.tuple(fc.nat(3000), fc.integer({ min: -(10 ** 9), max: 10 ** 9 })), { maxLength: 50 })
    const forward = fc.property(steps, moves => {
      for (const [ms, wallMs] of moves) {
        const now = pass(ms, wallMs)
        expect(now).toBeGreaterThanOrEqual(latest + ms)
        latest = now
      }
    })
    fc.assert(forward, { numRuns: 200 })
  })
})

test('a clock of another make is read in ticks, rounded down', () => {
  let ms = 1_790_000_000_000
  const { ticks } = inTicks({ now: () => ms })
  expect(ticks()).toBe(1_790_000_000_000_000)
  ms += 0.0024
  expect(ticks()).toBe(1_790_000_000_000_002)
})

const unhurried: Clock = { now: () => 0 }

describe('a timer', () => {
  test('is the clock’s own where it has one', () => {
    const cancel = () => {}
    const own = vi.fn(() => cancel)
    const ring = () => {}
    expect(after({ now: () => 0, after: own }, 5, ring)).toBe(cancel)
    expect(own).toHaveBeenCalledWith(5, ring)
  })

  test('never rings early, and once', () => {
    vi.useFakeTimers()
    const ring = vi.fn()
    after(unhurried, 2.5, ring)
    vi.advanceTimersByTime(2)
    expect(ring).not.toHaveBeenCalled()
    vi.advanceTimersByTime(100)
    expect(ring).toHaveBeenCalledOnce()
  })

  test('can be set 30 days ahead, which the machine’s cannot', () => {
    vi.useFakeTimers()
    const ring = vi.fn()
    const days = (n: number) => n * 86_400_000
    after(unhurried, days(30), ring)
    vi.advanceTimersByTime(days(30) - 1)
    expect(ring).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(ring).toHaveBeenCalledOnce()
  })

  test('that is cancelled does not ring, on any leg of a long way', () => {
    vi.useFakeTimers()
    const ring = vi.fn()
    const cancel = after(unhurried, 30 * 86_400_000, ring)
    vi.advanceTimersByTime(26 * 86_400_000)
    cancel()
    expect(vi.getTimerCount()).toBe(0)
    vi.advanceTimersByTime(10 * 86_400_000)
    expect(ring).not.toHaveBeenCalled()
  })
})

test('only a timer that somebody waits for keeps a process', () => {
  const started = vi.spyOn(globalThis, 'setTimeout')
  const timers = [after, afterUnref].map(start => start(unhurried, 1000, () => {}))
  expect(started.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([true, false])
  for (const cancel of timers) cancel()
  const own = vi.fn(() => () => {})
  afterUnref({ now: () => 0, after: own }, 5, () => {})
  expect(own).toHaveBeenCalledOnce()
})

describe('the turns of the event loop', () => {
  test('what is ready goes before what is to run after the poll', async () => {
    const order: string[] = []
    await new Promise<void>(resolve => {
      afterPoll(() => {
        order.push('poll')
        resolve()
      })
      atEndOfTurn(() => order.push('end of turn'))
      void Promise.resolve().then(() => order.push('microtask'))
      order.push('now')
    })
    expect(order[0]).toBe('now')
    expect(order[3]).toBe('poll')
  })

  test('exist without Node as well', async () => {
    vi.stubGlobal('setImmediate', undefined)
    vi.stubGlobal('process', undefined)
    const ran = [afterPoll, atEndOfTurn].map(start => new Promise<void>(resolve => start(resolve)))
    vi.unstubAllGlobals()
    await Promise.all(ran)
  })
})
