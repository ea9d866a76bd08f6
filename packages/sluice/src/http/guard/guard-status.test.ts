import { describe, expect, test } from 'vitest'
import { ask, askLater, headersOf, problemOf, statuses, statusOf } from '../../fixtures/http/fake-exchange.ts'
import { type Any, codeOf } from '../../fixtures/limiter/misuse.ts'
import { RemoteMemory } from '../../fixtures/stores/remote-memory.ts'
import { fixedWindow } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { createGuard, type GuardLimit, ip } from '../index.ts'

const of = (limit: number) => fixedWindow({ limit, window: '10m' })

describe('the status of a limit', () => {
  const trial: GuardLimit = { policy: of(2), key: ip(), status: 403 }

  test('is that of its refusals', () => {
    const guard = createGuard({ limits: { trial }, clock: fakeClock() })
    expect(statuses(guard, 3)).toEqual([200, 200, 403])
    expect(problemOf(ask(guard))).toMatchObject({ status: 403, 'violated-policies': ['trial'], retry_after: 600 })
  })

  test('is that of the limit that binds', () => {
    const limits = { trial, usual: { policy: of(1), key: ip() } }
    expect(statuses(createGuard({ limits, clock: fakeClock() }), 2)).toEqual([200, 429])
  })

  test('makes a shared limit a 429', () => {
    const guard = createGuard({ limits: { all: { policy: of(1), status: 429 } }, clock: fakeClock() })
    expect(statuses(guard, 2)).toEqual([200, 429])
  })

  test('is not that of an outage', async () => {
    const store = new RemoteMemory(fakeClock())
    store.set('SLUICE_STORE_FAILED', 1)
    const guard = createGuard({ limits: { trial: { ...trial, onOutage: 'closed' } }, store, onEvent() {} } as Any)
    expect(statusOf(await askLater(guard))).toBe(503)
  })

  test.each<[string, Any]>([
    ['neither 403 nor 429', { status: 404 }],
    ['of a quiet limit', { status: 403, quiet: true }],
  ])('%s is refused', (_, more) => {
    expect(codeOf(() => createGuard({ limits: { trial: { ...trial, ...more } } }))).toBe('SLUICE_BAD_OPTION')
  })
})

describe('retryAfterJitter', () => {
  function waits(retryAfterJitter: number | undefined, waitMs: number): number[] {
    const clock = fakeClock()
    const limited = createGuard({ policy: of(1), clock, retryAfterJitter } as Any)
    ask(limited)
    clock.advance(600_000 - waitMs)
    return Array.from({ length: 300 }, () => Number(headersOf(ask(limited))['Retry-After']))
  }

  test('adds up to that part of the wait, and takes nothing off', () => {
    const all = waits(0.1, 600_000)
    expect(Math.min(...all)).toBeGreaterThanOrEqual(600)
    expect(Math.max(...all)).toBeLessThanOrEqual(660)
    expect(new Set(all).size).toBeGreaterThan(20)
  })

  test('may add a second to a short wait', () => {
    expect(new Set(waits(0.5, 900))).toEqual(new Set([1, 2]))
  })

  test('is off by default', () => {
    expect(new Set(waits(undefined, 600_000))).toEqual(new Set([600]))
  })

  test('is told the same in the body', () => {
    const guard = createGuard({ policy: of(1), clock: fakeClock(), retryAfterJitter: 1 })
    ask(guard)
    const refused = ask(guard)
    expect(String(problemOf(refused).retry_after)).toBe(headersOf(refused)['Retry-After'])
  })

  test.each([-0.1, 1.1, NaN, '0.1'])('%s is refused', retryAfterJitter => {
    expect(codeOf(() => createGuard({ policy: '1/m', retryAfterJitter } as Any))).toBe('SLUICE_BAD_OPTION')
  })
})
