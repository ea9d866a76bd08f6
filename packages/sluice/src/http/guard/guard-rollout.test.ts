import { describe, expect, test } from 'vitest'
import {
  ask,
  askLater,
  type FakeView,
  headersOf,
  heard,
  leftIn,
  statuses,
  statusOf,
} from '../../fixtures/http/fake-exchange.ts'
import { type Any, codeOf } from '../../fixtures/limiter/misuse.ts'
import { fixedWindow } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type GuardLimit, ip, user } from '../index.ts'

const of = (limit: number) => fixedWindow({ limit, window: '1m' })
const by = (id: number | string) => ({ user: { id } })

describe('a shadow', () => {
  const trial = (limit: number, more: Partial<GuardLimit> = {}) =>
    createGuard({
      limits: {
        now: { policy: of(3), key: user() },
        trial: { policy: of(limit), key: user(), mode: 'shadow', replaces: 'now', ...more },
      },
      clock: fakeClock(),
    })

  test('refuses nobody and is told to no caller', () => {
    const guard = trial(1)
    expect(statuses(guard, 4, by('ann'))).toEqual([200, 200, 200, 429])
    const outcome = ask(guard, by('bob'))
    expect(headersOf(outcome).RateLimit).toBe('"now";r=2;t=60')
    expect(ask(guard, by('ann'))?.refusal?.body).not.toContain('trial')
  })

  test('counts whom a stricter limit would newly refuse, and says who', () => {
    const guard = trial(1)
    statuses(guard, 5, by('busy'))
    statuses(guard, 2, by('calm'))
    expect(guard.limiter.shadows()).toEqual([
      {
        limit: 'trial',
        decided: 7,
        newlyRefused: 3,
        newlyAllowed: 0,
        top: [
          { key: 'user:busy', count: 2, over: 0 },
          { key: 'user:calm', count: 1, over: 0 },
        ],
      },
    ])
  })

  test('counts whom a laxer limit would newly let through', () => {
    const guard = trial(5)
    statuses(guard, 7, by('busy'))
    expect(guard.limiter.shadows()).toMatchObject([{ decided: 7, newlyRefused: 0, newlyAllowed: 2, top: [] }])
  })

  test('shows no more keys than are bounded, the most hit first', () => {
    const guard = createGuard({ limits: { trial: { policy: of(0), key: user(), mode: 'shadow' } }, clock: fakeClock() })
    for (let n = 0; n < 500; n++) ask(guard, by(n % 2 === 0 ? 'often' : n))
    const [report] = guard.limiter.shadows()
    expect(report!.newlyRefused).toBe(500)
    expect(report!.top).toHaveLength(32)
    expect(report!.top[0]).toEqual({ key: 'user:often', count: 250, over: 0 })
  })

  test('may be for some requests only', () => {
    const mode: GuardLimit['mode'] = r => (r.header('x-trial') === 'on' ? 'enforce' : 'shadow')
    const guard = createGuard({ limits: { strict: { policy: of(0), key: ip(), mode } }, clock: fakeClock() })
    expect(statuses(guard, 1)).toEqual([200])
    expect(statuses(guard, 1, { headers: { 'x-trial': 'on' } })).toEqual([429])
  })
})

describe('rollout', () => {
  const MANY = 2000

  /** The keys for which a limit of nothing is enforced. */
  function enforced(rollout: number): Set<number> {
    const guard = createGuard({ limits: { strict: { policy: of(0), key: user(), rollout } }, clock: fakeClock() })
    return new Set(Array.from({ length: MANY }, (_, id) => id).filter(id => statuses(guard, 1, by(id))[0] === 429))
  }

  test('is exactly nobody at 0 and exactly everybody at 100', () => {
    expect(enforced(0).size).toBe(0)
    expect(enforced(100).size).toBe(MANY)
  })

  // Five standard deviations of a fair draw: a hash that is not one will not stay within.
  test.each([0.5, 1, 10, 25, 50, 75, 99])('is about %d percent of the keys', percent => {
    const share = percent / 100
    const spread = 5 * Math.sqrt(MANY * share * (1 - share))
    expect(Math.abs(enforced(percent).size - MANY * share)).toBeLessThan(spread)
  })

  test('is always the same keys, and more percent only add to them', () => {
    const steps = [1, 5, 5, 20, 60].map(enforced)
    expect(steps[1]).toEqual(steps[2])
    for (const [i, keys] of steps.slice(1).entries()) expect([...steps[i]!].filter(key => !keys.has(key))).toEqual([])
  })

  test('the others are a shadow, and show what it would be for them', () => {
    const guard = createGuard({ limits: { strict: { policy: of(0), key: user(), rollout: 25 } }, clock: fakeClock() })
    const refused = Array.from({ length: 400 }, (_, id) => statuses(guard, 1, by(id))[0]).filter(
      status => status === 429,
    )
    expect(guard.limiter.shadows()).toMatchObject([{ newlyRefused: 400 - refused.length }])
  })

  test('leaves alone whom the limit does not concern', () => {
    const when: GuardLimit['when'] = r => r.route === '/search'
    const guard = createGuard({
      limits: { strict: { policy: of(0), key: ip(), rollout: 100, when } },
      clock: fakeClock(),
    })
    expect(ask(guard)).toBeUndefined()
    expect(statuses(guard, 1, { route: '/search' })).toEqual([429])
  })

  test('goes by keys of several parts, too', () => {
    const key: GuardLimit<FakeView>['key'] = r => ['org', r.user.id]
    const guard = createGuard({ limits: { strict: { policy: of(0), key, rollout: 50 } }, clock: fakeClock() })
    const first = Array.from({ length: 100 }, (_, id) => statuses(guard, 1, by(id))[0])
    expect(new Set(first)).toEqual(new Set([200, 429]))
    expect(Array.from({ length: 100 }, (_, id) => statuses(guard, 1, by(id))[0])).toEqual(first)
  })
})

test('a key that is looked up is rolled out alike, and looked up once a request', async () => {
  const asked: string[] = []
  const key = (r: FakeView) => {
    asked.push(r.user.id)
    return Promise.resolve(`k${r.user.id}`)
  }
  const make = (own: NonNullable<GuardLimit<FakeView>['key']>) =>
    createGuard({ limits: { strict: { policy: of(0), key: own, rollout: 50 } }, clock: fakeClock() })
  const [later, now] = [make(key), make(r => `k${r.user.id}`)]
  const ids = Array.from({ length: 100 }, (_, id) => id)
  const found: number[] = []
  for (const id of ids) found.push(statusOf(await askLater(later, by(id))))
  expect(found).toEqual(ids.map(id => statuses(now, 1, by(id))[0]))
  expect(new Set(found)).toEqual(new Set([200, 429]))
  expect(asked).toEqual(ids)
})

describe('the kill switch', () => {
  const make = () =>
    createGuard({
      limits: {
        strict: { policy: of(0), key: ip() },
        lax: { policy: of(9), key: ip() },
        trial: { policy: of(0), key: ip(), mode: 'shadow' },
        slow: { policy: of(0), key: ip(), rollout: 0 },
      },
      clock: fakeClock(),
    })

  test('of one limit leaves the others as they are, and back', () => {
    const guard = make()
    expect(statuses(guard, 1)).toEqual([429])
    guard.setMode('off', 'strict')
    expect(leftIn(ask(guard))).toEqual({ lax: 8, trial: 0, slow: 0 })
    guard.setMode('shadow', 'strict')
    expect(leftIn(ask(guard))).toEqual({ strict: 0, lax: 7, trial: 0, slow: 0 })
    guard.setMode(undefined, 'strict')
    expect(statuses(guard, 1)).toEqual([429])
  })

  test('of all of them lets everything alone, and back to how each was configured', () => {
    const guard = make()
    guard.setMode('off')
    expect(ask(guard)).toBeUndefined()
    guard.setMode(undefined)
    expect(statuses(guard, 1)).toEqual([429])
    guard.setMode('off', 'strict')
    expect(leftIn(ask(guard))).toEqual({ lax: 8, trial: 0, slow: 0 })
    expect(statuses(guard, 1)).toEqual([200])
  })

  test('one that is switched on after all were switched off is on', () => {
    const guard = make()
    guard.setMode('off')
    guard.setMode('enforce', 'strict')
    expect(statuses(guard, 1)).toEqual([429])
    guard.setMode(undefined, 'strict')
    expect(statuses(guard, 1)).toEqual([429])
    guard.setMode('off')
    expect(ask(guard)).toBeUndefined()
  })

  test('while all are off nothing is decided, and nobody is told', () => {
    const { events, decisions, onEvent, onDecision } = heard()
    const guard = createGuard({ policy: of(0), clock: fakeClock(), onEvent, onDecision })
    guard.setMode('off')
    ask(guard)
    expect([...events, ...decisions]).toEqual([])
  })

  test('all can be made shadows at once', () => {
    const guard = make()
    guard.setMode('shadow')
    expect(statuses(guard, 2)).toEqual([200, 200])
    expect(guard.limiter.shadows().map(({ limit }) => limit)).toEqual(['strict', 'lax', 'trial', 'slow'])
  })

  test('what was used before is still used after', () => {
    const guard = createGuard({ policy: of(3), clock: fakeClock() })
    statuses(guard, 3)
    guard.setMode('off')
    expect(statuses(guard, 3)).toEqual([200, 200, 200])
    guard.setMode(undefined)
    expect(statuses(guard, 1)).toEqual([429])
  })

  test.each<[string, Any[], string]>([
    ['a mode that is none', ['on'], 'SLUICE_BAD_MODE'],
    ['a limit that is none', ['off', 'nobody'], 'SLUICE_UNKNOWN_LIMIT'],
    ['a name that objects have', ['off', 'constructor'], 'SLUICE_UNKNOWN_LIMIT'],
  ])('%s is refused, and changes nothing', (_name, [mode, limit], code) => {
    const guard = make()
    expect(codeOf(() => guard.setMode(mode, limit))).toBe(code)
    expect(statuses(guard, 1)).toEqual([429])
  })
})
