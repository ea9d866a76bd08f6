import { describe, expect, test } from 'vitest'
import {
  ask,
  type FakeRequest,
  headersOf,
  heard,
  leftIn,
  problemOf,
  statuses,
} from '../../fixtures/http/fake-exchange.ts'
import { codeOf } from '../../fixtures/limiter/misuse.ts'
import { concurrency, fixedWindow } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type GuardOptions } from '../index.ts'

const of = (limit: number) => fixedWindow({ limit, window: '1m' })
const guarded = (own: Partial<GuardOptions> = {}) =>
  createGuard({ policy: of(5), clock: fakeClock(60_000), ...own } as GuardOptions)

const PREFLIGHT: FakeRequest = {
  method: 'OPTIONS',
  headers: { origin: 'https://a.example', 'access-control-request-method': 'PUT' },
}

describe('preflights', () => {
  test('pass 600 times a minute by default, and cost the caller nothing', () => {
    const guard = guarded()
    const answers = statuses(guard, 700, PREFLIGHT)
    expect(answers.filter(status => status === 200)).toHaveLength(600)
    expect(answers.lastIndexOf(200)).toBe(599)
    expect(leftIn(ask(guard))).toEqual({ default: 4 })
  })

  test('are counted by address', () => {
    const guard = guarded({ preflight: of(1) })
    expect(statuses(guard, 2, PREFLIGHT)).toEqual([200, 429])
    expect(statuses(guard, 2, { ...PREFLIGHT, from: '192.0.2.2' })).toEqual([200, 429])
  })

  test('pass again when their window is over', () => {
    const clock = fakeClock(60_000)
    const guard = guarded({ preflight: of(1), clock })
    expect(statuses(guard, 2, PREFLIGHT)).toEqual([200, 429])
    clock.advance(60_000)
    expect(statuses(guard, 2, PREFLIGHT)).toEqual([200, 429])
  })

  test('say nothing of limits when they pass, and when to retry when they do not', () => {
    const guard = guarded({ preflight: of(1) })
    expect(ask(guard, PREFLIGHT)).toBeUndefined()
    const refused = ask(guard, PREFLIGHT)
    expect(headersOf(refused)).toMatchObject({ 'Retry-After': '60', 'Cache-Control': 'no-store' })
    expect(problemOf(refused)).toMatchObject({ status: 429, 'violated-policies': ['preflight'] })
    expect(refused?.expose).toContain('Retry-After')
  })

  test('are told as decisions of the limit preflight', () => {
    const { decisions, onDecision } = heard()
    const guard = guarded({ preflight: of(1), onDecision })
    statuses(guard, 2, PREFLIGHT)
    expect(decisions.map(({ policy, allowed }) => [policy, allowed])).toEqual([
      ['preflight', true],
      ['preflight', false],
    ])
  })

  test('need an Origin: without one they are requests like any other', () => {
    const headers = { 'access-control-request-method': 'PUT' }
    expect(statuses(guarded(), 6, { method: 'OPTIONS', headers })).toEqual([200, 200, 200, 200, 200, 429])
  })

  test("with preflight: 'count' are requests like any other", () => {
    const guard = guarded({ preflight: 'count' })
    expect(leftIn(ask(guard, PREFLIGHT))).toEqual({ default: 4 })
    expect(statuses(guard, 5, PREFLIGHT)).toEqual([200, 200, 200, 200, 429])
  })

  test('are turned away by deny, and let through by allow, skip and the kill switch', () => {
    const none = { preflight: of(0) }
    expect(statuses(guarded({ deny: ['192.0.2.0/24'] }), 1, PREFLIGHT)).toEqual([403])
    expect(statuses(guarded(none), 1, PREFLIGHT)).toEqual([429])
    expect(statuses(guarded({ ...none, allow: ['192.0.2.0/24'] }), 1, PREFLIGHT)).toEqual([200])
    expect(statuses(guarded({ ...none, skip: () => true }), 1, PREFLIGHT)).toEqual([200])
    const off = guarded(none)
    off.setMode('off')
    expect(statuses(off, 1, PREFLIGHT)).toEqual([200])
  })

  test.each([
    ['a word', 'off', 'SLUICE_BAD_RATE'],
    ['a flag', false, 'SLUICE_BAD_POLICY'],
    ['slots', concurrency({ limit: 1, ttl: '1m' }), 'SLUICE_NOT_SUPPORTED'],
  ])('are not limited by %s', (_, preflight, code) => {
    expect(codeOf(() => guarded({ preflight } as never))).toBe(code)
  })
})
