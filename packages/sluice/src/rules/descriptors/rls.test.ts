import { describe, expect, test } from 'vitest'
import { asking, descriptor, now, perMinute } from '../../fixtures/descriptors/asking.ts'
import { RemoteMemory } from '../../fixtures/stores/remote-memory.ts'
import { memoryStore } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import { RlsError, type RlsRequest } from './request.ts'
import { rls } from './rls.ts'

const START = 1_700_000_000_000 // 20 s into a minute
const MAX = 4_294_967_295
const rate = (unit: string, requests_per_unit: number, more: object = {}) => ({
  rate_limit: { unit, requests_per_unit, ...more },
})

function service(descriptors: unknown[], options: Parameters<typeof rls>[1] = {}) {
  const clock = fakeClock(START)
  const made = rls([{ domain: 'edge', descriptors }], { clock, onEvent: () => {}, ...options })
  return { ...made, clock, ask: (...all: Parameters<typeof asking>) => now(made.shouldRateLimit(asking(...all))) }
}

/** What each status has left. */
function left({ statuses }: { statuses: readonly { limitRemaining?: number }[] }) {
  return statuses.map(({ limitRemaining }) => limitRemaining)
}

describe('one status for each descriptor, in order', () => {
  const { ask } = service([
    { key: 'a', ...rate('minute', 5, { name: 'five' }) },
    { key: 'free', rate_limit: { unlimited: true } },
    { key: 'listed', value: 'x' },
  ])

  test('with everything Envoy builds its headers from', () => {
    expect(ask('a=1', 'zzz=1', 'free=1', 'listed=x')).toEqual({
      overall: 'OK',
      statuses: [
        {
          code: 'OK',
          currentLimit: { requestsPerUnit: 5, unit: 2, name: 'five' },
          limitRemaining: 4,
          durationUntilResetMs: 40_000,
          rule: 'edge.a',
          over: false,
        },
        { code: 'OK' },
        { code: 'OK', limitRemaining: MAX },
        { code: 'OK' },
      ],
      degraded: false,
    })
  })

  test('and one that is over makes the whole over', () => {
    for (let i = 0; i < 5; i++) ask('a=2')
    expect(ask('a=3', 'a=2')).toMatchObject({
      overall: 'OVER_LIMIT',
      statuses: [
        { code: 'OK', limitRemaining: 5 },
        { code: 'OVER_LIMIT', limitRemaining: 0, durationUntilResetMs: 40_000, over: true },
      ],
    })
  })
})

describe('the table of the format', () => {
  test('each value of a wildcard is counted by itself', () => {
    const { ask } = service([{ key: 'wild', value: 'foo*', ...rate('minute', 20) }])
    for (let i = 0; i < 20; i++) ask('wild=foo1')
    expect(ask('wild=foo1').overall).toBe('OVER_LIMIT')
    expect(left(ask('wild=foo2'))).toEqual([19])
    expect(ask('wild=bar').statuses).toEqual([{ code: 'OK' }])
  })

  test('with share_threshold all of them together', () => {
    const { ask } = service([{ key: 'files', value: 'files/*', share_threshold: true, ...rate('hour', 10) }])
    for (let i = 0; i < 5; i++) ask('files=files/a.pdf')
    for (let i = 0; i < 5; i++) expect(ask('files=files/b.csv').overall).toBe('OK')
    expect(ask('files=files/c.txt').overall).toBe('OVER_LIMIT')
  })

  test('quotas are over when all of them are', () => {
    const { ask } = service([
      { key: 'service_1', quota_mode: true, ...rate('minute', 1) },
      { key: 'service_2', quota_mode: true, ...rate('minute', 2) },
    ])
    const both = () => ask('service_1=x', 'service_2=x')
    expect(both()).toMatchObject({ overall: 'OK', statuses: [{ limitRemaining: 0 }, { limitRemaining: 1 }] })
    expect(both()).toMatchObject({
      overall: 'OK',
      statuses: [
        { code: 'OK', limitRemaining: 0, over: true },
        { code: 'OK', limitRemaining: 0, over: false },
      ],
    })
    expect(both()).toMatchObject({ overall: 'OVER_LIMIT', statuses: [{ code: 'OVER_LIMIT' }, { code: 'OVER_LIMIT' }] })
  })
})

describe('all or nothing', () => {
  const rules = [
    { key: 'user', ...rate('minute', 10) },
    { key: 'route', ...rate('minute', 2) },
    { key: 'group', quota_mode: true, ...rate('minute', 1) },
    { key: 'dark', shadow_mode: true, ...rate('minute', 9) },
  ]

  test('a refused request eats nothing of the broader limits', () => {
    const { ask } = service(rules)
    for (let i = 0; i < 7; i++) ask('user=u', 'route=r', 'dark=d')
    expect(left(ask(...['user=u', 'dark=d'].map(text => descriptor(text, { hitsAddend: 0 }))))).toEqual([8, 7])
  })

  test('nor does one that all its quotas refuse', () => {
    const { ask } = service(rules)
    for (let i = 0; i < 5; i++) ask('user=u', 'group=g')
    expect(left(ask(descriptor('user=u', { hitsAddend: 0 })))).toEqual([9])
  })

  test('the same rule with several values is charged for all of them or none', () => {
    const { ask } = service(rules)
    expect(ask('route=a', 'route=b', 'user=u')).toMatchObject({ overall: 'OK' })
    ask('route=b')
    const refused = ask('route=a', 'route=b', 'user=u')
    expect(refused.statuses.map(({ code }) => code)).toEqual(['OK', 'OVER_LIMIT', 'OK'])
    expect(left(refused)).toEqual([1, 0, 9])
  })

  test('the same descriptor twice costs twice', () => {
    const { ask } = service(rules)
    expect(left(ask('user=u', 'user=u'))).toEqual([8, 8])
    expect(ask('route=r', 'route=r', 'route=r').statuses.map(({ code }) => code)).toEqual(Array(3).fill('OVER_LIMIT'))
    expect(left(ask('route=r'))).toEqual([1])
  })

  test('several limits on one descriptor all count, and the nearest to refusing is told', () => {
    const { ask } = service([
      { key: 'k', rate_limits: [rate('day', 3, { name: 'day' }).rate_limit, rate('minute', 2).rate_limit] },
    ])
    expect(left(ask('k=1'))).toEqual([1])
    ask('k=1')
    expect(ask('k=1').statuses[0]).toMatchObject({ code: 'OVER_LIMIT', currentLimit: { unit: 2 } })
    expect(left(ask('k=2'))).toEqual([1])
  })
})

describe("counting: 'apart', as envoyproxy/ratelimit does", () => {
  const rules = [
    { key: 'user', ...rate('minute', 10) },
    { key: 'route', ...rate('minute', 2) },
    { key: 'bucket', ...rate('minute', 10, { algorithm: 'gcra' }) },
  ]

  test('a refused request still eats of the others', () => {
    const { ask } = service(rules, { counting: 'apart' })
    for (let i = 0; i < 5; i++) ask('user=u', 'route=r')
    expect(left(ask(descriptor('user=u', { hitsAddend: 0 })))).toEqual([5])
  })

  test('and refused hits count: what was left is gone', () => {
    const { ask } = service(rules, { counting: 'apart' })
    expect(ask(descriptor('user=u', { hitsAddend: 11 })).overall).toBe('OVER_LIMIT')
    expect(ask('user=u').overall).toBe('OVER_LIMIT')
  })

  test('but only in fixed windows, which is all it has', () => {
    const { ask } = service(rules, { counting: 'apart' })
    expect(ask(descriptor('bucket=b', { hitsAddend: 11 })).overall).toBe('OVER_LIMIT')
    expect(left(ask('bucket=b'))).toEqual([9])
  })

  test.each([
    ['apart', {}, 'apart' as const],
    ['together, where the rule is marked', { overdraw: true }, 'together' as const],
  ])('a cost that is told late keeps the next callers out: %s', (_, mark, counting) => {
    const { ask, clock } = service([{ key: 'tokens', ...mark, ...rate('hour', 1000) }], { counting })
    const look = () => ask(descriptor('tokens=u', { hitsAddend: 0 })).overall
    const charge = (hitsAddend: number) => ask(descriptor('tokens=u', { hitsAddend })).overall
    expect([look(), charge(700), look(), charge(500), look()]).toEqual(['OK', 'OK', 'OK', 'OVER_LIMIT', 'OVER_LIMIT'])
    // At most one more limit.
    for (let i = 0; i < 5; i++) charge(900)
    clock.advance(3_600_000)
    expect([look(), charge(1000), look()]).toEqual(['OK', 'OK', 'OVER_LIMIT'])
  })

  test('beside others, a marked rule that goes over gives back what they took', () => {
    const { ask } = service([
      { key: 'tokens', overdraw: true, ...rate('hour', 10) },
      { key: 'calls', ...rate('hour', 5) },
    ])
    expect(ask(descriptor('tokens=u', { hitsAddend: 12 }), 'calls=u').overall).toBe('OVER_LIMIT')
    expect(left(ask('calls=u'))).toEqual([4])
    expect(ask(descriptor('tokens=u', { hitsAddend: 0 }), 'calls=u').overall).toBe('OVER_LIMIT')
    expect(left(ask('calls=u'))).toEqual([3])
  })

  test('without the mark a hit that goes over is not counted, together', () => {
    const { ask } = service([{ key: 'tokens', ...rate('hour', 1000) }])
    expect(ask(descriptor('tokens=u', { hitsAddend: 1001 })).overall).toBe('OVER_LIMIT')
    expect(left(ask(descriptor('tokens=u', { hitsAddend: 0 })))).toEqual([1000])
  })

  test('the same descriptor twice is answered twice', () => {
    const { ask } = service(rules, { counting: 'apart' })
    expect(left(ask('user=u', 'user=u'))).toEqual([9, 8])
  })
})

describe('hits', () => {
  const rules = [{ key: 'k', ...rate('minute', 100) }]
  test.each<[number | undefined, number | undefined, number]>([
    [undefined, undefined, 99],
    [undefined, 0, 99],
    [undefined, 5, 95],
    [3, 5, 97],
    [0, 5, 100],
    [200, 0, 100],
  ])('the descriptor says %s, the request %s: %d left', (own, request, remaining) => {
    const { shouldRateLimit } = service(rules)
    const one = descriptor('k=1', own === undefined ? {} : { hitsAddend: own })
    const asked: RlsRequest = {
      domain: 'edge',
      descriptors: [one],
      ...(request !== undefined && { hitsAddend: request }),
    }
    expect(left(now(shouldRateLimit(asked)))).toEqual([remaining])
  })

  test('none look, and pass where all is just used up', () => {
    const { ask } = service(rules)
    ask(descriptor('k=1', { hitsAddend: 100 }))
    expect(ask(descriptor('k=1', { hitsAddend: 0 }))).toMatchObject({
      overall: 'OK',
      statuses: [{ limitRemaining: 0 }],
    })
  })
})

describe('shadow_mode', () => {
  test('over its limit is OK, with nothing left', () => {
    const { ask } = service([{ key: 'k', shadow_mode: true, ...rate('minute', 2) }])
    expect(left(ask('k=1'))).toEqual([1])
    expect(ask(descriptor('k=1', { hitsAddend: 2 }))).toMatchObject({
      overall: 'OK',
      statuses: [{ code: 'OK', limitRemaining: 0, over: true, currentLimit: { requestsPerUnit: 2 } }],
    })
  })

  test('for all changes only the overall code', () => {
    const { ask } = service([{ key: 'k', ...rate('minute', 1) }], { shadow: true })
    ask('k=1')
    expect(ask('k=1')).toMatchObject({ overall: 'OK', statuses: [{ code: 'OVER_LIMIT' }] })
  })
})

describe('replaces', () => {
  const { ask } = service([
    { key: 'broad', ...rate('minute', 5, { name: 'broad' }) },
    { key: 'narrow', ...rate('minute', 9, { name: 'narrow', replaces: [{ name: 'broad' }] }) },
    { key: 'vip', rate_limit: { unlimited: true, replaces: [{ name: 'broad' }, { name: 'narrow' }] } },
  ])

  test('a replaced rule is neither counted nor reported', () => {
    expect(ask('broad=b', 'narrow=n').statuses).toMatchObject([{ code: 'OK' }, { limitRemaining: 8 }])
    expect(ask('broad=b', 'narrow=n').statuses[0]).toEqual({ code: 'OK' })
    expect(left(ask('broad=b'))).toEqual([4])
  })

  test('one of several limits on a descriptor leaves the others what they have counted', () => {
    const { ask } = service([
      { key: 'k', rate_limits: [rate('minute', 5, { name: 'first' }), rate('minute', 9)].map(r => r.rate_limit) },
      { key: 'r', ...rate('minute', 99, { replaces: [{ name: 'first' }] }) },
    ])
    ask('k=1')
    expect(left(ask('k=1', 'r=1'))).toEqual([7, 98])
    expect(left(ask('k=1'))).toEqual([3])
  })

  test('by one that is unlimited too', () => {
    expect(left(ask('broad=b', 'narrow=n', 'vip=v'))).toEqual([undefined, undefined, MAX])
    expect(left(ask('broad=b'))).toEqual([3])
  })
})

describe('an override', () => {
  const { ask, shouldRateLimit } = service([{ key: 'k', value: 'known', ...rate('minute', 5) }])
  const bring = (text: string, requestsPerUnit: number, unit: number) =>
    descriptor(text, { limit: { requestsPerUnit, unit } })

  test('replaces the look-up', () => {
    expect(ask(bring('k=known', 2, 3)).statuses[0]).toMatchObject({
      code: 'OK',
      currentLimit: { requestsPerUnit: 2, unit: 3 },
      limitRemaining: 1,
    })
    expect(ask(bring('new=x', 9, 1), bring('new=y', 9, 1), bring('other=y', 9, 1))).toMatchObject({ overall: 'OK' })
    ask(bring('k=known', 2, 3))
    expect(ask(bring('k=known', 2, 3)).overall).toBe('OVER_LIMIT')
  })

  test('keeps what was used when its number changes', () => {
    ask(bring('n=1', 10, 2), bring('n=2', 10, 2))
    expect(left(ask(bring('n=1', 5, 2)))).toEqual([3])
  })

  test('without rules for its domain limits nothing', () => {
    const request = { domain: 'other', descriptors: [bring('k=known', 0, 1)] }
    expect(now(shouldRateLimit(request)).statuses).toEqual([{ code: 'OK' }])
  })

  test.each([
    [5, 0],
    [5, 7],
    [5, 8],
    [5, -1],
    [5, Number.NaN],
    [-1, 1],
    [1.5, 1],
    [2 ** 32, 1],
  ])('of %d per unit %d is an invalid argument', (requestsPerUnit, unit) => {
    for (const domain of ['edge', 'other']) {
      const request = { domain, descriptors: [bring('k=1', requestsPerUnit, unit)] }
      expect(() => shouldRateLimit(request)).toThrow(expect.objectContaining({ kind: 'InvalidArgument' }))
    }
  })
})

describe('a request without an answer', () => {
  const { shouldRateLimit } = service([{ key: 'k', ...rate('minute', 5) }])
  const many = Array.from({ length: 10_000 }, () => descriptor('k=1'))
  test.each<[string, unknown, string]>([
    ['an empty domain', { domain: '', descriptors: [descriptor('k=1')] }, 'expected a domain that is not empty'],
    ['no domain', { descriptors: [descriptor('k=1')] }, 'expected a domain that is not empty'],
    ['no descriptors', { domain: 'edge', descriptors: [] }, 'expected at least one descriptor'],
    ['too many', { domain: 'edge', descriptors: many }, 'expected at most 1000 descriptors, got an array of 10000'],
    ['no entries', asking({ entries: [] }), 'expected a descriptor with at least one entry'],
    ['an entry of nothing', asking({ entries: [{}] } as never), 'expected entries of a key and a value as text'],
    ['negative hits', asking(descriptor('k=1', { hitsAddend: -1 })), 'expected hits_addend as a whole number'],
    ['huge hits', asking(descriptor('k=1', { hitsAddend: 2 ** 60 })), 'expected hits_addend as a whole number'],
    [
      'hits that add up to too much',
      asking(...[1, 2].map(() => descriptor('k=1', { hitsAddend: Number.MAX_SAFE_INTEGER }))),
      'expected hits that add up to no more than 2^53',
    ],
    ['nothing at all', undefined, 'expected a domain that is not empty'],
  ])('%s is an invalid argument', (_, request, message) => {
    const call = () => shouldRateLimit(request as RlsRequest)
    expect(call).toThrow(RlsError)
    expect(call).toThrow(
      expect.objectContaining({ kind: 'InvalidArgument', message: expect.stringContaining(message) }),
    )
  })

  test('an unknown domain has no rules, and lets pass', () => {
    const request = { domain: 'other', descriptors: [descriptor('k=1')] }
    expect(now(shouldRateLimit(request))).toMatchObject({ overall: 'OK', statuses: [{ code: 'OK' }] })
  })

  test('no rules at all is unavailable', () => {
    const none = rls([])
    expect(() => none.shouldRateLimit(asking('k=1'))).toThrow(expect.objectContaining({ kind: 'Unavailable' }))
  })

  test('options that are none are told', () => {
    expect(() => rls([], { counting: 'both' as never })).toThrow("expected counting 'together' or 'apart', got 'both'")
    expect(() => rls([], { stores: 1 } as never)).toThrow(/expected an option of rls, got 'stores'; write store/)
  })
})

describe('time until the reset', () => {
  test.each([
    ['second', 1000],
    ['minute', 40_000],
    ['hour', 2_800_000],
    ['day', 6_400_000],
    ['week', 86_400_000 + 6_400_000],
    ['month', 2_592_000_000 - (START % 2_592_000_000)],
    ['year', 31_536_000_000 - (START % 31_536_000_000)],
  ])('of a %s is %d ms, whether anything was counted or not', (unit, ms) => {
    const { ask } = service([{ key: 'k', ...rate(unit, 2) }])
    for (const hitsAddend of [0, 1, 1, 1, 5]) {
      expect(ask(descriptor('k=1', { hitsAddend })).statuses[0]).toMatchObject({ durationUntilResetMs: ms })
    }
  })

  test('of a refused bucket is until the same hits pass', () => {
    const { ask, clock } = service([{ key: 'k', ...rate('minute', 6, { algorithm: 'token-bucket', burst: 3 }) }])
    ask(descriptor('k=1', { hitsAddend: 3 }))
    const { durationUntilResetMs } = ask(descriptor('k=1', { hitsAddend: 2 })).statuses[0]!
    expect(durationUntilResetMs).toBe(20_000)
    clock.advance(20_000)
    expect(ask(descriptor('k=1', { hitsAddend: 2 })).overall).toBe('OK')
  })
})

describe('loaded again over the same store', () => {
  test.each<[string, unknown, number]>([
    ['a changed number keeps what was used', rate('hour', 50), 0],
    ['a changed window starts afresh', rate('day', 50), 50],
    ['a changed algorithm starts afresh', rate('hour', 50, { algorithm: 'sliding-window' }), 50],
    ['a shadow keeps it', { shadow_mode: true, ...rate('hour', 90) }, 10],
    ['rules beside it change nothing', rate('hour', 100), 20],
  ])('%s', (_, again, remaining) => {
    const store = memoryStore({ clock: fakeClock(START) })
    const before = service([{ key: 'k', ...rate('hour', 100) }], { store })
    before.ask(descriptor('k=1', { hitsAddend: 80 }))
    const more = Array.from({ length: 20 }, (_, i) => ({ key: 'k', value: `${i}!`, ...rate('minute', 1) }))
    const after = service([...more, { key: 'k', ...(again as object) }], { store })
    expect(left(after.ask(descriptor('k=1', { hitsAddend: 0 })))).toEqual([remaining])
  })
})

// More of them than there are lanes, so that some share one.
const MANY = Array.from({ length: 200 }, (_, i) => `${i}`)

test('domains do not share what they count', () => {
  const files = MANY.map(domain => ({ domain, descriptors: [{ key: 'k', ...rate('minute', 5) }] }))
  const { shouldRateLimit } = rls(files, { clock: fakeClock() })
  for (const remaining of [4, 3]) {
    const answers = MANY.map(domain => now(shouldRateLimit({ domain, descriptors: [descriptor('k=1')] })))
    expect(answers.flatMap(left)).toEqual(MANY.map(() => remaining))
  }
})

test('nor do the limits of one descriptor', () => {
  const rate_limits = [rate('minute', 5).rate_limit, rate('minute', 9).rate_limit]
  const { ask } = service(MANY.map(key => ({ key, rate_limits })))
  for (const remaining of [4, 3, 2])
    expect(MANY.flatMap(key => left(ask(`${key}=1`)))).toEqual(MANY.map(() => remaining))
})

test('keys that look alike when joined are counted apart', () => {
  const { ask } = service([{ key: 'a' }, { key: 'a_b' }].map(rule => ({ ...rule, ...rate('minute', 5) })))
  expect([left(ask('a=b_c')), left(ask('a_b=c')), left(ask('a=b'))]).toEqual([[4], [4], [4]])
})

test('reset forgets what a request matches, and nothing else', () => {
  const { ask, reset } = service([{ key: 'k', ...rate('minute', 5) }])
  ask('k=1', 'k=2', 'k=3')
  reset(asking('k=1', 'k=3'))
  expect(left(ask('k=1', 'k=2', 'k=3'))).toEqual([4, 3, 4])
})

test('onDecision hears every answer, with its request', () => {
  const heard: unknown[] = []
  const { ask } = service([{ key: 'k', ...rate('minute', 1) }], {
    onDecision: (response, request) => heard.push([response.overall, request.descriptors.length]),
  })
  ask('k=1')
  ask('k=1', 'x=1')
  expect(heard).toEqual([
    ['OK', 1],
    ['OVER_LIMIT', 2],
  ])
})

describe('over a store across a network', () => {
  function far(rules: Record<string, number>, options: Parameters<typeof rls>[1] = {}) {
    const clock = fakeClock(START)
    const store = new RemoteMemory(clock)
    const { shouldRateLimit, reset, close } = rls([perMinute(rules)], { store, ...options })
    return { store, reset, close, ask: async (...all: Parameters<typeof asking>) => shouldRateLimit(asking(...all)) }
  }

  test('decides the same', async () => {
    const { ask, reset, close } = far({ user: 10, route: 2 })
    expect(left(await ask('user=u', 'route=a', 'route=b'))).toEqual([9, 1, 1])
    await ask('route=b')
    expect(await ask('user=u', 'route=a', 'route=b')).toMatchObject({
      overall: 'OVER_LIMIT',
      statuses: [{ limitRemaining: 9 }, { limitRemaining: 1 }, { limitRemaining: 0 }],
    })
    await reset(asking('route=a', 'route=b'))
    expect(left(await ask('user=u', 'route=a', 'route=b'))).toEqual([8, 1, 1])
    await close()
  })

  test('and apart too', async () => {
    const { ask } = far({ user: 10, route: 2 }, { counting: 'apart' })
    for (let i = 0; i < 3; i++) await ask('user=u', 'route=a')
    expect(left(await ask('user=u', 'route=a'))).toEqual([6, 0])
  })

  test.each([
    ['local', 'OK', 'local'],
    ['open', 'OK', 'open'],
    ['closed', 'OVER_LIMIT', 'closed'],
  ])('on_outage: %s decides while it is down: %s', async (on_outage, overall, degraded) => {
    const clock = fakeClock(START)
    const store = new RemoteMemory(clock)
    const descriptors = [{ key: 'k', ...rate('minute', 4, { on_outage }) }]
    const { shouldRateLimit } = rls([{ domain: 'edge', descriptors }], { store })
    store.set('SLUICE_STORE_FAILED')
    expect(await shouldRateLimit(asking('k=1'))).toMatchObject({ overall, degraded })
  })

  test('a local share is one share, whatever a rule is asked together with', async () => {
    const { ask, store } = far({ all: 8, a: 100, b: 100, c: 100 })
    store.set('SLUICE_STORE_FAILED')
    const codes: string[] = []
    for (let i = 0; i < 4; i++) {
      for (const beside of [[], ['a=1'], ['b=1'], ['a=1', 'b=1', 'c=1']]) {
        codes.push((await ask('all=x', ...beside)).overall)
      }
    }
    expect(codes.filter(code => code === 'OK')).toHaveLength(4)
  })
})

describe('explain', () => {
  const { explain, ask } = service([
    {
      key: 'key1',
      value: 'value1',
      descriptors: [
        { key: 'subkey1', ...rate('second', 5) },
        { key: 'subkey1', value: 'a*', share_threshold: true, shadow_mode: true, ...rate('second', 10) },
      ],
    },
    { key: 'listed', value: 'x' },
    { key: 'old', ...rate('minute', 1, { name: 'old' }) },
    { key: 'new', ...rate('minute', 1, { replaces: [{ name: 'old' }] }) },
    { key: 'quota', quota_mode: true, ...rate('minute', 1) },
    { key: 'free', rate_limit: { unlimited: true } },
  ])

  test.each<[string, string, string[]]>([
    ['key1=value1', 'key1=value1 matches exactly; that rule has no limit', []],
    ['key1=value1 subkey1=b', 'key1=value1 matches exactly; subkey1=b matches any subkey1', ['5 in 1s (fixed window)']],
    [
      'key1=value1 subkey1=ab',
      'key1=value1 matches exactly; subkey1=ab matches subkey1=a*, counted together with all that do; only a ' +
        'shadow: it never refuses',
      ['10 in 1s (fixed window)'],
    ],
    ['key1=value1 zzz=1', 'key1=value1 matches exactly; no rule for zzz=1 after that', []],
    ['zzz=1', 'no rule for zzz=1', []],
    ['listed=x', 'listed=x matches exactly; that rule has no limit', []],
    ['free=1', 'free=1 matches any free', ['unlimited']],
    [
      'quota=1',
      'quota=1 matches any quota; a quota: it refuses only when all quotas of the request are used up',
      ['1 in 1m (fixed window)'],
    ],
  ])('%s: %s', (text, why, limits) => {
    expect(explain(asking(text))).toMatchObject([{ descriptor: text, why, limits }])
  })

  test('knows what one match does to another, and what a request brings', () => {
    const limit = { requestsPerUnit: 7, unit: 1 }
    expect(explain(asking('old=1', 'new=1', descriptor('a=b', { limit })))).toEqual([
      { descriptor: 'old=1', limits: [], why: 'old=1 matches any old; another match replaces that rule' },
      { descriptor: 'new=1', rule: 'edge.new', limits: ['1 in 1m (fixed window)'], why: 'new=1 matches any new' },
      {
        descriptor: 'a=b',
        rule: 'edge.a',
        limits: ['7 in 1s (fixed window)'],
        why: 'the request brings its own limit',
      },
    ])
    expect(explain({ domain: 'other', descriptors: [descriptor('a=b', { limit })] })[0]).toMatchObject({
      limits: [],
      why: 'the request brings its own limit, but there are no rules for its domain',
    })
  })

  test('counts nothing', () => {
    explain(asking('old=9'))
    expect(ask('old=9').overall).toBe('OK')
  })
})
