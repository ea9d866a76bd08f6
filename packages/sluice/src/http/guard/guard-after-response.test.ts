import { describe, expect, test } from 'vitest'
import { ask, askLater, type FakeView, heard, leftIn, serve, statuses } from '../../fixtures/http/fake-exchange.ts'
import { fiveOfEach } from '../../fixtures/limiter/five-of-each.ts'
import { flush } from '../../fixtures/limiter/passing-time.ts'
import { RemoteMemory } from '../../fixtures/stores/remote-memory.ts'
import { concurrency, fixedWindow, tokenBucket } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, firstOf, type GuardLimit, ip, plans, user } from '../index.ts'

const of = (limit: number) => fixedWindow({ limit, window: '1h' })
const failed: NonNullable<GuardLimit['countWhen']> = ({ status }) => status === 401
const kinds = fiveOfEach.filter(({ kind }) => kind !== 'concurrency')

describe('countWhen', () => {
  test('counts the responses of which it is true', () => {
    const guard = createGuard({ policy: of(2), countWhen: failed, clock: fakeClock() })
    const served = [200, 401, 200, 404, 401, 200].map(status => serve(guard, {}, status))
    expect(served).toEqual([200, 401, 200, 404, 401, 429])
  })

  test.each(kinds)('an attempt counts until its response says otherwise: $kind', policy => {
    const guard = createGuard({ policy, countWhen: failed, clock: fakeClock() })
    const flying = Array.from({ length: 5 }, () => ask(guard)!)
    expect(statuses(guard, 1)).toEqual([429])
    flying[0]!.ended!(200, 0, false)
    expect(statuses(guard, 2)).toEqual([200, 429])
  })

  // The bucket has drained meanwhile: what comes back is nevertheless all of it, as if nobody had asked.
  test.each(kinds)('what did not count is given back exactly, however long it took: $kind', policy => {
    for (const ms of [0, 1, 400, 1000, 2500, 4999]) {
      const [asked, twin] = [0, 1].map(() => {
        const clock = fakeClock(100_000)
        return { clock, guard: createGuard({ policy, countWhen: failed, clock }) }
      })
      for (const { guard } of [asked!, twin!]) serve(guard, {}, 401)
      const flying = [ask(asked!.guard)!, ask(asked!.guard)!]
      for (const { clock } of [asked!, twin!]) clock.advance(ms)
      for (const { ended } of flying) ended!(200, 0, false)
      expect(statuses(asked!.guard, 6)).toEqual(statuses(twin!.guard, 6))
    }
  })

  test('a response that was cut off is told as such, and counts only if the limit says so', () => {
    const countWhen = ({ aborted }: { aborted: boolean }) => aborted
    const guard = createGuard({ policy: of(1), countWhen, clock: fakeClock() })
    expect([false, true].map(aborted => serve(guard, {}, 200, 0, aborted))).toEqual([200, 200])
    expect(statuses(guard, 1)).toEqual([429])
  })

  test('a response ends once, whatever else is told of it', () => {
    const guard = createGuard({ policy: of(1), countWhen: failed, clock: fakeClock() })
    const { ended } = ask(guard)!
    ended!(200, 0, false)
    ended!(401, 0, false)
    ended!(200, 0, true)
    expect(statuses(guard, 1)).toEqual([200])
  })

  test('sees the response and the request', () => {
    const clock = fakeClock()
    const seen: unknown[] = []
    const countWhen: GuardLimit<FakeView>['countWhen'] = (response, r) => {
      seen.push(response, r.user)
      return true
    }
    const { ended } = ask(createGuard({ policy: of(1), countWhen, clock }), { user: 'ann' })!
    clock.advance(125)
    ended!(418, 42, false)
    expect(seen).toEqual([{ status: 418, bytes: 42, ms: 125, aborted: false }, 'ann'])
  })

  test('leaves the limits beside it as they are: a request is a request', () => {
    const limits = {
      fails: { policy: of(5), key: ip(), countWhen: failed },
      calls: { policy: of(5), key: ip(), cost: 2 },
    }
    const guard = createGuard({ limits, clock: fakeClock() })
    serve(guard, {}, 200)
    expect(leftIn(ask(guard))).toEqual({ fails: 4, calls: 1 })
  })

  test('leaves the limits beside it to drain, and to say when, while the response is under way', () => {
    const clock = fakeClock()
    const calls = { policy: tokenBucket({ capacity: 2, refill: '1/s' }), key: ip() }
    const limits = { fails: { policy: of(9), key: ip(), countWhen: failed, quiet: true }, calls }
    const guard = createGuard({ limits, clock })
    expect(statuses(guard, 3)).toEqual([200, 200, 429])
    clock.advance(1000)
    const passed = ask(guard)!
    expect(passed.refusal).toBeUndefined()
    expect(passed.decision!.limits[1]).toMatchObject({ remaining: 0, resetAfterMs: 2000 })
  })

  test('a refused request is told to nobody afterwards', () => {
    expect(ask(createGuard({ policy: of(0), countWhen: failed }))?.ended).toBeUndefined()
  })
})

describe('resetWhen', () => {
  const ok: GuardLimit['resetWhen'] = ({ status }) => status < 400
  const attempts = (more: Partial<GuardLimit> = {}) =>
    createGuard({ policy: of(3), countWhen: failed, resetWhen: ok, clock: fakeClock(), ...more })

  test('makes the key forget what was counted', () => {
    const guard = attempts()
    const served = [401, 401, 200, 401, 401, 401, 401].map(status => serve(guard, {}, status))
    expect(served).toEqual([401, 401, 200, 401, 401, 401, 429])
  })

  test('of that key and that limit only', () => {
    const limits = { pair: { policy: of(3), key: ip(), resetWhen: ok }, all: { policy: of(9), key: ip() } }
    const guard = createGuard({ limits, clock: fakeClock() })
    serve(guard, { from: '192.0.2.2' }, 401)
    serve(guard, {}, 401)
    serve(guard, {}, 200)
    expect(leftIn(ask(guard))).toEqual({ pair: 2, all: 6 })
    expect(leftIn(ask(guard, { from: '192.0.2.2' }))).toEqual({ pair: 1, all: 7 })
  })

  test('is asked once of a response, whatever else is told of it', () => {
    const guard = attempts()
    const { ended } = ask(guard)!
    ended!(401, 0, false)
    ended!(200, 0, false)
    expect(leftIn(ask(guard))).toEqual({ default: 1 })
  })

  test('is told that the client left before it was answered', () => {
    const guard = attempts()
    expect([401, 401].map(status => serve(guard, {}, status))).toEqual([401, 401])
    expect(serve(guard, {}, 499, 0, true)).toBe(499)
    expect(statuses(guard, 1)).toEqual([429])
  })

  test('forgives whoever was counted, though by now they are somebody else', () => {
    const key = firstOf(user(), ip())
    const policy = plans({ anonymous: '3/m', pro: '9/h' })
    for (const limit of [
      { key },
      { key: ip(), policy },
      { key: (r: { user?: { id: string }; ip: string }) => r.user?.id ?? r.ip },
    ]) {
      const guard = attempts(limit as Partial<GuardLimit>)
      serve(guard, {}, 401)
      serve(guard, {}, 401)
      const request: { user?: object } = {}
      const outcome = ask(guard, request as never)!
      request.user = { id: 'ann', plan: 'pro' }
      outcome.ended!(200, 0, false)
      expect(leftIn(ask(guard))).toEqual({ default: 2 })
    }
  })
})

describe('slots', () => {
  const flight = concurrency({ limit: 1, ttl: '1m' })

  test.each([
    ['alone', {}],
    ['beside a limit that counts afterwards', { fails: { policy: of(9), key: ip(), countWhen: failed } }],
  ])('come back when the response has ended, sent or cut off: %s', (_name, more) => {
    const guard = createGuard({ limits: { flight: { policy: flight, key: ip() }, ...more }, clock: fakeClock() })
    for (const aborted of [false, true, false]) {
      const { ended } = ask(guard)!
      expect(statuses(guard, 1)).toEqual([429])
      ended!(200, 0, aborted)
    }
    expect(statuses(guard, 2)).toEqual([200, 429])
  })

  test('come back also where a function chose the policy', () => {
    const guard = createGuard({ policy: plans({ anonymous: flight }), clock: fakeClock() })
    ask(guard)!.ended!(200, 0, false)
    expect(statuses(guard, 2)).toEqual([200, 429])
  })

  test('come back by themselves when nobody tells', () => {
    const clock = fakeClock()
    const guard = createGuard({ policy: flight, clock })
    expect(statuses(guard, 2)).toEqual([200, 429])
    clock.advance(60_000)
    expect(statuses(guard, 1)).toEqual([200])
  })
})

test('nobody wants to know how a response went where nothing depends on it', () => {
  expect(ask(createGuard({ policy: of(9) }))?.ended).toBeUndefined()
})

describe('over a store across a network', () => {
  function far() {
    const store = new RemoteMemory(fakeClock())
    const told = heard()
    const limit: GuardLimit = { policy: of(2), key: ip(), countWhen: failed, resetWhen: ({ status }) => status === 204 }
    return { ...told, store, guard: createGuard({ limits: { caller: limit }, store, onEvent: told.onEvent }) }
  }

  test('all is the same, a little later', async () => {
    const { guard } = far()
    for (const status of [200, 401, 204, 401, 401]) {
      ;(await askLater(guard))!.ended!(status, 0, false)
      await flush()
    }
    expect((await askLater(guard))?.refusal?.status).toBe(429)
  })

  test('what cannot be given back stays taken, is told, and ends nothing', async () => {
    const { guard, store, events } = far()
    const [one, other] = [(await askLater(guard))!, (await askLater(guard))!]
    store.set('SLUICE_STORE_FAILED', 1)
    one.ended!(200, 0, false)
    other.ended!(204, 0, false)
    await flush()
    expect(events.map(({ type }) => type).sort()).toEqual(['fallback', 'store-error', 'store-error'])
    store.set('up', 1)
    expect((await askLater(guard))?.refusal?.status).toBe(429)
  })
})
