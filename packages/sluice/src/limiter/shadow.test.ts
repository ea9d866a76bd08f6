import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createLimiter,
  type DecisionJson,
  fixedWindow,
  type LimitOptions,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../index.ts'
import { fakeClock } from '../testing/index.ts'

type Limits = Record<string, LimitOptions<object>>

const either = [true, false]
/** A limit that has room for ten, or for nothing. */
const room = (passes: boolean) => fixedWindow({ limit: passes ? 10 : 0, window: '1m' })

function taken(limits: Limits) {
  const limiter = createLimiter<object>({ clock: fakeClock(), limits })
  const decision = limiter.consume({})
  const after = limiter.peek({}).limits.map(state => [state.name, state.limit - state.remaining])
  return { decision, took: Object.fromEntries(after) as Record<string, number> }
}

describe('a shadow beside the others', () => {
  const table = either.flatMap(enforced => either.map(shadow => ({ enforced, shadow })))
  test.each(table)('is charged exactly when all would have passed: %o', ({ enforced, shadow }) => {
    const { decision, took } = taken({
      user: { policy: room(enforced) },
      trial: { policy: room(shadow), mode: 'shadow' },
    })
    expect(decision.allowed).toBe(enforced)
    expect(took).toEqual({ user: Number(enforced), trial: Number(enforced && shadow) })
  })

  test('leaves another shadow alone', () => {
    const { decision, took } = taken({
      user: { policy: room(true) },
      full: { policy: room(false), mode: 'shadow' },
      trial: { policy: room(true), mode: 'shadow' },
    })
    expect(decision.allowed).toBe(true)
    expect(took).toEqual({ user: 1, full: 0, trial: 1 })
  })
})

describe('a shadow in place of another', () => {
  const table = either.flatMap(other => either.flatMap(user => either.map(trial => ({ other, user, trial }))))
  for (const order of [
    ['other', 'user', 'trial'],
    ['trial', 'user', 'other'],
  ] as const) {
    test.each(table)(`is charged exactly when the trial would have passed (${order}): %o`, row => {
      const all: Limits = {
        other: { policy: room(row.other) },
        user: { policy: room(row.user) },
        trial: { policy: room(row.trial), mode: 'shadow', replaces: 'user' },
      }
      const { decision, took } = taken(Object.fromEntries(order.map(name => [name, all[name]!])))
      const allowed = row.other && row.user
      expect(decision.allowed).toBe(allowed)
      expect(took).toEqual({
        other: Number(allowed),
        user: Number(allowed),
        trial: Number(row.other && row.trial),
      })
      expect(decision.limits.find(state => state.name === 'trial')).toMatchObject({ shadow: true, allowed: row.trial })
    })
  }

  test.each(['off', 'shadow'] as const)('stands beside the others where that one is %s', mode => {
    const { took } = taken({
      other: { policy: room(true) },
      user: { policy: room(false), mode },
      trial: { policy: room(true), mode: 'shadow', replaces: 'user' },
    })
    expect(took).toMatchObject({ other: 1, trial: 1 })
  })

  test('stands beside the others where that one does not apply', () => {
    const { took } = taken({
      other: { policy: room(true) },
      user: { policy: room(false), key: () => undefined },
      trial: { policy: room(true), mode: 'shadow', replaces: 'user' },
    })
    expect(took).toEqual({ other: 1, trial: 1 })
  })

  test('once enforced no longer replaces anything', () => {
    const limiter = createLimiter<object>({
      clock: fakeClock(),
      limits: { user: { policy: room(false) }, trial: { policy: room(true), mode: 'shadow', replaces: 'user' } },
    })
    limiter.consume({})
    limiter.setMode('trial', 'enforce')
    expect(limiter.consume({})).toMatchObject({ allowed: false, policy: 'user' })
    expect(limiter.peek({}).limits[1]).toMatchObject({ name: 'trial', remaining: 9, shadow: false })
  })
})

describe('a shadow never binds', () => {
  const shadows: Limits = {
    full: { policy: room(false), mode: 'shadow' },
    tight: { policy: tokenBucket({ capacity: 1, refill: '1/d' }), mode: 'shadow' },
  }

  test('nor shows but in limits', () => {
    const { decision } = taken({ ...shadows, user: { policy: room(true) } })
    const { limits, ...shown } = decision.toJSON()
    const { decision: alone } = taken({ user: { policy: room(true) } })
    const { limits: _, ...expected } = alone.toJSON()
    expect(shown).toEqual(expected)
    expect(limits.map(({ name, shadow, allowed }) => [name, shadow, allowed])).toEqual([
      ['full', true, false],
      ['tight', true, true],
      ['user', false, true],
    ])
  })

  test('nor refuses where it is alone', () => {
    const { decision } = taken(shadows)
    expect(decision).toMatchObject({ allowed: true, reason: 'ok', limit: Infinity, remaining: Infinity })
    expect(decision).toMatchObject({ policy: '', retryAfterMs: 0, resetAfterMs: 0 })
  })
})

describe('on any trace', () => {
  const ip: LimitOptions<object> = { policy: slidingLog({ limit: 12, window: '3s' }) }
  const user: LimitOptions<object> = { policy: tokenBucket({ capacity: 4, refill: '2/s' }) }
  const trial: LimitOptions<object> = { policy: slidingWindow({ limit: 5, window: '1s' }) }
  const dark: LimitOptions<object> = { ...trial, mode: 'shadow', replaces: 'user' }
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 700 }), fc.integer({ min: 0, max: 6 })), { maxLength: 60 })

  /** Asks two limiters the same on one clock. */
  function compare(a: Limits, b: Limits, same: (a: DecisionJson, b: DecisionJson) => void) {
    const property = fc.property(steps, trace => {
      const clock = fakeClock()
      const [left, right] = [createLimiter({ clock, limits: a }), createLimiter({ clock, limits: b })]
      for (const [gap, cost] of trace) {
        clock.advance(gap)
        same(left.consume({}, { cost }).toJSON(), right.consume({}, { cost }).toJSON())
      }
    })
    fc.assert(property, { numRuns: 50 })
  }

  test('the enforced limits answer as if there were no trial', () => {
    compare({ ip, user, trial: dark }, { ip, user }, ({ limits, ...shown }, { limits: states, ...expected }) => {
      expect(shown).toEqual(expected)
      expect(limits.slice(0, 2)).toEqual(states)
    })
  })

  test('the trial answers as if it stood in the place of the limit it replaces', () => {
    compare({ user, trial: dark }, { trial }, (launched, enforced) => {
      expect({ ...launched.limits[1], shadow: false }).toEqual(enforced.limits[0])
    })
  })
})
