import { expect, test } from 'vitest'
import { ask, headersOf, leftIn, problemOf, serve, statuses, statusOf } from '../../fixtures/http/fake-exchange.ts'
import { codeOf } from '../../fixtures/limiter/misuse.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type GuardOptions, ip, user } from '../index.ts'

const ann = { user: { id: 'ann' } }
const target = { limit: 'user', key: 'user:ann' }

function layered(more: Partial<GuardOptions> = {}) {
  const limits = { user: { policy: ['2/s', '5/m'], key: user() }, address: { policy: '100/h', key: ip() } } as const
  return createGuard({ limits, clock: fakeClock(60_000), ...more } as GuardOptions)
}

test('fields and refusals name the layer', () => {
  const guard = layered()
  expect(headersOf(ask(guard, ann))['RateLimit-Policy']).toBe(
    '"user:2/s";q=2;w=1, "user:5/m";q=5;w=60, "address";q=100;w=3600',
  )
  expect(statuses(guard, 2, ann)).toEqual([200, 429])
  expect(problemOf(ask(guard, ann))['violated-policies']).toEqual(['user:2/s'])
  expect(statuses(guard, 1, { user: { id: 'bob' } })).toEqual([200])
})

test('the one limit of a guard has layers, too', () => {
  const guard = createGuard({ policy: ['2/s', '5/m'], clock: fakeClock() })
  expect(leftIn(ask(guard))).toEqual({ 'default:2/s': 1, 'default:5/m': 4 })
  expect(statusOf(ask(guard, { from: '203.0.113.7' }))).toBe(200)
})

test('an operator means all layers by the name of the limit', () => {
  const guard = layered()
  ask(guard, ann)
  guard.penalize({ ...target, cost: 1 })
  expect(leftIn(ask(guard, ann))).toEqual({ 'user:2/s': 0, 'user:5/m': 3, address: 99 })
  guard.reset(target)
  expect(leftIn(ask(guard, ann))).toEqual({ 'user:2/s': 1, 'user:5/m': 4, address: 98 })
  guard.block({ ...target, for: '1h' })
  expect(ask(guard, ann)?.decision?.limits.map(({ allowed }) => allowed)).toEqual([false, false, true])
  guard.unblock(target)
  expect(leftIn(ask(guard, ann))).toEqual({ 'user:2/s': 0, 'user:5/m': 3, address: 97 })
})

test('and one layer by its own name, which peek, inspect and set need', () => {
  const guard = layered()
  ask(guard, ann)
  const layer = { ...target, limit: 'user:5/m' }
  expect(guard.peek(layer)).toMatchObject({ name: 'user:5/m', remaining: 4 })
  expect(guard.inspect(layer)).toMatchObject({ name: 'user:5/m', used: 1 })
  guard.set({ ...layer, remaining: 2 })
  expect(leftIn(ask(guard, ann))).toEqual({ 'user:2/s': 0, 'user:5/m': 1, address: 98 })
  expect(codeOf(() => guard.peek(target))).toBe('SLUICE_UNKNOWN_LIMIT')
  expect(() => guard.set({ ...target, remaining: 2 })).toThrow("one layer ('user:2/s', 'user:5/m')")
})

test('the kill switch takes them together', () => {
  const guard = layered()
  guard.setMode('off', 'user')
  expect(leftIn(ask(guard, ann))).toEqual({ address: 99 })
  guard.setMode(undefined, 'user')
  guard.setMode('shadow', 'user:2/s')
  expect(statuses(guard, 6, ann)).toEqual([200, 200, 200, 200, 200, 429])
})

test('a route puts a limit in place of all layers, or layers in place of a limit', () => {
  const guard = layered()
  expect(Object.keys(leftIn(ask(guard.for('a', { limits: { user: { policy: '9/m', key: user() } } }), ann)))).toEqual([
    'user',
    'address',
  ])
  const other = guard.for('b', { limits: { address: { policy: ['3/s', '50/m'], key: ip() } } })
  expect(Object.keys(leftIn(ask(other, ann)))).toEqual(['user:2/s', 'user:5/m', 'address:3/s', 'address:50/m'])
  guard.setMode('off', 'address')
  expect(Object.keys(leftIn(ask(other, ann)))).toEqual(['user:2/s', 'user:5/m'])
})

test('what only failed logins count, they count in every layer', () => {
  const limits = {
    login: { policy: ['2/s', '5/m'], key: ip(), countWhen: ({ status }: { status: number }) => status >= 400 },
  }
  const guard = createGuard({ limits, clock: fakeClock() } as unknown as GuardOptions)
  serve(guard, {}, 200)
  serve(guard, {}, 401)
  expect(leftIn(ask(guard))).toEqual({ 'login:2/s': 0, 'login:5/m': 3 })
})

test('layers do not delay', () => {
  const limits = { user: { policy: ['2/s', '5/m'], key: ip(), delay: 1 } } as const
  expect(codeOf(() => createGuard({ limits }))).toBe('SLUICE_NOT_SUPPORTED')
})
