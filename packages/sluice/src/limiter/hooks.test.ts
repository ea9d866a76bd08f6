import { describe, expect, test } from 'vitest'
import { flush } from '../fixtures/limiter/passing-time.ts'
import {
  concurrency,
  createLimiter,
  type Decision,
  fixedWindow,
  type LimiterEvent,
  memoryStore,
  slidingLog,
  tokenBucket,
} from '../index.ts'
import { fakeClock } from '../testing/index.ts'

function heard() {
  const calls: [Decision, unknown][] = []
  return { calls, onDecision: (decision: Decision, subject: unknown) => void calls.push([decision, subject]) }
}

describe('onDecision', () => {
  test('hears of every decision once, refused or not, with its subject', () => {
    const { calls, onDecision } = heard()
    const limiter = createLimiter(fixedWindow({ limit: 1, window: '1m' }), { clock: fakeClock(), onDecision })
    const decisions = ['a', 'a', 'b'].map(subject => limiter.consume(subject))
    expect(calls).toHaveLength(3)
    calls.forEach(([decision, subject], i) => {
      expect(decision).toBe(decisions[i])
      expect(subject).toBe(['a', 'a', 'b'][i])
    })
    expect(calls.map(([decision]) => decision.allowed)).toEqual([true, false, true])
  })

  test('gets the subject as it is, with named limits too, and where nothing applied', () => {
    const { calls, onDecision } = heard()
    const limiter = createLimiter<{ user?: string }>({
      clock: fakeClock(),
      limits: { user: { policy: '1/m', key: s => s.user } },
      onDecision,
    })
    const subjects = [{ user: 'u' }, {}]
    for (const subject of subjects) limiter.consume(subject)
    expect(calls.map(([, subject]) => subject)).toEqual(subjects)
    expect(calls[0]![1]).toBe(subjects[0])
  })

  test('hears of a reservation once, and not of settling it', () => {
    const { calls, onDecision } = heard()
    const limiter = createLimiter('10/m', { clock: fakeClock(), onDecision })
    const call = limiter.reserve('a', { cost: 5, ttl: '1m' })
    call.settle(2)
    expect(calls).toEqual([[call.decision, 'a']])
  })

  test.each([
    tokenBucket({ capacity: 1, refill: '1/s' }),
    fixedWindow({ limit: 1, window: '1s' }),
    slidingLog({ limit: 1, window: '1s' }),
    concurrency({ limit: 1, ttl: '1s' }),
  ])('hears of a wait once, with the decision it ends in: $kind', async policy => {
    const { calls, onDecision } = heard()
    const clock = fakeClock()
    const limiter = createLimiter(policy, { clock, onDecision })
    limiter.consume('a')
    const wait = limiter.wait('a')
    await flush()
    limiter.consume('a').release() // refused, and gives nothing back
    limiter.reset('b') // nothing to do with it
    await flush()
    clock.advance(1000)
    await flush()
    const decision = await wait
    expect(calls.map(([{ allowed }]) => allowed)).toHaveLength(3)
    expect(calls.filter(([heardOf]) => heardOf === decision)).toHaveLength(1)
  })

  test('is not called for what decides nothing', () => {
    const { calls, onDecision } = heard()
    const limiter = createLimiter(slidingLog({ limit: 1, window: '1s' }), { clock: fakeClock(), onDecision })
    const decision = limiter.consume('a')
    calls.length = 0
    decision.release()
    limiter.refund(decision)
    limiter.refund('a', { cost: 1 })
    limiter.block('a', { for: '1m' })
    limiter.reset('a')
    limiter.history('a')
    limiter.setMode('default', 'off')
    limiter.close()
    expect(calls).toEqual([])
  })

  test('sees a decision that is complete', () => {
    const seen: unknown[] = []
    const limiter = createLimiter('1/m', {
      clock: fakeClock(),
      onDecision: decision => seen.push(JSON.parse(JSON.stringify(decision))),
    })
    const later = [limiter.consume('a'), limiter.consume('a')]
    expect(seen).toEqual(JSON.parse(JSON.stringify(later)))
  })
})

describe('onEvent', () => {
  test('says when nothing applied, by consume and by peek', () => {
    const events: LimiterEvent[] = []
    const limiter = createLimiter<object>({
      name: 'api',
      clock: fakeClock(),
      limits: { none: { policy: '1/m', key: () => undefined } },
      onEvent: event => events.push(event),
    })
    limiter.consume({})
    limiter.peek({})
    const event = { type: 'nothing-applied', limiter: 'api' }
    expect(events).toEqual([event, event])
  })

  test('is silent otherwise', () => {
    const events: LimiterEvent[] = []
    const limiter = createLimiter('1/m', { clock: fakeClock(), onEvent: event => events.push(event) })
    for (const subject of ['a', 'a', 'b']) limiter.consume(subject)
    expect(events).toEqual([])
  })
})

describe('without hooks', () => {
  test('everything works all the same', async () => {
    const limiter = createLimiter<{ user?: string }>({
      clock: fakeClock(),
      limits: { user: { policy: '1/m', key: s => s.user } },
    })
    expect(limiter.consume({}).allowed).toBe(true)
    expect(limiter.consume({ user: 'u' }).allowed).toBe(true)
    expect((await limiter.wait({})).allowed).toBe(true)
  })

  test('a full store tells nobody, and one with a hook tells once', () => {
    let told = 0
    const clock = fakeClock()
    for (const store of [
      memoryStore({ clock, maxKeys: 4 }),
      memoryStore({ clock, maxKeys: 4, onOverflow: () => told++ }),
    ]) {
      const limiter = createLimiter(slidingLog({ limit: 1, window: '1h' }), { store })
      for (let i = 0; i < 50; i++) limiter.consume(`key ${i}`)
      expect(store.size).toBeLessThanOrEqual(4)
    }
    expect(told).toBe(1)
  })
})

test('a clock set back is told once, and who waits starts when it was said', async () => {
  const clock = fakeClock(10 * 3_600_000)
  const events: LimiterEvent[] = []
  const limiter = createLimiter(slidingLog({ limit: 1, window: '1s' }), { clock, onEvent: event => events.push(event) })
  limiter.consume('a')
  clock.set(9 * 3_600_000)
  expect(limiter.consume('a').retryAfterMs).toBe(1000)
  const wait = limiter.wait('a')
  clock.advance(999)
  expect(limiter.consume('a').retryAfterMs).toBe(1)
  clock.advance(1)
  expect((await wait).allowed).toBe(true)
  expect(events).toEqual([{ type: 'clock-set-back', limiter: 'default', byMs: 3_600_000 }])
})
