import { describe, expect, test } from 'vitest'
import { type Any, codeOf } from '../fixtures/limiter/misuse.ts'
import { createLimiter, fixedWindow, type LimitMode } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

interface Call {
  staff?: boolean
}

const policy = fixedWindow({ limit: 1, window: '1m' })

function one(mode: LimitMode | ((call: Call) => LimitMode)) {
  return createLimiter<Call>({ clock: fakeClock(), limits: { only: { policy, mode } } })
}

describe('mode', () => {
  test.each<[LimitMode, allowed: boolean[], states: number]>([
    ['enforce', [true, false, false], 1],
    ['shadow', [true, true, true], 1],
    ['off', [true, true, true], 0],
  ])('%s', (mode, allowed, states) => {
    const limiter = one(mode)
    const decisions = allowed.map(() => limiter.consume({}))
    expect(decisions.map(d => d.allowed)).toEqual(allowed)
    expect(decisions.map(d => d.limits.length)).toEqual([states, states, states])
  })

  test('may be a function of the subject', () => {
    const limiter = one(call => (call.staff ? 'off' : 'enforce'))
    expect(limiter.consume({}).allowed).toBe(true)
    expect(limiter.consume({}).allowed).toBe(false)
    expect(limiter.consume({ staff: true })).toMatchObject({ allowed: true, limit: Infinity, limits: [] })
  })

  test('may be no async function, nor one that answers with a promise', async () => {
    const later: Any = async () => 'off'
    const byName = "limit 'only' mode as a function that is not async, got an async function"
    expect(() => one(later)).toThrow(byName)
    const limiter = one('enforce')
    expect(() => limiter.setMode('only', later)).toThrow(byName)
    const promised: Any = () => Promise.reject(new Error('no database'))
    limiter.setMode('only', promised)
    for (const asked of [one(promised), limiter]) {
      expect(codeOf(() => asked.consume({}))).toBe('SLUICE_BAD_MODE')
      expect(() => asked.consume({})).toThrow("limit 'only' mode 'enforce', 'shadow' or 'off', got a promise")
    }
  })

  test('off charges nothing, so switching on again finds what was there', () => {
    const limiter = createLimiter(fixedWindow({ limit: 3, window: '1m' }), { clock: fakeClock() })
    limiter.consume('a')
    limiter.setMode('default', 'off')
    for (let i = 0; i < 9; i++) expect(limiter.consume('a')).toMatchObject({ allowed: true, remaining: Infinity })
    limiter.setMode('default', 'enforce')
    expect(limiter.consume('a')).toMatchObject({ allowed: true, remaining: 1 })
  })

  test('can be changed at run time, in place of a function too', () => {
    const limiter = one(() => 'off')
    const allowed = () => limiter.consume({}).allowed
    expect([allowed(), allowed()]).toEqual([true, true])
    limiter.setMode('only', 'enforce')
    expect([allowed(), allowed()]).toEqual([true, false])
    limiter.setMode('only', 'shadow')
    expect(allowed()).toBe(true)
    limiter.setMode('only', 'off')
    expect(limiter.consume({}).limits).toEqual([])
  })

  test('of one limit leaves the others alone', () => {
    const limiter = createLimiter<Call>({
      clock: fakeClock(),
      limits: { wide: { policy: fixedWindow({ limit: 3, window: '1m' }) }, narrow: { policy } },
    })
    limiter.setMode('narrow', 'off')
    expect([1, 2, 3, 4].map(() => limiter.consume({}).allowed)).toEqual([true, true, true, false])
  })
})

test('a limiter whose limits are all off says that nothing applied', () => {
  const events: unknown[] = []
  const limiter = createLimiter(policy, { clock: fakeClock(), onEvent: event => events.push(event) })
  limiter.setMode('default', 'off')
  limiter.consume('a')
  expect(events).toEqual([{ type: 'nothing-applied', limiter: 'default' }])
})
