import { describe, expect, test } from 'vitest'
import { codeOf } from '../../fixtures/limiter/misuse.ts'
import { RemoteMemory } from '../../fixtures/stores/remote-memory.ts'
import { createLimiter, gcra, memoryStore, slidingWindow, tokenBucket } from '../../index.ts'
import { fakeClock } from '../../testing/index.ts'
import type { Attributes } from './attributes.ts'
import { rulesLimiter } from './rules-limiter.ts'

const design = {
  store: 'memory',
  limits: {
    'per-ip': { key: 'ip', 'sliding-window': '60/1m' },
    'per-user': { key: 'user', 'token-bucket': { capacity: 100, refill: '10/s' }, on_outage: 'local' },
    search: { key: ['user', 'route'], when: { route: '/search' }, gcra: { rate: '5/s', burst: 10 }, mode: 'shadow' },
  },
}

/** The names of the limits that apply. */
function applying(limits: unknown, subject: object): string[] {
  const { limiter } = rulesLimiter({ limits }, { clock: fakeClock() })
  return limiter.consume(subject as Attributes).limits.map(({ name }) => name)
}

describe('a limit applies where the attributes it needs are there', () => {
  test.each<[object, string[]]>([
    [{ ip: '203.0.113.7', user: '42', route: '/search' }, ['per-ip', 'per-user', 'search']],
    [{ ip: '203.0.113.7', user: '42', route: '/home' }, ['per-ip', 'per-user']],
    [{ ip: '203.0.113.7' }, ['per-ip']],
    [{ user: 42 }, ['per-user']],
    [{ user: null, ip: undefined }, []],
    [{ user: '' }, ['per-user']],
    [{}, []],
  ])('%j: %j', (subject, names) => {
    expect(applying(design.limits, subject)).toEqual(names)
  })

  test.each<[unknown, object, boolean]>([
    [{ route: '/search' }, { route: '/search' }, true],
    [{ route: '/search' }, { route: '/Search' }, false],
    [{ route: ['/a', '/b'] }, { route: '/b' }, true],
    [{ route: ['/a', '/b'] }, { route: '/c' }, false],
    [{ route: '/api/*' }, { route: '/api/users' }, true],
    [{ route: '/api/*' }, { route: '/home' }, false],
    [{ route: ['/x', '*.php'] }, { route: '/index.php' }, true],
    [{ status: 404 }, { status: '404' }, true],
    [{ status: '404' }, { status: 404 }, true],
    [{ beta: true }, { beta: 'true' }, true],
    [{ a: '1', b: '2' }, { a: '1' }, false],
    [{ a: '1', b: '2' }, { a: '1', b: '2' }, true],
    [{ constructor: '*' }, {}, false],
  ])('when %j and the subject is %j: %s', (when, subject, applies) => {
    expect(applying({ one: { when, 'sliding-window': '1/1m' } }, subject)).toEqual(applies ? ['one'] : [])
    expect(applying({ one: { key: 'k', when, 'sliding-window': '1/1m' } }, { ...subject, k: 1 })).toEqual(
      applies ? ['one'] : [],
    )
  })

  test.each([[{ user: {} }], [{ user: [] }], [{ user: NaN }], [{ user: Symbol('u') }], ['user'], [null]])(
    'an attribute that is neither text nor number is no key: %o',
    subject => {
      const { limiter } = rulesLimiter(design)
      expect(codeOf(() => limiter.consume(subject as never))).toBe('SLUICE_BAD_KEY')
    },
  )
})

test('decides as a limiter of the same limits does', () => {
  const clock = fakeClock(1000)
  const { limiter } = rulesLimiter(design, { clock })
  const same = createLimiter<Record<string, string>>({
    clock,
    limits: {
      'per-ip': { policy: slidingWindow({ limit: 60, window: '1m' }), key: s => s.ip },
      'per-user': { policy: tokenBucket({ capacity: 100, refill: '10/s' }), key: s => s.user },
      search: {
        policy: gcra({ rate: '5/s', burst: 10 }),
        key: s => (s.route === '/search' ? [s.user!, s.route] : undefined),
        mode: 'shadow',
      },
    },
  })
  for (let i = 0; i < 200; i++) {
    clock.advance((i * 37) % 500)
    const subject = { ip: `10.0.0.${i % 3}`, user: `${i % 5}`, route: i % 2 === 0 ? '/search' : '/' }
    expect(limiter.consume(subject).toJSON()).toEqual(same.consume(subject).toJSON())
  }
})

describe('cost', () => {
  const limits = { tokens: { key: 'user', cost: 'tokens', 'token-bucket': { capacity: 100, refill: '1/h' } } }

  test.each<[object, number]>([
    [{ user: 'a', tokens: 30 }, 70],
    [{ user: 'a', tokens: '30' }, 70],
    [{ user: 'a', tokens: 0 }, 100],
  ])('comes from its attribute: %j leaves %d', (subject, left) => {
    const { limiter } = rulesLimiter({ limits })
    expect(limiter.consume(subject as Attributes).remaining).toBe(left)
  })

  test.each([undefined, '', 'many', '1.5', -1, '1e3', '9007199254740993', 1e300])('is never guessed: %j', tokens => {
    const { limiter } = rulesLimiter({ limits })
    expect(codeOf(() => limiter.consume({ user: 'a', tokens } as Attributes))).toBe('SLUICE_BAD_COST')
    expect(limiter.peek({ user: 'a', tokens: 0 }).remaining).toBe(100)
  })

  test('need not be said where the limit does not apply', () => {
    const { limiter } = rulesLimiter({ limits })
    expect(limiter.consume({ ip: '::1' })).toMatchObject({ allowed: true, limits: [] })
  })

  test('of the file wins over that of the call', () => {
    const { limiter } = rulesLimiter({ limits: { one: { cost: 7, 'sliding-window': '10/1m' } } })
    expect(limiter.consume({}, { cost: 2 }).remaining).toBe(3)
  })
})

test.each([
  ['free', 60],
  ['pro', 1000],
  ['unheard of', 60],
  ['__proto__', 60],
  [undefined, 60],
])('plan %s has %d', (plan, limit) => {
  const limits = { user: { key: 'user', plans: { by: 'plan', pro: '1000/1m', free: '60/1m' } } }
  const { limiter } = rulesLimiter({ limits })
  expect(limiter.peek({ user: '1', ...(plan !== undefined && { plan }) }).limit).toBe(limit)
})

test('on_outage is each limit its own', async () => {
  const clock = fakeClock(1000)
  const store = new RemoteMemory(clock)
  const limits = {
    open: { key: 'a', 'sliding-window': '4/1m', on_outage: 'open' },
    closed: { key: 'b', 'sliding-window': '4/1m', on_outage: 'closed' },
  }
  const { limiter } = rulesLimiter<'async'>({ limits }, { store })
  store.set('SLUICE_STORE_FAILED')
  expect(await limiter.consume({ a: '1' })).toMatchObject({ allowed: true, degraded: 'open' })
  expect(await limiter.consume({ b: '1' })).toMatchObject({ allowed: false, degraded: 'closed' })
})

test('block_for and replaces reach the limiter', () => {
  const clock = fakeClock()
  const limits = {
    login: { key: 'user', 'sliding-window': '1/1m', block_for: '15m' },
    trial: { key: 'user', 'sliding-window': '5/1m', mode: 'shadow', replaces: 'login' },
  }
  const { limiter } = rulesLimiter({ limits }, { clock })
  limiter.consume({ user: 'a' })
  expect(limiter.consume({ user: 'a' })).toMatchObject({ allowed: false, retryAfterMs: 900_000 })
  expect(limiter.peek({ user: 'a' }).limits[1]).toMatchObject({ name: 'trial', shadow: true, remaining: 3 })
})

describe('setMode', () => {
  const limits = {
    shared: { when: { route: '/search' }, 'sliding-window': '1/1m' },
    user: { key: 'user', 'sliding-window': '9/1m' },
  }

  test('leaves the when of a limit without a key alone', () => {
    const { limiter, setMode } = rulesLimiter({ limits })
    setMode('shared', 'shadow')
    expect(limiter.consume({ route: '/search' }).limits).toMatchObject([{ name: 'shared', shadow: true }])
    expect(limiter.consume({ route: '/' }).limits).toEqual([])
    setMode('shared', 'off')
    expect(limiter.consume({ route: '/search' }).limits).toEqual([])
  })

  test('changes any other too, and explain knows', () => {
    const { limiter, setMode, explain } = rulesLimiter({ limits })
    setMode('user', 'off')
    expect(limiter.consume({ user: '1' }).limits).toEqual([])
    expect(explain({ user: '1' })[1]).toMatchObject({ applies: false, why: 'it is switched off' })
  })

  test('knows no other names and modes', () => {
    const { setMode } = rulesLimiter({ limits })
    expect(codeOf(() => setMode('users', 'off'))).toBe('SLUICE_UNKNOWN_LIMIT')
    expect(codeOf(() => setMode('shared', 'on' as never))).toBe('SLUICE_BAD_MODE')
  })

  test('a reset of one subject leaves what everybody shares', () => {
    const { limiter } = rulesLimiter({ limits })
    limiter.consume({ route: '/search', user: '1' })
    limiter.reset({ route: '/search', user: '1' })
    expect(limiter.peek({ route: '/search', user: '1' }).limits).toMatchObject([{ remaining: 0 }, { remaining: 9 }])
  })
})

describe('loaded again over the same store', () => {
  const store = () => memoryStore({ clock: fakeClock(1_700_000_000_000) })
  const user = (limit: object) => ({ limits: { user: { key: 'user', ...limit } } })
  const eighty = user({ 'fixed-window': '100/1h' })

  test.each<[string, object, number]>([
    ['a changed number keeps what was used', user({ 'fixed-window': '50/1h' }), 0],
    ['a larger one too', user({ 'fixed-window': '200/1h' }), 120],
    ['a changed mode, cost or outage too', user({ 'fixed-window': '100/1h', cost: 2, on_outage: 'open' }), 20],
    ['a changed window starts afresh', user({ 'fixed-window': '50/1m' }), 50],
    ['a changed algorithm starts afresh', user({ 'sliding-window': '50/1h' }), 50],
    ['a changed key starts afresh', { limits: { user: { key: 'account', 'fixed-window': '50/1h' } } }, 50],
    ['a longer key starts afresh', user({ key: ['user', 'account'], 'fixed-window': '50/1h' }), 50],
  ])('%s', (_, again, remaining) => {
    const shared = store()
    rulesLimiter(eighty, { store: shared }).limiter.consume({ user: '42' }, { cost: 80 })
    const { limiter } = rulesLimiter(again, { store: shared })
    expect(limiter.peek({ user: '42', account: '42' })).toMatchObject({ remaining })
  })
})

describe('explain', () => {
  const limits = {
    'per-ip': { key: 'ip', 'sliding-window': '60/1m' },
    search: { when: { route: ['/search', '/find*'] }, gcra: { rate: '5/s', burst: 10 }, cost: 5 },
    user: { key: ['user', 'route'], plans: { by: 'plan', free: '60/1m', pro: '600/1m' }, mode: 'shadow' },
    dark: { 'sliding-window': '1/1s', mode: 'off' },
    all: { 'sliding-window': '9/1s' },
  }
  const { explain, limiter } = rulesLimiter({ limits })

  test('says of every limit whether it applies, and why', () => {
    expect(explain({ user: '42', route: '/find/me', plan: 'pro' }, { cost: 3 })).toEqual([
      { limit: 'per-ip', applies: false, why: 'it counts by ip, and there is no ip', mode: 'enforce' },
      {
        limit: 'search',
        applies: true,
        why: "route is one of '/search', '/find*'",
        mode: 'enforce',
        key: 'everybody',
        policy: '10 at once, then 5 every 1s (GCRA)',
        cost: 5,
      },
      {
        limit: 'user',
        applies: true,
        why: 'user and route are there',
        mode: 'shadow',
        key: 'user=42 route=/find/me',
        policy: '600 in 1m (sliding window): plan pro',
        cost: 3,
      },
      { limit: 'dark', applies: false, why: 'it is switched off', mode: 'off' },
      {
        limit: 'all',
        applies: true,
        why: 'it is for every request',
        mode: 'enforce',
        key: 'everybody',
        policy: '9 in 1s (sliding window)',
        cost: 3,
      },
    ])
  })

  test.each<[Attributes, number, string]>([
    [{ route: '/' }, 1, "route must be '/search' or '/find*', and it is '/'"],
    [{}, 1, "route must be '/search' or '/find*', and there is none"],
    [{ user: '1' }, 2, 'it counts by user and route, and there is no route'],
  ])('%j: limit %d does not, because %s', (subject, limit, why) => {
    expect(explain(subject)[limit]).toMatchObject({ applies: false, why })
  })

  test.each<[Attributes, string]>([
    [{ plan: 'gold' }, "60 in 1m (sliding window): the strictest plan, as there is no plan 'gold'"],
    [{}, '60 in 1m (sliding window): the strictest plan, as there is no plan'],
  ])('%j has %s', (plan, policy) => {
    expect(explain({ user: '1', route: '/', ...plan })[2]).toMatchObject({ policy })
  })

  test('counts nothing', () => {
    explain({ ip: '::1' })
    expect(limiter.peek({ ip: '::1' }).limits[0]).toMatchObject({ name: 'per-ip', remaining: 60 })
  })
})

test.each(['allow', 'deny'])('rules with a list are refused, unless the caller applies it: %s', list => {
  const parsed = { [list]: ['203.0.113.0/24'], limits: { 'per-ip': { key: 'ip', 'fixed-window': '1/1h' } } }
  expect(() => rulesLimiter(parsed)).toThrow(expect.objectContaining({ code: 'SLUICE_NOT_SUPPORTED' }))
  expect(rulesLimiter(parsed, { ownLists: true }).rules[list as 'allow']).toEqual(['203.0.113.0/24'])
})
