import { describe, expect, test } from 'vitest'
import {
  ask,
  type FakeRequest,
  type FakeView,
  headersOf,
  problemOf,
  statuses,
  statusOf,
} from '../../fixtures/http/fake-exchange.ts'
import { fixedWindow } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type GuardSettings } from '../index.ts'

const guarded = (settings: GuardSettings) => {
  return createGuard({ policy: fixedWindow({ limit: 1, window: '1m' }), clock: fakeClock(), ...settings })
}

/** What becomes of the second request of an address: 429, 403, or 200 where no limit concerns it. */
const second = (settings: GuardSettings, request: FakeRequest) => statuses(guarded(settings), 2, request)[1]

const SPELLINGS: [string, string[], string, boolean][] = [
  ['one address', ['192.0.2.7'], '192.0.2.7', true],
  ['its neighbour', ['192.0.2.7'], '192.0.2.8', false],
  ['a range', ['192.0.2.0/24'], '192.0.2.255', true],
  ['beside a range', ['192.0.2.0/24'], '192.0.3.0', false],
  ['mapped into IPv6', ['192.0.2.0/24'], '::ffff:192.0.2.9', true],
  ['mapped, in hex', ['192.0.2.0/24'], '::ffff:c000:209', true],
  ['a range written mapped', ['::ffff:192.0.2.0/120'], '192.0.2.9', true],
  ['a range written mapped is not all of IPv4', ['::ffff:192.0.2.0/120'], '198.51.100.1', false],
  ['IPv6', ['2001:db8::/32'], '2001:db8:ffff::1', true],
  ['one IPv6 address', ['2001:db8::7'], '2001:db8:0:0:0:0:0:7', true],
  ['another of its network', ['2001:db8::7'], '2001:db8::8', false],
  ['with a zone', ['fe80::/10'], 'fe80::1%eth0', true],
  ['several ranges', ['10.0.0.0/8', '2001:db8::/32'], '2001:db8::1', true],
  ['an empty list', [], '192.0.2.7', false],
  ['an address that is none', ['0.0.0.0/1', '128.0.0.0/1', '::/1', '8000::/1'], 'junk', false],
]

describe('allow', () => {
  test.each(SPELLINGS)('%s', (_name, allow, from, listed) => {
    expect(second({ allow }, { from })).toBe(listed ? 200 : 429)
  })

  test('means that no limit concerns it: nothing is counted and nothing told', () => {
    expect(ask(guarded({ allow: ['192.0.2.0/24'] }), { from: '192.0.2.7' })).toBeUndefined()
  })
})

describe('deny', () => {
  test.each(SPELLINGS)('%s', (_name, deny, from, listed) => {
    expect(second({ deny }, { from })).toBe(listed ? 403 : 429)
  })

  test('is 403, with no word about limits', () => {
    const outcome = ask(guarded({ deny: ['192.0.2.0/24'] }), { from: '192.0.2.7' })
    expect(statusOf(outcome)).toBe(403)
    expect(outcome?.decision).toBeUndefined()
    expect(headersOf(outcome)).toEqual({ 'Cache-Control': 'no-store', 'Content-Type': 'application/problem+json' })
    expect(problemOf(outcome)).toEqual({
      title: 'Forbidden',
      status: 403,
      error: 'forbidden',
      message: 'Requests from this address are not served.',
    })
  })

  test('wins over allow and skip', () => {
    const lists = { deny: ['192.0.2.7'], allow: ['192.0.2.0/24'], skip: () => true }
    expect(second(lists, { from: '192.0.2.7' })).toBe(403)
    expect(second(lists, { from: '192.0.2.8' })).toBe(200)
  })

  test('holds while the limits are switched off: those are another matter', () => {
    const guard = guarded({ deny: ['192.0.2.7'] })
    guard.setMode('off')
    expect(statuses(guard, 2, { from: '192.0.2.7' })).toEqual([403, 403])
    expect(statuses(guard, 2, { from: '192.0.2.8' })).toEqual([200, 200])
  })
})

test('lists are of who is behind trusted proxies, and nobody can claim to be on one', () => {
  const lists = { allow: ['203.0.113.0/24'], trustProxy: ['10.0.0.0/8'] }
  const headers = { 'x-forwarded-for': '203.0.113.9' }
  expect(second(lists, { from: '10.0.0.1', headers })).toBe(200)
  expect(second(lists, { from: '198.51.100.1', headers })).toBe(429)
})

describe('skip', () => {
  test('lets through what it says', () => {
    const skip: GuardSettings['skip'] = r => r.route === '/health'
    expect(second({ skip }, { route: '/health' })).toBe(200)
    expect(second({ skip }, { route: '/' })).toBe(429)
  })

  test('with nothing to say skips nobody', () => {
    expect(second({ skip: r => (r as FakeView).user?.isAdmin }, {})).toBe(429)
  })
})
