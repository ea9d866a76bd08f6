import { describe, expect, test } from 'vitest'
import {
  ask,
  type FakeRequest,
  type FakeView,
  headersOf,
  heard,
  leftIn,
  statuses,
} from '../../fixtures/http/fake-exchange.ts'
import { type Any, codeOf } from '../../fixtures/limiter/misuse.ts'
import { fixedWindow, slidingLog, tokenBucket } from '../../index.ts'
import { policyOf } from '../../policy.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, firstOf, ip, plans, user } from '../index.ts'

const table = { anonymous: '2/m', free: '3/m', pro: '5/m' } as const
const key = firstOf(user(), ip())
const on = (plan: unknown): FakeRequest => ({ user: { id: `${String(plan)} user`, plan } })

function guarded(policy = plans(table)) {
  const told = heard()
  const { onEvent } = told
  return { ...told, guard: createGuard({ limits: { caller: { policy, key } }, clock: fakeClock(), onEvent }) }
}

describe('the plan of a request', () => {
  test.each<[string, FakeRequest, number]>([
    ['nobody', {}, 2],
    ['r.user.plan', { user: { id: 'u', plan: 'pro' } }, 5],
    ['r.auth.plan', { auth: { userId: 'u', plan: 'free' } }, 3],
    ['r.plan', { plan: 'pro' }, 5],
    ['a user without a plan', { user: { id: 'u' } }, 2],
  ])('%s', (_name, request, limit) => {
    expect(ask(guarded().guard, request)?.decision?.limit).toBe(limit)
  })

  test('or whatever planOf says', () => {
    const policy = plans(table, r => r.header('x-plan'))
    expect(ask(guarded(policy).guard, { headers: { 'x-plan': 'pro' } })?.decision?.limit).toBe(5)
  })

  test('each plan has its own limit, and its callers are told it', () => {
    const { guard } = guarded()
    expect(statuses(guard, 3)).toEqual([200, 200, 429])
    expect(statuses(guard, 6, on('pro'))).toEqual([200, 200, 200, 200, 200, 429])
    expect(headersOf(ask(guard, on('pro')))['RateLimit-Policy']).toBe('"caller";q=5;w=60')
    expect(headersOf(ask(guard, on('free')))['RateLimit-Policy']).toBe('"caller";q=3;w=60')
  })
})

describe('an unknown plan', () => {
  test.each([
    ['a typing error', 'por', 'por'],
    ['a name that objects have', '__proto__', '__proto__'],
    ['another one', 'constructor', 'constructor'],
    ['a number', 5, '5'],
    ['an object', {}, '[object Object]'],
    ['nothing at all', '', ''],
  ])('%s gets the strictest, and an event', (_name, plan, told) => {
    const { guard, events } = guarded()
    expect(statuses(guard, 3, on(plan))).toEqual([200, 200, 429])
    expect(events).toHaveLength(3)
    expect(events[0]).toEqual({ type: 'unknown-plan', limiter: 'default', limit: 'caller', plan: told })
  })

  test('is not where nobody has a plan: without anonymous that is the strictest, too', () => {
    const { guard, events } = guarded(plans({ free: '3/m', pro: '5/m' }))
    expect(ask(guard)?.decision?.limit).toBe(3)
    expect(events).toEqual([])
  })

  test('a planOf that throws gets the strictest, and an event', () => {
    const policy = plans(table, r => (r as FakeView).account.plan)
    const { guard, fallbacks } = guarded(policy)
    expect(statuses(guard, 3)).toEqual([200, 200, 429])
    expect(fallbacks()[0]).toBe(`caller policy: ${JSON.stringify(policyOf('2/m'))}`)
  })
})

describe('changed while it runs', () => {
  test('a plan has its new limit at once, and what was used stays used', () => {
    const policy = plans(table)
    const { guard } = guarded(policy)
    expect(statuses(guard, 4, on('free'))).toEqual([200, 200, 200, 429])
    policy.set('free', '6/m')
    expect(statuses(guard, 4, on('free'))).toEqual([200, 200, 200, 429])
    policy.set('free', '1/m')
    expect(statuses(guard, 1, on('free'))).toEqual([429])
  })

  test('a caller that changes the plan brings along what it has used', () => {
    const { guard } = guarded()
    const ann = (plan: string) => ({ user: { id: 'ann', plan } })
    statuses(guard, 3, ann('free'))
    expect(leftIn(ask(guard, ann('pro')))).toEqual({ caller: 1 })
    expect(statuses(guard, 1, ann('free'))).toEqual([429])
  })

  test('also where buckets of different rates stand for the plans', () => {
    const bucket = (capacity: number, refill: '1/s' | '10/m') => tokenBucket({ capacity, refill })
    const { guard } = guarded(plans({ free: bucket(4, '10/m'), pro: bucket(10, '1/s') }))
    const ann = (plan: string) => ({ user: { id: 'ann', plan } })
    statuses(guard, 4, ann('free'))
    expect(leftIn(ask(guard, ann('pro')))).toEqual({ caller: 5 })
  })

  test('a plan can be added, and is known from then on', () => {
    const policy = plans(table)
    const { guard, events } = guarded(policy)
    policy.set('enterprise', '9/m')
    expect(ask(guard, on('enterprise'))?.decision?.limit).toBe(9)
    expect(events).toEqual([])
  })

  test('the strictest is that of now', () => {
    const policy = plans(table)
    expect(policy.strictest).toEqual(policyOf('2/m'))
    policy.set('trial', '1/m')
    expect(policy.strictest).toEqual(policyOf('1/m'))
    policy.set('trial', '9/m')
    expect(policy.strictest).toEqual(policyOf('2/m'))
    const log = slidingLog({ limit: 1, window: '1h' })
    policy.set('pro', log)
    expect(policy.strictest).toEqual(log)
  })

  test('a bad policy is refused, and the old one stays', () => {
    const policy = plans(table)
    expect(codeOf(() => policy.set('pro', '5 per minute' as Any))).toBe('SLUICE_BAD_RATE')
    expect(ask(guarded(policy).guard, on('pro'))?.decision?.limit).toBe(5)
  })
})

test.each<[string, () => unknown, string]>([
  ['no plans', () => plans({}), 'SLUICE_BAD_OPTION'],
  ['no table', () => plans(undefined as Any), 'SLUICE_BAD_OPTION'],
  ['a plan that is no policy', () => plans({ pro: 5 as Any }), 'SLUICE_BAD_POLICY'],
  ['a planOf that is no function', () => plans(table, 'plan' as Any), 'SLUICE_BAD_OPTION'],
  ['a limit of a fraction', () => plans({ pro: fixedWindow({ limit: 1.5, window: '1m' }) }), 'SLUICE_BAD_LIMIT'],
])('%s is refused when it is made', (_name, make, code) => {
  expect(codeOf(make)).toBe(code)
})
