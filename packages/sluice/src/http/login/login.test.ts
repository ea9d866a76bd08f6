import { describe, expect, test } from 'vitest'
import {
  ask,
  askLater,
  type FakeRequest,
  type FakeView,
  headersOf,
  problemOf,
  serve,
  statuses,
  statusOf,
} from '../../fixtures/http/fake-exchange.ts'
import { type Any, codeOf } from '../../fixtures/limiter/misuse.ts'
import { flush } from '../../fixtures/limiter/passing-time.ts'
import { RemoteMemory } from '../../fixtures/stores/remote-memory.ts'
import { fixedWindow } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, ip, type LoginOptions, loginLimits, username } from '../index.ts'

const OFFICE = '203.0.113.10'

function form(options: LoginOptions<FakeView> = {}) {
  const clock = fakeClock(1_000_000_000)
  return { clock, guard: createGuard({ limits: loginLimits(options), clock }) }
}

/** Somebody tries a name from an address. */
const at = (from: string, name: string): FakeRequest => ({ from, method: 'POST', body: { username: name } })
const home = (n: number) => `198.18.${n >> 8}.${n & 255}`

describe('failures count', () => {
  test('five from one address at one name, and the next is refused', () => {
    const { guard } = form()
    const tries = Array.from({ length: 7 }, () => serve(guard, at(home(1), 'ann'), 401))
    expect(tries).toEqual([401, 401, 401, 401, 401, 429, 429])
    expect(serve(guard, at(home(1), 'bob'), 401)).toBe(401)
    expect(serve(guard, at(home(2), 'ann'), 401)).toBe(401)
  })

  test('a hundred from one address, at whatever names', () => {
    const { guard } = form()
    const tries = Array.from({ length: 120 }, (_, n) => serve(guard, at(home(1), `user ${n}`), 401))
    expect(tries.filter(status => status === 401)).toHaveLength(100)
  })

  test('twenty at one name, from wherever', () => {
    const { guard } = form()
    const tries = Array.from({ length: 40 }, (_, n) => serve(guard, at(home(n), 'ann'), 401))
    expect(tries.filter(status => status === 401)).toHaveLength(20)
  })

  test('a thousand in all, whoever it is', () => {
    const { guard } = form()
    const tries = Array.from({ length: 1200 }, (_, n) => serve(guard, at(home(n), `user ${n}`), 401))
    expect(tries.filter(status => status === 401)).toHaveLength(1000)
    expect(tries.at(-1)).toBe(503)
  })

  test('successes do not, nor what is no login at all', () => {
    const { guard } = form()
    for (const status of [200, 302, 404, 422, 500]) {
      const tries = Array.from({ length: 300 }, () => serve(guard, at(home(1), 'ann'), status))
      expect(new Set(tries)).toEqual(new Set([status]))
    }
  })

  test('the same name, however it is typed', () => {
    const { guard } = form()
    const names = ['ann', 'ANN', ' Ann ', '\uff41nn', 'aNn', 'ann']
    expect(names.map(name => serve(guard, at(home(1), name), 401))).toEqual([401, 401, 401, 401, 401, 429])
  })

  test('attempts that are under way count: many at once are not more than many in turn', () => {
    const { guard } = form()
    const flying = Array.from({ length: 50 }, () => ask(guard, at(home(1), 'ann'))!)
    expect(flying.filter(({ refusal }) => refusal === undefined)).toHaveLength(5)
  })

  test('an attempt that hangs up counts, and is no success', () => {
    const { guard } = form()
    const tries = Array.from({ length: 6 }, () => serve(guard, at(home(1), 'ann'), 200, 0, true))
    expect(tries).toEqual([200, 200, 200, 200, 200, 429])
  })

  test('a form without a name counts for its address', () => {
    const { guard } = form()
    const tries = Array.from({ length: 6 }, () => serve(guard, { from: home(1), body: {} }, 401))
    expect(tries).toEqual([401, 401, 401, 401, 401, 429])
  })
})

describe('blocks', () => {
  const short = { pair: fixedWindow({ limit: 1, window: '1s' }) }

  /** How long the pair must wait after each of so many rounds of one failure and one more attempt. */
  function waits(rounds: number): number[] {
    const { guard, clock } = form(short)
    return Array.from({ length: rounds }, () => {
      expect(serve(guard, at(home(1), 'ann'), 401)).toBe(401)
      const { retryAfterMs } = ask(guard, at(home(1), 'ann'))!.decision!
      clock.advance(retryAfterMs)
      return retryAfterMs / 60_000
    })
  }

  test('of the pair grow, up to a day', () => {
    expect(waits(13)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1440, 1440])
  })

  test('attempts during one do not lengthen it', () => {
    const { guard, clock } = form(short)
    serve(guard, at(home(1), 'ann'), 401)
    statuses(guard, 20, at(home(1), 'ann'))
    clock.advance(60_000)
    expect(serve(guard, at(home(1), 'ann'), 401)).toBe(401)
  })

  test('are not for many behind one address who log in at once', () => {
    const { guard } = form()
    const flying = Array.from({ length: 150 }, (_, n) => ask(guard, at(OFFICE, `employee ${n}`))!)
    expect(flying.filter(({ refusal }) => refusal === undefined)).toHaveLength(100)
    for (const { ended } of flying) ended?.(200, 0, false)
    expect(serve(guard, at(OFFICE, 'employee 149'), 200)).toBe(200)
  })

  test('never stand on a name alone: its owner is not locked out by who tries it', () => {
    const { guard, clock } = form({ perUsername: fixedWindow({ limit: 3, window: '1m' }) })
    for (let n = 0; n < 500; n++) serve(guard, at(home(n), 'ann'), 401)
    const refused = ask(guard, at(home(999), 'ann'))!.decision!
    expect(refused).toMatchObject({ allowed: false, reason: 'limited', policy: 'login-username' })
    expect(refused.retryAfterMs).toBeLessThanOrEqual(60_000)
    clock.advance(refused.retryAfterMs)
    expect(serve(guard, at(home(999), 'ann'), 200)).toBe(200)
  })
})

describe('a success', () => {
  test('makes the pair forget its failures', () => {
    const { guard } = form()
    const tries = [401, 401, 401, 401, 200, 401, 401, 401, 401, 401, 401].map(status => {
      return serve(guard, at(home(1), 'ann'), status)
    })
    expect(tries).toEqual([401, 401, 401, 401, 200, 401, 401, 401, 401, 401, 429])
  })

  test('forgives nothing else: an account of one’s own buys no guesses at others', () => {
    const { guard } = form()
    let guesses = 0
    for (let n = 0; n < 400; n++) {
      serve(guard, at(home(1), 'mallory'), 200)
      if (serve(guard, at(home(1), `user ${n}`), 401) === 401) guesses++
    }
    expect(guesses).toBe(100)
  })

  test('is none where the login failed, whatever the status', () => {
    const { guard } = form({ failed: (_, r) => r.wrong === true })
    const wrong = { ...at(home(1), 'ann'), wrong: true }
    expect(Array.from({ length: 6 }, () => serve(guard, wrong, 302))).toEqual([302, 302, 302, 302, 302, 429])
  })

  test.each<[string, Any]>([
    ['a promise', async () => true],
    ['a text', () => 'yes'],
  ])('is none where nobody has said so: %s', (_name, succeeded) => {
    const { guard } = form({ succeeded })
    serve(guard, at(OFFICE, 'ann'), 200)
    for (let n = 0; n < 40; n++) serve(guard, at(home(n), 'ann'), 401)
    expect(serve(guard, at(OFFICE, 'ann'), 200)).toBe(429)
  })

  test('lets the owner in from there while the name and the address are under attack', () => {
    const { guard } = form()
    expect(serve(guard, at(OFFICE, 'ann'), 200)).toBe(200)
    for (let n = 0; n < 100; n++) serve(guard, at(home(n), 'ann'), 401)
    for (let n = 0; n < 200; n++) serve(guard, at(OFFICE, `user ${n}`), 401)
    expect(serve(guard, at(OFFICE, 'ann'), 200)).toBe(200)
    expect(serve(guard, at(home(999), 'ann'), 200)).toBe(429)
  })

  test('is remembered of who was asked, though the handler changes the form', () => {
    const { guard } = form()
    const request = { ...at(OFFICE, 'ann'), body: { username: 'ann' } }
    const { ended } = ask(guard, request)!
    request.body.username = 'victim'
    ended!(200, 0, false)
    for (let n = 0; n < 40; n++) serve(guard, at(home(n), 'victim'), 401)
    expect(statuses(guard, 1, at(OFFICE, 'victim'))).toEqual([429])
  })
})

describe('what the caller is told', () => {
  test('nothing of counts, names and reasons', () => {
    const { guard } = form()
    expect(ask(guard, at(home(1), 'ann'))?.fields).toEqual([])
    for (let n = 0; n < 6; n++) serve(guard, at(home(1), 'ann'), 401)
    const refused = ask(guard, at(home(1), 'ann'))
    expect(headersOf(refused)).toEqual({
      'Cache-Control': 'no-store',
      'Retry-After': expect.stringMatching(/^\d+$/),
      'Content-Type': 'application/problem+json',
    })
    expect(Object.keys(problemOf(refused))).toEqual(['title', 'status', 'error', 'message', 'retry_after'])
    expect(problemOf(refused)).toMatchObject({ title: 'Too Many Requests', status: 429 })
  })
})

test('while the store is away nobody logs in', async () => {
  const store = new RemoteMemory(fakeClock(1_000_000))
  const guard = createGuard({ limits: loginLimits(), store })
  expect(statusOf(await askLater(guard, at(home(1), 'ann')))).toBe(200)
  for (const shard of [0, 1, 2]) store.set('SLUICE_STORE_FAILED', shard)
  expect(statusOf(await askLater(guard, at(home(1), 'ann')))).toBe(503)
  await flush()
})

describe('options', () => {
  test.each<[string, LoginOptions<FakeView>]>([
    ['a helper', { username: username(r => r.login) }],
    ['a function of the request', { username: r => r.login }],
    ['with the address by its helper', { ip: ip(), username: r => r.login }],
  ])('the name may be found by %s', (_name, options) => {
    const { guard } = form(options)
    const request = { from: home(1), login: 'Ann', body: { username: 'Ann' } }
    const other = { from: home(1), login: 'bob', body: { username: 'bob' } }
    for (let n = 0; n < 5; n++) serve(guard, request, 401)
    expect([serve(guard, request, 401), serve(guard, other, 401)]).toEqual([429, 401])
  })

  test('each limit may be another', () => {
    const { guard } = form({ pair: '2/m', perAddress: '3/m', perUsername: '4/m', total: '5/m' })
    const tries = (requests: FakeRequest[]) => requests.map(request => serve(guard, request, 401))
    expect(tries([1, 2, 3].map(() => at(home(1), 'ann')))).toEqual([401, 401, 429])
    expect(tries([at(home(1), 'bob'), at(home(1), 'eve')])).toEqual([401, 429])
    expect(tries([2, 3, 4].map(n => at(home(n), 'ann')))).toEqual([401, 401, 429])
    expect(tries([at(home(9), 'zoe')])).toEqual([503])
  })

  test('beside other limits it is one decision with them', () => {
    const limits = { calls: { policy: '2/m', key: ip() }, ...loginLimits() } as const
    const guard = createGuard({ limits, clock: fakeClock() })
    expect([200, 401, 200].map(status => serve(guard, at(home(1), 'ann'), status))).toEqual([200, 401, 429])
  })

  test.each<[string, Any]>([
    ['misspelt', { user: username() }],
    ['an address that is a function of its own', { ip: () => 'x' }],
    ['an address helper that was not called', { ip }],
    ['a name helper that was not called', { username }],
    ['a name that is a text', { username: 'username' }],
  ])('%s are refused', (_name, options) => {
    expect(codeOf(() => loginLimits(options))).toBe('SLUICE_BAD_OPTION')
  })
})

test('a refusal by the pair waits for the first failure to be forgotten and for the block, whichever ends later', () => {
  const clock = fakeClock(1_000_000_000)
  const answered = (pair: LoginOptions['pair']) => {
    const guard = createGuard({ limits: loginLimits(pair === undefined ? {} : { pair }), clock })
    const attempt = () => {
      const outcome = ask(guard, { from: OFFICE, body: { username: 'ann' } })
      outcome?.ended?.(401, 0, false)
      return Number(headersOf(outcome)['Retry-After'] ?? 0)
    }
    for (let i = 0; i < 5; i++) expect(attempt()).toBe(0)
    return attempt
  }
  expect(answered(undefined)()).toBe(900)
  const soon = answered('5/1m')
  const waits: number[] = []
  for (let round = 0; round < 3; round++) {
    waits.push(soon())
    expect(soon()).toBe(waits.at(-1))
    clock.advance(waits.at(-1)! * 1000)
    for (let i = 0; i < 5; i++) soon()
  }
  expect(waits).toEqual([60, 120, 240])
})
