import { describe, expect, test } from 'vitest'
import { type Any, textOf } from './fixtures/limiter/misuse.ts'
import { createGuard } from './http/index.ts'
import { createLimiter, fixedWindow, slidingWindow, tokenBucket } from './index.ts'

const limiter: Any = createLimiter('100/m')
const ofUsers = (own: Any) => createLimiter({ limits: { user: { policy: '100/m', key: () => 'x', ...own } } }) as Any
const guard = (options: Any) => createGuard({ policy: '5/m', ...options })
const CREATE = 'expected a policy, then options, got'
const FIRST = "; write createLimiter('100/m', { store })"
const LOOK_UP = 'look it up before the call, or give the limiter a remote store'
const DURATION = "to be a duration from 1ms to 366d (such as '250ms', '10s', '15m', '1h', '30d')"
const POLICY = "write policy: '100/m'"

/** What a newcomer writes by mistake, and what is said: what was expected, what came, what to do. */
const mistakes: Record<string, [what: string, call: () => unknown, text: string][]> = {
  'a call': [
    ['consume', () => limiter.consume('k', { costs: 5 }), "expected an option of consume, got 'costs'; write cost"],
    ['consume', () => limiter.consume('k', 5), 'expected options of consume as { cost }, got 5'],
    ['consume', () => limiter.consume(''), "expected a subject that is not empty, got ''"],
    ['consume', () => limiter.consume(42), 'expected a key as a string, got 42'],
    ['consume', () => limiter.consume(Promise.resolve('k')), 'expected a key as a string, got a promise'],
    ['consume', () => limiter.consume({ ip: '203.0.113.7' }), 'expected a key as a string, got an object with ip'],
    ['cost', () => limiter.consume('k', { cost: '5' }), "expected a cost as a whole number, 0 or more, got '5'"],
    [
      'cost',
      () => limiter.consume('k', { cost: 0.5 }),
      'expected a cost as a whole number, 0 or more, got 0.5; round it, or count in smaller units',
    ],
    [
      'cost',
      () => limiter.consume('k', { cost: Promise.resolve(5) }),
      'expected a cost as a whole number, 0 or more, got a promise',
    ],
    ['wait', () => limiter.wait('k', { timeout: '1s' }), "expected an option of wait, got 'timeout'; write maxWait"],
    ['block', () => limiter.block('k', '15m'), "expected options of block as { limit, for }, got '15m'"],
    [
      'block',
      () => limiter.block('k', { for: 900 }),
      `expected block({ for }) ${DURATION}, got 900; write '900s' for seconds or '900ms' for milliseconds`,
    ],
    ['block', () => limiter.block('k', { duration: '15m' }), "expected an option of block, got 'duration'; write for"],
    ['reserve', () => limiter.reserve('k'), 'expected options of reserve as { cost, ttl }, got undefined'],
    ['reserve', () => limiter.reserve('k', { cost: 5 }), `expected reserve({ ttl }) ${DURATION}, got undefined`],
    ['set', () => limiter.set('k', 5), 'expected options of set as { limit, remaining }, got 5'],
    ['set', () => limiter.set('k', { remaining: 'all' }), "expected remaining as a whole number, 0 or more, got 'all'"],
    ['reset', () => limiter.reset('k', { limit: 'user' }), "expected an option of reset, got 'limit'; write limits"],
    ['history', () => limiter.history('k'), "expected history of a slidingLog limit, got 'slidingWindow'"],
  ],
  'the options of another limiter': [
    [
      'createLimiter',
      () => createLimiter({ points: 5, duration: 1 } as Any),
      `${CREATE} an object with points, duration${FIRST}`,
    ],
    ['createLimiter', () => createLimiter({ throttlers: [] } as Any), `${CREATE} an object with throttlers${FIRST}`],
    [
      'createLimiter',
      () => createLimiter({ policy: '5/m', name: 'api' } as Any),
      `${CREATE} an object with policy, name${FIRST}`,
    ],
    [
      'createLimiter',
      () => createLimiter('5/m', { keyPrefix: 'x' } as Any),
      "expected an option of a limiter, got 'keyPrefix'; write prefix",
    ],
    [
      'a limit',
      () => ofUsers({ keyGenerator: () => 'x' }),
      "expected an option of limit 'user', got 'keyGenerator'; write key",
    ],
    [
      'a list',
      () => createLimiter({ limits: [{}] } as Any),
      'expected limits by name, at least one, got an array of 1; write { user: { … } }',
    ],
    [
      'a policy',
      () => fixedWindow({ points: 5, duration: 1 } as Any),
      "expected an option of fixedWindow, got 'points'; write limit",
    ],
    [
      'a policy',
      () => slidingWindow({ limit: 5, windowMs: 1 } as Any),
      "expected an option of slidingWindow, got 'windowMs'; write window",
    ],
    [
      'a policy',
      () => slidingWindow({ limit: 5, ttl: 1 } as Any),
      "expected an option of slidingWindow, got 'ttl'; write window",
    ],
    [
      'a policy',
      () => tokenBucket({ capacity: 5, interval: '1s' } as Any),
      "expected an option of tokenBucket, got 'interval'; write refill",
    ],
    [
      'rateLimit',
      () => guard({ keyGenerator: () => 'x' }),
      "expected an option of rateLimit, got 'keyGenerator'; write key",
    ],
    [
      'rateLimit',
      () => guard({ standardHeaders: 'draft-8' }),
      "expected an option of rateLimit, got 'standardHeaders'; write headers",
    ],
    ...['windowMs', 'max', 'points', 'duration', 'ttl'].map((name): [string, () => unknown, string] => [
      'rateLimit',
      () => createGuard({ [name]: 5 } as Any),
      `expected an option of rateLimit, got '${name}'; ${POLICY}`,
    ]),
    [
      'rateLimit',
      () => createGuard({ throttlers: [] } as Any),
      "expected an option of rateLimit, got 'throttlers'; write limits",
    ],
    [
      'headers',
      () => guard({ headers: 'draft-8' }),
      "expected headers as 'draft-11', 'draft-7', 'draft-6', 'x', 'x-bucket', several of them in an array, or false, got 'draft-8'",
    ],
    [
      'trust proxy',
      () => guard({ 'trust proxy': 1 }),
      "expected an option of rateLimit, got 'trust proxy'; write trustProxy",
    ],
    [
      'key',
      () => guard({ key: 'ip' }),
      "expected limit 'default' key as a function, got 'ip'; write ip(), or r => r.auth?.id",
    ],
    [
      'store',
      () => guard({ store: { get() {}, set() {} } }),
      'expected a store such as memoryStore() or redisStore(client), got an object with get, set',
    ],
  ],
  'what answers later where the answer is needed at once': [
    ...['key', 'policy', 'cost'].map((name): [string, () => unknown, string] => [
      name,
      () => ofUsers({ [name]: async () => 'x' }),
      `expected limit 'user' ${name} as a function that is not async, got an async function; ${LOOK_UP}`,
    ]),
    ...['key', 'policy', 'cost'].map((name): [string, () => unknown, string] => [
      name,
      () => ofUsers({ [name]: () => Promise.resolve('x') }).consume({}),
      `expected limit 'user' ${name} to answer at once, got a promise; ${LOOK_UP}`,
    ]),
    [
      'mode',
      () => ofUsers({ mode: async () => 'off' }),
      "expected limit 'user' mode as a function that is not async, got an async function",
    ],
  ],
}

for (const [where, rows] of Object.entries(mistakes)) {
  describe(`a mistake in ${where} is told with what to do`, () => {
    test.each(rows)('%s %#', async (_, call, text) => {
      expect(await textOf(call)).toBe(text)
    })
  })
}
