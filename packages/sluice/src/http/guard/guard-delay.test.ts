import { describe, expect, test } from 'vitest'
import { arrivalsAt } from '../../fixtures/http/arrivals.ts'
import {
  ask,
  askLater,
  FakeReply,
  leftIn,
  reader,
  serve,
  statuses,
  statusOf,
} from '../../fixtures/http/fake-exchange.ts'
import { flush } from '../../fixtures/limiter/passing-time.ts'
import { concurrency, fixedWindow, tokenBucket } from '../../index.ts'
import { type FakeClock, fakeClock } from '../../testing/index.ts'
import { createGuard, type Guard, type GuardLimit, ip, plans } from '../index.ts'

const bucket = (capacity: number, refill: '1/s' | '2/s' | '5/s' | '10/s' = '10/s') => tokenBucket({ capacity, refill })

describe('which requests wait', () => {
  test.each<[string, number | 'all', (number | 'refused')[]]>([
    ['all but the first', 'all', [0, 100, 200, 300, 'refused']],
    ['the same', 0, [0, 100, 200, 300, 'refused']],
    ['those after two more', 2, [0, 0, 0, 100, 'refused']],
    ['nobody, where the burst is no larger', 3, [0, 0, 0, 0, 'refused']],
    ['nobody, where it is smaller', 100, [0, 0, 0, 0, 'refused']],
  ])('%s', (_name, delay, waits) => {
    expect(arrivalsAt({ caller: { policy: bucket(4), key: ip(), delay } }).arrivals(5)).toEqual(waits)
  })

  test('the wait gets shorter as the bucket drains', () => {
    const { arrivals, clock } = arrivalsAt({ caller: { policy: bucket(4), key: ip(), delay: 'all' } })
    expect(arrivals(3)).toEqual([0, 100, 200])
    clock.advance(150)
    expect(arrivals(3)).toEqual([150, 250, 'refused'])
    clock.advance(1000)
    expect(arrivals(2)).toEqual([0, 100])
  })

  test.each<[string, GuardLimit['cost']]>([
    ['a number', 5],
    ['a table', { '/a': 5 }],
    ['a function', () => 5],
  ])('a cost is waited for by who comes after, not by who brings it: %s', (_name, cost) => {
    const { arrivals } = arrivalsAt({ caller: { policy: bucket(20), key: ip(), delay: 'all', cost: cost! } })
    expect(arrivals(5, { route: '/a' })).toEqual([0, 500, 1000, 1500, 'refused'])
  })

  test('who only looks does not wait', () => {
    const { arrive, arrivals, guard } = arrivalsAt({ caller: { policy: bucket(4), key: ip(), delay: 'all' } })
    arrivals(3)
    expect(arrive()).toBe(300)
    expect(ask(guard.for('/look', { cost: 0 }))?.refusal).toBeUndefined()
  })

  test('also beside a limit that counts after the response', () => {
    const fails: GuardLimit = { policy: bucket(9), key: ip(), countWhen: () => true }
    const { arrivals } = arrivalsAt({ caller: { policy: bucket(4), key: ip(), delay: 'all' }, fails })
    expect(arrivals(5)).toEqual([0, 100, 200, 300, 'refused'])
  })

  test('each key waits for its own', () => {
    const { arrivals } = arrivalsAt({ caller: { policy: bucket(4), key: ip(), delay: 'all' } })
    expect([arrivals(2), arrivals(2, { from: '192.0.2.2' })]).toEqual([
      [0, 100],
      [0, 100],
    ])
  })

  test('a shadow delays nobody', () => {
    const { arrivals } = arrivalsAt({ caller: { policy: bucket(4), key: ip(), delay: 'all', mode: 'shadow' } })
    expect(arrivals(4)).toEqual([0, 0, 0, 0])
  })

  test('of plans, those with a bucket', () => {
    const policy = plans({ anonymous: fixedWindow({ limit: 9, window: '1m' }), pro: bucket(4) })
    const { arrivals } = arrivalsAt({ caller: { policy, key: ip(), delay: 'all' } })
    expect(arrivals(3)).toEqual([0, 0, 0])
    expect(arrivals(3, { plan: 'pro' })).toEqual([0, 100, 200])
  })
})

describe('several limits that delay', () => {
  const limits: Record<string, GuardLimit> = {
    slow: { policy: bucket(3, '1/s'), key: ip(), delay: 1 },
    fast: { policy: bucket(9, '10/s'), key: ip(), delay: 'all' },
    plain: { policy: bucket(9, '1/s'), key: ip() },
  }

  test('the longest wait is the one', () => {
    expect(arrivalsAt(limits).arrivals(4)).toEqual([0, 100, 1000, 'refused'])
  })

  test('and one that refuses takes nothing of the others', () => {
    const { guard, arrivals } = arrivalsAt(limits)
    arrivals(6)
    expect(leftIn(ask(guard))).toEqual({ slow: 0, fast: 6, plain: 6 })
  })
})

describe('while a request waits', () => {
  const one = (): [Guard, FakeClock] => {
    const clock = fakeClock()
    return [createGuard({ policy: bucket(3, '1/s'), delay: 'all', clock }), clock]
  }

  /** Whether it has been let in, and with which status. */
  function watch(asked: Promise<unknown>) {
    const state: { done: boolean; status?: number } = { done: false }
    void asked.then(outcome => Object.assign(state, { done: true, status: statusOf(outcome as never) }))
    return state
  }

  test('it is let in when its time has come, not before', async () => {
    const [guard, clock] = one()
    ask(guard)
    const reply = new FakeReply()
    const waiting = watch(askLater(guard, {}, reply))
    clock.advance(999.999)
    await flush()
    expect(waiting).toEqual({ done: false })
    expect(reply.watched).toBe(true)
    clock.advance(0.001)
    await flush()
    expect(waiting).toEqual({ done: true, status: 200 })
    expect(reply.watched).toBe(false)
  })

  test('they are let in in the order they came', async () => {
    const [guard, clock] = one()
    ask(guard)
    const started: number[] = []
    for (const n of [1, 2]) void askLater(guard).then(() => started.push(n))
    clock.advance(1000)
    await flush()
    expect(started).toEqual([1])
    clock.advance(1000)
    await flush()
    expect(started).toEqual([1, 2])
  })

  test('it carries the fields of its decision', async () => {
    const [guard, clock] = one()
    ask(guard)
    const asked = askLater(guard)
    clock.advance(1000)
    expect((await asked)?.fields).toEqual(['RateLimit', '"default";r=1;t=1', 'RateLimit-Policy', '"default";q=3;w=3'])
  })

  test('a client that leaves gives its slot back', async () => {
    const [guard, clock] = one()
    ask(guard)
    const replies = [new FakeReply(), new FakeReply()]
    const waiting = replies.map(reply => watch(askLater(guard, {}, reply)))
    expect(statuses(guard, 1)).toEqual([429])
    replies[1]!.leave()
    await flush()
    expect(waiting).toEqual([{ done: false }, { done: true, status: 499 }])
    const next = watch(askLater(guard))
    clock.advance(1000)
    await flush()
    expect([waiting[0], next]).toEqual([{ done: true, status: 200 }, { done: false }])
    clock.advance(1000)
    await flush()
    expect(next).toEqual({ done: true, status: 200 })
  })

  test.each([
    ['at once', 0, 4000],
    ['soon', 500, 3500],
    ['late', 2500, 1500],
    ['in the last moment', 3999, 1],
  ])('all of it, whenever the client leaves: %s', async (_name, afterMs, nextWaits) => {
    const { guard, clock, arrivals, arrive } = arrivalsAt({
      caller: { policy: bucket(5, '1/s'), key: ip(), delay: 'all' },
    })
    expect(arrivals(4)).toEqual([0, 1000, 2000, 3000])
    const reply = new FakeReply()
    const asked = askLater(guard, {}, reply)
    expect(arrive()).toBe('refused')
    clock.advance(afterMs)
    reply.leave()
    await asked
    expect(arrive()).toBe(nextWaits)
  })

  test('nothing waits for a client that has left', async () => {
    let timers = 0
    const after = () => {
      timers++
      return () => void timers--
    }
    const guard = createGuard({ policy: bucket(3, '1/s'), delay: 'all', clock: { now: () => 0, after } })
    ask(guard)
    const reply = new FakeReply()
    const asked = askLater(guard, {}, reply)
    expect(timers).toBe(1)
    reply.leave()
    await asked
    expect(timers).toBe(0)
  })

  test('a client that had left before has left', async () => {
    const [guard] = one()
    ask(guard)
    const onClose = (_: FakeReply, callback: () => void) => {
      callback()
      return () => {}
    }
    const outcome = await guard.ask({}, new FakeReply(), { ...reader, onClose })
    expect(outcome?.refusal).toEqual({ status: 499, fields: [], body: '' })
  })

  test('one that leaves gives all back that it took: slots, and what was counted elsewhere', async () => {
    const clock = fakeClock()
    const guard = createGuard({
      limits: {
        slow: { policy: bucket(3, '1/s'), key: ip(), delay: 'all' },
        calls: { policy: fixedWindow({ limit: 5, window: '1m' }), key: ip() },
        flight: { policy: concurrency({ limit: 2, ttl: '1m' }), key: ip() },
      },
      clock,
    })
    serve(guard, {})
    const reply = new FakeReply()
    const asked = askLater(guard, {}, reply)
    reply.leave()
    expect(statusOf(await asked)).toBe(499)
    clock.advance(3000)
    expect(leftIn(ask(guard))).toEqual({ slow: 2, calls: 3, flight: 1 })
  })
})
