import { describe, expect, test } from 'vitest'
import { ask, headersOf, heard, statusOf } from '../../fixtures/http/fake-exchange.ts'
import type { Any } from '../../fixtures/limiter/misuse.ts'
import { fixedWindow } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type GuardSettings, ip, type RefusalParts } from '../index.ts'

/** The refusal after one request has passed. */
function refused(settings: GuardSettings = {}) {
  const limits = { caller: { policy: fixedWindow({ limit: 1, window: '1m' }), key: ip() } }
  const guard = createGuard({ limits, clock: fakeClock(60_000), ...settings })
  ask(guard)
  return ask(guard)
}

describe('a refusal of the user’s own', () => {
  const refuse = (own: Any) => refused({ refuse: own })

  test('is handed the usual one, the decision and the request', () => {
    const seen: unknown[] = []
    refuse((parts: RefusalParts, decision: Any, r: Any) => {
      seen.push(parts.status, parts.headers['Retry-After'], (parts.body as Any).error, decision.policy, r.ip)
    })
    expect(seen).toEqual([429, '60', 'rate_limit_exceeded', 'caller', '192.0.2.1'])
  })

  test.each<[string, (parts: RefusalParts) => Any, number, object, string]>([
    ['nothing', () => undefined, 429, { 'Retry-After': '60' }, '"error":"rate_limit_exceeded"'],
    ['another status', () => ({ status: 420 }), 420, { 'Retry-After': '60' }, '"error":"rate_limit_exceeded"'],
    ['an object', () => ({ body: { no: 1 } }), 429, { 'Content-Type': 'application/problem+json' }, '{"no":1}'],
    ['a text', () => ({ body: 'Slow down' }), 429, { 'Content-Type': 'text/plain; charset=utf-8' }, 'Slow down'],
    [
      'a text of a type of its own',
      ({ headers }) => ({ body: '<p>', headers: { ...headers, 'Content-Type': 'text/html' } }),
      429,
      { 'Content-Type': 'text/html', 'Retry-After': '60' },
      '<p>',
    ],
    ['nothing to read', () => ({ body: '' }), 429, { 'Retry-After': '60' }, ''],
    [
      'a change in place',
      parts => {
        parts.headers['X-Why'] = 'limit'
        Object.assign(parts.body, { more: true })
      },
      429,
      { 'X-Why': 'limit', 'Retry-After': '60' },
      '"more":true',
    ],
    ['a number in a header', () => ({ headers: { 'Retry-After': 5 } }), 429, { 'Retry-After': '5' }, 'error'],
    ['what it leaves open', () => ({ status: undefined, headers: undefined, body: undefined }), 429, {}, 'error'],
  ])('may answer %s', (_name, own, status, headers, body) => {
    const outcome = refuse(own)
    expect(statusOf(outcome)).toBe(status)
    expect(headersOf(outcome)).toMatchObject(headers)
    expect(outcome?.refusal?.body).toContain(body)
  })

  test.each<[string, Any]>([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['a promise', () => Promise.resolve({ status: 420 })],
    ['a promise that rejects', () => Promise.reject(new Error('late'))],
    ['a text', () => 'Slow down'],
    ['a status that is none', () => ({ status: '429' })],
    ['a status that no server sends', () => ({ status: 99 })],
    ['NaN', () => ({ status: Number.NaN })],
    ['a body that is no JSON', () => ({ body: { n: 1n } })],
    ['a body that is null', () => ({ body: null })],
    ['a body that is a function', () => ({ body: () => 'no' })],
    ['headers that are null', () => ({ headers: null })],
    ['a header without a value', () => ({ headers: { 'X-A': undefined } })],
    ['a header of two lines', () => ({ headers: { 'X-A': 'a\r\nSet-Cookie: b' } })],
    ['a name that is none', () => ({ headers: { 'X A': 'a' } })],
  ])('that makes no sense is the usual one, and an event says so: %s', (_name, own) => {
    const { fallbacks, onEvent } = heard()
    const outcome = refused({ refuse: own, onEvent })
    expect(outcome?.refusal).toEqual(refused()?.refusal)
    expect(fallbacks()).toEqual([' refuse: the usual refusal'])
  })
})
