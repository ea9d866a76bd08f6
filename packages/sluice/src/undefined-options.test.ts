import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { backoff, createFetch, readRateLimit, shape } from './client/index.ts'
import { rateLimit as expressRateLimit } from './compat/express-rate-limit.ts'
import { fastifyRateLimit } from './compat/fastify-rate-limit.ts'
import { RateLimiterMemory, RateLimiterQueue } from './compat/rate-limiter-flexible.ts'
import { ask, headersOf, leftIn, serve, statuses } from './fixtures/http/fake-exchange.ts'
import { knownOptions, undefinedOptions } from './fixtures/known-options.ts'
import type { Any } from './fixtures/limiter/misuse.ts'
import { flush } from './fixtures/limiter/passing-time.ts'
import { client, withOwnServer } from './fixtures/redis/own-server.ts'
import { apiKey, createGuard, header, ip, loginLimits } from './http/index.ts'
import { RateLimit } from './http/nest.ts'
import {
  concurrency,
  createLimiter,
  fixedWindow,
  gcra,
  leakyBucket,
  memoryStore,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from './index.ts'
import { rls, rulesLimiter } from './rules/index.ts'
import { redisStore } from './stores/redis/index.ts'
import { fakeClock, simulatedStore } from './testing/index.ts'

withOwnServer()

/** A call that takes options: what it is told at least, and what can be seen of what it did. */
type Entry = [what: string, least: Any, call: (options: Any) => unknown]

const policy = fixedWindow({ limit: 5, window: '1h' })
const LOG = slidingLog({ limit: 5, window: '1h' })

/** What three calls are answered, and what is kept of them. */
async function seenOf(limiter: Any, subject: Any = 'a') {
  const decisions = []
  for (let i = 0; i < 3; i++) decisions.push(await limiter.consume(subject))
  const told = decisions.map(({ allowed, reason, limit, remaining, degraded }) => [
    ...[allowed, reason, limit, remaining, degraded],
  ])
  return [limiter.name, told]
}

/** What a call on a limiter that has counted one request answers, and what it leaves. */
function operation(name: string, limitPolicy: Policy = policy): Entry[2] {
  return async options => {
    const limiter: Any = createLimiter({
      clock: fakeClock(),
      limits: { one: { policy: limitPolicy, key: (k: string) => k } },
    })
    limiter.consume('a')
    const answer = await limiter[name]('a', options)
    return [answer, limiter.inspect('a'), limiter.peek('a').toJSON()]
  }
}

const operator =
  (name: string): Entry[2] =>
  async options => {
    const guard: Any = createGuard({ limits: { caller: { policy, key: ip() } }, clock: fakeClock() })
    ask(guard)
    return [await guard[name](options), leftIn(ask(guard))]
  }

const guardSeen = (guard: Any) => {
  const found = ['192.0.2.1', '192.0.2.2'].map(from => statuses(guard, 6, { from }))
  return [found, headersOf(ask(guard)), leftIn(ask(guard)), serve(guard, { from: '192.0.2.3' }, 500)]
}

const routed = (options: Any) => {
  const guard = createGuard({ limits: { all: { policy, key: ip(), cost: 2 } }, clock: fakeClock() })
  return [leftIn(ask(guard.for('/a', options))), leftIn(ask(guard.for('/a', options)))]
}

/** Asks a server that refuses the first request. */
const fetched = async (options: Any) => {
  const { fetch } = globalThis
  let sent = 0
  globalThis.fetch = async () => new Response('', { status: ++sent === 1 ? 429 : 200, headers: { 'retry-after': '0' } })
  try {
    return [(await createFetch(options)('http://host.test/')).status, sent]
  } finally {
    globalThis.fetch = fetch
  }
}

const shaped = async (options: Any, call: Any = {}) => {
  const starts: number[] = []
  const paced: Any = shape(() => void starts.push(0), options)
  for (let i = 0; i < 3; i++)
    void paced
      .with(call)()
      .catch(() => {})
  await flush()
  return [starts.length, paced.depth, await paced.close()]
}
const ONE_A_SECOND = { policy: tokenBucket({ capacity: 1, refill: '1/s' }) }

/** A response of Express as far as its limiter needs one. */
async function expressSeen(options: Any) {
  const headers: Record<string, unknown> = {}
  const said: unknown[] = []
  const response: Any = {
    setHeader: (name: string, value: unknown) => {
      headers[name] = value
    },
    getHeader: (name: string) => headers[name],
    status: (code: number) => said.push(code),
    send: (body: unknown) => said.push(body),
    once: () => {},
  }
  const limiter: Any = expressRateLimit(options)
  for (let i = 0; i < 6; i++) {
    limiter({ ip: '192.0.2.1', headers: {} }, response, () => said.push('next'))
    await new Promise(resolve => setTimeout(resolve))
  }
  return [said, Object.keys(headers)]
}

async function fastifySeen(plugin: Any, own?: Any) {
  const { fastify } = await import('fastify')
  const app: Any = fastify()
  await app.register(fastifyRateLimit, plugin)
  app.get('/', { config: own === undefined ? {} : { rateLimit: own } }, () => 'hello')
  const answers = []
  for (let i = 0; i < 3; i++) answers.push(await app.inject('/'))
  await app.close()
  return answers.map(({ statusCode, headers }: Any) => [statusCode, Object.keys(headers), headers['x-ratelimit-limit']])
}

const keyOf = (identity: Any) => {
  const guard = createGuard({ limits: { one: { policy, key: identity } }, clock: fakeClock() })
  return [{ 'x-api-key': 'secret' }, { 'x-api-key': 'other' }, {}].map(headers =>
    leftIn(ask(guard, { headers } as Any)),
  )
}

const RULES = { limits: [{ name: 'user', policy: '5/h', key: 'user' }] }
const FILE = { domain: 'd', descriptors: [{ key: 'k', rate_limit: { unit: 'hour', requests_per_unit: 5 } }] }

const ENTRIES: Entry[] = [
  ['tokenBucket', { capacity: 5, refill: '1/s' }, tokenBucket],
  ['leakyBucket', { capacity: 5, leak: '1/s' }, leakyBucket],
  ['gcra', { rate: '1/s', burst: 2 }, gcra],
  ['fixedWindow', { limit: 5, window: '1h' }, fixedWindow],
  ['fixedWindow by calendar', { limit: 5, align: 'day' }, fixedWindow],
  ['slidingWindow', { limit: 50, window: '1h' }, slidingWindow],
  ['slidingLog', { limit: 5, window: '1h' }, slidingLog],
  ['concurrency', { limit: 5, ttl: '1h' }, concurrency],
  ['memoryStore', {}, options => seenOf(createLimiter(policy, { store: memoryStore(options) }))],
  ['redisStore', { prefix: 'undefined' }, options => redisSeen(options)],
  ['redisStore denyCache', {}, denyCache => redisSeen({ denyCache })],
  ['simulatedStore', { clock: fakeClock() }, options => simulatedStore(options).delayMs],
  ['limiter', {}, options => seenOf(createLimiter(policy, options))],
  [
    'limiter of several',
    { limits: { one: { policy, key: (k: string) => k } } },
    options => seenOf(createLimiter(options)),
  ],
  ["limit 'one'", { policy, key: (k: string) => k }, one => seenOf(createLimiter({ limits: { one } }))],
  ["limit 'one' without a key", { policy }, one => seenOf(createLimiter({ limits: { one } }), {})],
  [
    "limit 'default' blockFor",
    { first: '1m' },
    blockFor => seenOf(createLimiter({ limits: { default: { policy: '2/h', key: (k: string) => k, blockFor } } })),
  ],
  ["limit 'default' onOutage", { local: 0.5 }, onOutage => seenOf(createLimiter(policy, { onOutage }))],
  ['consume', {}, operation('consume')],
  ['peek', {}, operation('peek')],
  ['refund', { cost: 1 }, operation('refund')],
  ['penalize', { cost: 1 }, operation('penalize')],
  ['set', { remaining: 3 }, operation('set')],
  ['reset', {}, operation('reset')],
  ['block', { for: '1m' }, operation('block')],
  ['unblock', {}, operation('unblock')],
  ['reserve', { cost: 2, ttl: '1m' }, operation('reserve')],
  ['wait', {}, operation('wait')],
  ['history', {}, operation('history', LOG)],
  ['inspect', {}, operation('inspect')],
  ['rateLimit', { policy, clock: fakeClock() }, options => guardSeen(createGuard(options))],
  [
    'rateLimit of several',
    { limits: { caller: { policy, key: ip() } }, clock: fakeClock() },
    options => guardSeen(createGuard(options)),
  ],
  [
    "limit 'caller'",
    { policy, key: ip() },
    caller => guardSeen(createGuard({ limits: { caller }, clock: fakeClock() })),
  ],
  ['rateLimit of /a by a policy', { policy: '3/h' }, routed],
  ['rateLimit of /a by limits', { limits: { caller: { policy: '3/h', key: ip() } } }, routed],
  ['rateLimit of /a by a cost', { cost: 3 }, routed],
  ['@RateLimit()', { policy: '3/h' }, options => typeof RateLimit(options)],
  ['guard.peek()', { limit: 'caller', key: '192.0.2.1' }, operator('peek')],
  ['guard.inspect()', { limit: 'caller', key: '192.0.2.1' }, operator('inspect')],
  ['guard.reset()', { limit: 'caller', key: '192.0.2.1' }, operator('reset')],
  ['guard.set()', { limit: 'caller', key: '192.0.2.1', remaining: 2 }, operator('set')],
  ['guard.penalize()', { limit: 'caller', key: '192.0.2.1', cost: 1 }, operator('penalize')],
  ['guard.block()', { limit: 'caller', key: '192.0.2.1', for: '1m' }, operator('block')],
  ['guard.unblock()', { limit: 'caller', key: '192.0.2.1' }, operator('unblock')],
  ['loginLimits', {}, options => guardSeen(createGuard({ limits: loginLimits(options), clock: fakeClock() }))],
  ['header()', {}, options => keyOf(header('x-api-key', options))],
  ['apiKey()', {}, options => keyOf(apiKey(options))],
  ['createFetch', {}, fetched],
  ['createFetch backoff', {}, options => fetched({ backoff: options })],
  ['createFetch adaptiveThrottle', {}, options => fetched({ adaptiveThrottle: options, random: () => 0.99 })],
  ['shape', ONE_A_SECOND, shaped],
  ['with', {}, options => shaped(ONE_A_SECOND, options)],
  ['backoff', {}, options => backoff(3, options) <= 2000],
  [
    'readRateLimit',
    {},
    options => readRateLimit({ headers: { 'retry-after-ms': '5', 'x-ratelimit-limit': '5' } }, options).limit,
  ],
  ['rulesLimiter', {}, options => seenOf(rulesLimiter(RULES, options).limiter, { user: 'u' })],
  [
    'rls',
    { clock: fakeClock() },
    options => {
      const answer: Any = rls([FILE], options).shouldRateLimit({
        domain: 'd',
        descriptors: [{ entries: [{ key: 'k', value: 'v' }] }],
      } as Any)
      return [
        answer.overall,
        answer.statuses.map(({ code, limitRemaining, rule }: Any) => [code, limitRemaining, rule]),
      ]
    },
  ],
  ['rateLimit() of express-rate-limit', {}, expressSeen],
  ['@fastify/rate-limit', { max: 2 }, options => fastifySeen(options)],
  ['rateLimit of GET / of @fastify/rate-limit', { max: 2 }, options => fastifySeen({ max: 9 }, options)],
  ['the rate limiter', { points: 2, duration: 60 }, options => seenOf(new RateLimiterMemory(options).limiter)],
  [
    'RateLimiterQueue',
    {},
    options => new RateLimiterQueue(new RateLimiterMemory({ points: 2, duration: 60 }), options).getTokensRemaining(),
  ],
]

async function redisSeen(options: Any) {
  await client.flushall()
  const store = redisStore(client as never, options)
  const seen = await seenOf(createLimiter(policy, { store }))
  await store.close()
  return seen
}

/** The answer as text, or that the call was refused. */
async function outcome(call: Entry[2], options: Any): Promise<string> {
  try {
    return JSON.stringify(await call(options)) ?? 'undefined'
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === undefined) throw error
    return 'refused'
  }
}

describe('an option that is undefined is as if left out', () => {
  test.each(ENTRIES)('%s', async (_, least, call) => {
    const { known } = await knownOptions(call, least)
    expect(known).toEqual(expect.arrayContaining(Object.keys(least)))
    for (const option of known) {
      const { [option]: _, ...without } = least
      expect({ option, seen: await outcome(call, { ...without, [option]: undefined }) }).toEqual({
        option,
        seen: await outcome(call, without),
      })
    }
    expect(await outcome(call, { ...undefinedOptions(known), ...least })).toBe(await outcome(call, least))
  })
})

test('every call of the library that checks its options is in the table', async () => {
  const labels = await Promise.all(ENTRIES.map(async ([, least, call]) => (await knownOptions(call, least)).label))
  const src = new URL('.', import.meta.url)
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    path => path.endsWith('.ts') && !path.endsWith('.test.ts'),
  )
  const named = files.flatMap(path =>
    [...readFileSync(new URL(path, src), 'utf8').matchAll(/[cC]heck\w*Options\(\s*'([^']+)'/g)].map(match => match[1]!),
  )
  expect(named.length).toBeGreaterThan(25)
  expect([...new Set(named)].filter(name => !labels.includes(name))).toEqual([])
})
