import { afterEach, describe, expect, test, vi } from 'vitest'
import { ask, askLater, type FakeRequest, heard, statuses } from '../../fixtures/http/fake-exchange.ts'
import type { Any } from '../../fixtures/limiter/misuse.ts'
import { memoryStore, tokenBucket } from '../../index.ts'
import { createGuard, type GuardOptions, ip, user } from '../index.ts'

/** What a guard of these options warns of while it is asked. */
function warned(options: Partial<GuardOptions>, requests: readonly FakeRequest[] = []) {
  const told = heard()
  const guard = createGuard({ policy: '1000/m', onEvent: told.onEvent, ...options } as GuardOptions)
  for (const request of requests) ask(guard, request)
  return told.events.flatMap(event => (event.type === 'warning' ? [`${event.code} ${event.message}`] : []))
}

const many = (request: FakeRequest, times: number) => Array.from({ length: times }, () => request)

afterEach(() => {
  vi.restoreAllMocks()
})

describe('X-Forwarded-For', () => {
  const request = { from: '10.0.0.7', headers: { 'x-forwarded-for': '203.0.113.9' } }

  test('from a peer that is not trusted is noticed once, with what to set', () => {
    const said = [expect.stringMatching(/^SLUICE_UNTRUSTED_FORWARDING .* set trustProxy/)]
    expect(warned({}, many(request, 3))).toEqual(said)
    expect(warned({ trustProxy: ['10.0.0.8'] }, many(request, 3))).toEqual(said)
  })

  test('from one that is trusted, or not at all, is none of that', () => {
    expect(warned({ trustProxy: ['10.0.0.0/8'] }, [request])).toEqual([])
    expect(warned({ trustProxy: 1 }, [request])).toEqual([])
    expect(warned({}, [{}])).toEqual([])
  })
})

describe('a key that is never found', () => {
  const misspelt: [string, Any][] = [
    ['by a helper', user((r: Any) => r.auht?.userId)],
    ['by a function', (r: Any) => r.auht?.userId],
  ]

  test.each(misspelt)('%s is noticed after a hundred requests', (_, key) => {
    expect(warned({ key }, many({}, 99))).toEqual([])
    expect(warned({ key }, many({}, 300))).toEqual([expect.stringMatching(/^SLUICE_KEY_NEVER_FOUND .* by address/)])
  })

  test.each(misspelt)('%s is fine once it was found', (_, key) => {
    expect(warned({ key }, [...many({ auht: { userId: 'ann' } }, 1), ...many({}, 300)])).toEqual([])
  })
})

describe('a limit that does not count requests', () => {
  const said = [expect.stringContaining("SLUICE_NO_UNIT limit 'default' does not count requests")]

  test.each<[string, Partial<GuardOptions>, unknown[]]>([
    ['a cost of 5', { cost: 5 }, said],
    ['costs by route', { cost: { '/search': 5 } }, said],
    ['settled for milliseconds', { settle: 'ms' }, said],
    ['with a unit', { cost: 5, unit: 'tokens' }, []],
    ['settled for bytes', { settle: 'bytes' }, []],
    ['quiet', { cost: 5, quiet: true }, []],
    ['without fields', { cost: 5, headers: false }, []],
    ['a cost of 1', { cost: 1 }, []],
  ])('%s', (_, options, expected) => {
    expect(warned(options)).toEqual(expected)
  })
})

test('two guards of one name in one store are noticed, and their routes are not', () => {
  const store = memoryStore()
  const told = heard()
  const options = { policy: '100/m', store, onEvent: told.onEvent } as const
  createGuard(options).for('/a', { cost: 1 })
  createGuard({ ...options, name: 'other' })
  expect(told.events).toEqual([])
  createGuard(options)
  expect(told.events).toMatchObject([{ type: 'warning', code: 'SLUICE_SAME_NAME' }])
})

test('a guard that is made for each request is noticed', () => {
  const { events, onEvent } = heard()
  for (let i = 0; i < 15; i++) ask(createGuard({ policy: '100/m', onEvent }))
  expect(events).toMatchObject([{ type: 'warning', code: 'SLUICE_MANY_GUARDS' }])
})

test('guards that are made together, and asked afterwards, are not', () => {
  const { events, onEvent } = heard()
  createGuard({ policy: '100/m' })
  const guards = Array.from({ length: 30 }, () => createGuard({ policy: '100/m', onEvent }))
  for (const guard of guards) statuses(guard, 2)
  expect(events).toEqual([])
})

describe('a function that fails', () => {
  const heardBy = (options: Partial<GuardOptions>, requests: readonly FakeRequest[]) => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
    const guard = createGuard({ policy: '1000/m', ...options } as GuardOptions)
    for (const request of requests) ask(guard, request)
    return warn.mock.calls.map(([text]) => String(text).replace(/ \[SLUICE.*/, ''))
  }

  test.each<[string, Partial<GuardOptions>, string]>([
    [
      'a cost',
      { cost: (r: Any) => r.body.size, unit: 'items' },
      "cost of limit 'default' failed, so 1 was used: TypeError: Cannot read properties of undefined (reading 'size')",
    ],
    [
      'a key that is a helper',
      { key: () => ip() as Any },
      "key of limit 'default' failed, so the address was used: SluiceError: expected a key as a string, got an object with keyOf, form",
    ],
    [
      'a helper that was not called',
      { key: user as Any },
      "key of limit 'default' failed, so the address was used: SluiceError: expected user() with a function of the request",
    ],
    [
      'skip',
      { skip: () => 'yes' as Any },
      "skip failed, so false was used: SluiceError: expected skip to answer true or false, got 'yes'",
    ],
  ])('%s is told once where nobody listens', (_, options, text) => {
    expect(heardBy(options, many({}, 3))).toEqual([expect.stringContaining(text)])
  })

  test('is left to the listener where there is one', () => {
    const onEvent = vi.fn()
    expect(heardBy({ skip: () => 'yes' as Any, onEvent }, many({}, 3))).toEqual([])
    expect(onEvent).toHaveBeenCalledTimes(3)
  })

  test('a guest without a key is no failure', () => {
    expect(heardBy({ key: (r: Any) => r.auth?.id }, [{}, { auth: { id: 'ann' } }])).toEqual([])
  })
})

test('what the limiter of a guard warns of reaches the process', () => {
  const warn = vi.spyOn(process, 'emitWarning').mockReturnValue()
  const store = memoryStore()
  const name = 'named twice'
  for (let i = 0; i < 2; i++) createGuard({ policy: '100/m', store, name })
  expect(warn.mock.calls).toEqual([
    [
      expect.stringMatching(/^two limiters named 'named twice' count limit 'default' .*; give each its own name/),
      { type: 'SluiceWarning', code: 'SLUICE_SAME_NAME' },
    ],
  ])
})

test('without a listener the process is warned, with the code', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
  const guard = createGuard({
    limits: { 'of its own': { policy: tokenBucket({ capacity: 10, refill: '1/s' }), key: ip(), cost: 7 } },
  })
  await askLater(guard)
  expect(warn).toHaveBeenCalledWith(expect.stringContaining('errors.md#sluice_no_unit'), {
    type: 'SluiceWarning',
    code: 'SLUICE_NO_UNIT',
  })
})
