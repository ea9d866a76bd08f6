import { describe, expect, test } from 'vitest'
import { ask, askLater, headersOf, heard, problemOf, statuses, statusOf } from '../../fixtures/http/fake-exchange.ts'
import { RemoteMemory } from '../../fixtures/stores/remote-memory.ts'
import { concurrency, fixedWindow, type LimitOptions, tokenBucket } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type GuardLimit, type GuardOptions, ip } from '../index.ts'

const TYPES = 'https://iana.org/assignments/http-problem-types#'
const of = (limit: number) => fixedWindow({ limit, window: '1m' })
const NOTHING = of(0)

/** The refusal after one request has passed. */
function refused(limits: Record<string, GuardLimit>, options: Partial<GuardOptions> = {}) {
  const guard = createGuard({ limits, clock: fakeClock(60_000), ...options } as GuardOptions)
  ask(guard)
  return ask(guard)
}

describe('the whole answer', () => {
  test('is a problem of the registry, with the members that programs look for', () => {
    const outcome = refused({ daily: { policy: of(1), key: ip() } })
    expect(statusOf(outcome)).toBe(429)
    expect(headersOf(outcome)).toEqual({
      RateLimit: '"daily";r=0;t=60',
      'RateLimit-Policy': '"daily";q=1;w=60',
      'Cache-Control': 'no-store',
      'Retry-After': '60',
      'Content-Type': 'application/problem+json',
    })
    expect(problemOf(outcome)).toEqual({
      type: `${TYPES}quota-exceeded`,
      title: 'Quota Exceeded',
      status: 429,
      'violated-policies': ['daily'],
      error: 'rate_limit_exceeded',
      message: 'Too many requests. Try again in 60 seconds.',
      retry_after: 60,
    })
  })

  test('names the limits that refused, and no others', () => {
    const outcome = refused({
      a: { policy: of(1), key: ip() },
      b: { policy: of(9), key: ip() },
      c: { policy: of(1), key: ip() },
      d: { policy: of(1), key: ip(), mode: 'shadow' },
    })
    expect(problemOf(outcome)['violated-policies']).toEqual(['a', 'c'])
  })

  test('names no key and no address', () => {
    const outcome = refused({ caller: { policy: of(1), key: r => [r.ip, 'ann@example.com'] } }, { headers: 'x-bucket' })
    const sent = JSON.stringify([headersOf(outcome), outcome?.refusal])
    expect(sent).not.toContain('192.0.2.1')
    expect(sent).not.toContain('ann')
  })

  test.each([
    ['a part of a second', tokenBucket({ capacity: 1, refill: '4/s' }), '1', 'Try again in 1 second.'],
    ['a part more', tokenBucket({ capacity: 1, refill: '10/15s' }), '2', 'Try again in 2 seconds.'],
    ['whole seconds', tokenBucket({ capacity: 1, refill: '1/7s' }), '7', 'Try again in 7 seconds.'],
  ])('rounds the wait up to seconds, at least one: %s', (_name, policy, retry, message) => {
    const outcome = refused({ caller: { policy, key: ip() } })
    expect(headersOf(outcome)['Retry-After']).toBe(retry)
    expect(problemOf(outcome)).toMatchObject({ retry_after: Number(retry), message: `Too many requests. ${message}` })
  })

  test('exposes its fields to pages of another origin, and to those only', () => {
    const guard = createGuard({ policy: of(9), clock: fakeClock() })
    expect(ask(guard, { headers: { origin: 'https://a.example' } })?.expose).toBe(
      'RateLimit, RateLimit-Policy, Retry-After',
    )
    expect(ask(guard)?.expose).toBeUndefined()
  })
})

describe('429 is for the caller, 503 for all', () => {
  const own: GuardLimit = { policy: of(1), key: ip() }
  const shared: GuardLimit = { policy: of(1) }
  const lax: GuardLimit = { policy: of(9), key: ip() }

  test.each<[string, Record<string, GuardLimit>, number, string]>([
    ['its own quota', { own }, 429, 'quota-exceeded'],
    ['a limit without a key', { shared }, 503, 'temporary-reduced-capacity'],
    ['a limit without a key, beside one that passes', { lax, shared }, 503, 'temporary-reduced-capacity'],
    ['both', { own, shared }, 429, 'quota-exceeded'],
    [
      'one without a key that only applies at times',
      { shared: { ...shared, when: () => true } },
      503,
      'temporary-reduced-capacity',
    ],
    [
      'slots that all share',
      { slots: { policy: concurrency({ limit: 1, ttl: '1m' }) } },
      503,
      'temporary-reduced-capacity',
    ],
  ])('%s', (_name, limits, status, type) => {
    const outcome = refused(limits)
    expect(statusOf(outcome)).toBe(status)
    expect(problemOf(outcome)).toMatchObject({ status, type: TYPES + type, error: 'rate_limit_exceeded' })
    expect(Number(headersOf(outcome)['Retry-After'])).toBeGreaterThan(0)
  })

  test('a block is suspected abuse', () => {
    const limits = { caller: { ...own, blockFor: '15m' } as const }
    const guard = createGuard({ limits, clock: fakeClock(60_000) })
    expect(statuses(guard, 2)).toEqual([200, 429])
    expect(problemOf(ask(guard))).toMatchObject({
      type: `${TYPES}abnormal-usage-detected`,
      title: 'Abnormal Usage Detected',
      status: 429,
      retry_after: 900,
    })
  })

  test('a cost that never passes is told no time to come back', () => {
    const outcome = ask(createGuard({ policy: of(5), cost: 6, clock: fakeClock() }))
    expect(statusOf(outcome)).toBe(429)
    expect(headersOf(outcome)).not.toHaveProperty('Retry-After')
    expect(problemOf(outcome)).not.toHaveProperty('retry_after')
    expect(problemOf(outcome).message).toBe('This request costs more than the limit ever allows.')
  })
})

describe('while the store is away', () => {
  async function down(onOutage: NonNullable<LimitOptions<never>['onOutage']>, quiet = false) {
    const store = new RemoteMemory(fakeClock(60_000))
    const { events, onEvent } = heard()
    const guard = createGuard({ limits: { caller: { policy: of(4), key: ip(), onOutage, quiet } }, store, onEvent })
    store.set('SLUICE_STORE_FAILED', 1)
    const outcomes = [await askLater(guard), await askLater(guard), await askLater(guard)]
    return { events, outcomes }
  }

  test('closed is 503 with a short wait, and the fields are still there', async () => {
    const { outcomes, events } = await down('closed')
    expect(outcomes.map(outcome => statusOf(outcome))).toEqual([503, 503, 503])
    expect(headersOf(outcomes[0])).toMatchObject({ 'Retry-After': '1', 'Cache-Control': 'no-store' })
    expect(problemOf(outcomes[0])).toMatchObject({
      type: `${TYPES}temporary-reduced-capacity`,
      status: 503,
      message: 'The request could not be checked. Try again in 1 second.',
    })
    expect(events).toMatchObject([{ type: 'degraded', limit: 'caller', mode: 'closed' }])
  })

  test('open passes, and local is half of the limit', async () => {
    expect((await down('open')).outcomes.map(outcome => statusOf(outcome))).toEqual([200, 200, 200])
    expect((await down('local')).outcomes.map(outcome => statusOf(outcome))).toEqual([200, 200, 429])
  })

  test('a quiet limit says no more than that', async () => {
    const { outcomes } = await down('closed', true)
    expect(headersOf(outcomes[0])).not.toHaveProperty('RateLimit')
    expect(problemOf(outcomes[0])).toEqual({
      title: 'Service Unavailable',
      status: 503,
      error: 'rate_limit_exceeded',
      message: 'The request could not be checked. Try again in 1 second.',
      retry_after: 1,
    })
  })
})

describe('a quiet limit', () => {
  const FAMILIES = ['draft-11', 'draft-6', 'x-bucket'] as const

  test('tells nothing about the count while it passes', () => {
    const guard = createGuard({ policy: of(9), quiet: true, headers: FAMILIES, clock: fakeClock() })
    expect(ask(guard)?.fields).toEqual([])
  })

  test('refuses with a body that could be anybody’s', () => {
    const outcome = refused({ login: { policy: of(1), key: ip(), quiet: true, blockFor: '1m' } }, { headers: FAMILIES })
    expect(headersOf(outcome)).toEqual({
      'Cache-Control': 'no-store',
      'Retry-After': '60',
      'Content-Type': 'application/problem+json',
    })
    expect(problemOf(outcome)).toEqual({
      title: 'Too Many Requests',
      status: 429,
      error: 'rate_limit_exceeded',
      message: 'Too many requests. Try again in 60 seconds.',
      retry_after: 60,
    })
  })

  test('hides itself, not the limits beside it', () => {
    const outcome = refused({
      quiet: { policy: of(1), key: ip(), quiet: true },
      plain: { policy: of(9), key: ip() },
    })
    expect(headersOf(outcome).RateLimit).toBe('"plain";r=8;t=60')
    expect(outcome?.refusal?.body).not.toContain('quiet')
  })

  test('that passed leaves the refusal of another as it is', () => {
    const outcome = refused({
      quiet: { policy: of(9), key: ip(), quiet: true },
      hushed: { policy: NOTHING, key: ip(), quiet: true, mode: 'shadow' },
      plain: { policy: of(1), key: ip() },
    })
    expect(problemOf(outcome)).toMatchObject({ title: 'Quota Exceeded', 'violated-policies': ['plain'] })
  })
})
