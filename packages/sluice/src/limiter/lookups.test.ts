import { expect, test } from 'vitest'
import { type Any, codeOf } from '../fixtures/limiter/misuse.ts'
import { flush } from '../fixtures/limiter/passing-time.ts'
import { farMemory } from '../fixtures/stores/far-memory.ts'
import { createLimiter, fixedWindow, type LimitOptions, memoryStore, type RateText, slidingLog } from '../index.ts'
import { fakeClock } from '../testing/index.ts'

interface Caller {
  user: string
}

/** Plans in a database that counts how often it is asked. */
function withPlans(more: Partial<LimitOptions<Caller, 'async'>> = {}) {
  const clock = fakeClock(1_700_000_000_000)
  const asked: string[] = []
  const planOf = (user: string): Promise<RateText> => {
    asked.push(user)
    return Promise.resolve(user === 'gold' ? '5/m' : '2/m')
  }
  const limiter = createLimiter<Caller, 'async'>({
    store: farMemory(clock),
    limits: {
      flood: { policy: '4/m', key: c => c.user, store: memoryStore({ clock }) },
      plan: { policy: c => planOf(c.user), key: async c => c.user, ...more },
    },
  })
  return { clock, limiter, asked }
}

test('policy, key and cost may answer later over a remote store', async () => {
  const { limiter } = withPlans({ cost: async () => 2 })
  expect(await limiter.consume({ user: 'gold' })).toMatchObject({
    allowed: true,
    policy: 'plan',
    limit: 5,
    remaining: 3,
  })
  expect(await limiter.peek({ user: 'free' })).toMatchObject({ allowed: true, policy: 'plan', limit: 2, remaining: 2 })
  await limiter.reset({ user: 'gold' }, { limits: ['plan'] })
  expect((await limiter.inspect({ user: 'gold' })).map(({ name, used }) => [name, used])).toEqual([
    ['flood', 1],
    ['plan', 0],
  ])
})

test('a flood that a limit of this process refuses makes no look-ups', async () => {
  const { limiter, asked } = withPlans()
  for (let i = 0; i < 20; i++) await limiter.consume({ user: 'gold' })
  expect(asked.length).toBe(4)
  expect(await limiter.consume({ user: 'gold' })).toMatchObject({ allowed: false, policy: 'flood' })
})

test('all or nothing holds: refused by the plan, nothing is taken in process', async () => {
  const { limiter } = withPlans()
  const decisions = []
  for (let i = 0; i < 4; i++) decisions.push((await limiter.consume({ user: 'free' })).allowed)
  expect(decisions).toEqual([true, true, false, false])
  const [flood] = await limiter.inspect({ user: 'free' }, { limits: ['flood'] })
  expect(flood).toMatchObject({ name: 'flood', used: 2 })
})

test('a function that is not async but answers with a promise is found out and asked later', async () => {
  const { limiter, asked } = withPlans({ key: c => c.user })
  expect(await limiter.consume({ user: 'free' })).toMatchObject({ allowed: true, limit: 2, remaining: 1 })
  expect(await limiter.consume({ user: 'free' })).toMatchObject({ allowed: true, limit: 2, remaining: 0 })
  expect(asked).toEqual(['free', 'free'])
})

test('several that turn out to answer later are asked together', async () => {
  const clock = fakeClock()
  const limiter = createLimiter<Caller, 'async'>({
    store: farMemory(clock),
    limits: {
      one: { policy: () => Promise.resolve<RateText>('5/m'), key: c => c.user },
      two: { policy: '4/m', key: c => Promise.resolve(c.user), cost: () => Promise.resolve(2) },
      none: { policy: '4/m', key: () => Promise.resolve(undefined) },
    },
  })
  const { limits } = await limiter.consume({ user: 'a' })
  expect(limits.map(({ name, remaining }) => [name, remaining])).toEqual([
    ['one', 4],
    ['two', 2],
  ])
})

test('where a limit does not apply, neither its cost nor its policy is asked for', async () => {
  const { limiter, asked } = withPlans({
    key: async () => undefined,
    cost: () => {
      throw new Error('no cost')
    },
  })
  expect((await limiter.consume({ user: 'gold' })).limits.map(({ name }) => name)).toEqual(['flood'])
  expect(asked).toEqual([])
})

test('a limit that frees while it is asked does not let a request past the others', async () => {
  let reads = 0
  const at = 1_700_000_000_000
  // From the second question of the second request on, the next window has begun.
  const clock = { now: () => at + (++reads > 3 ? 1000 : 0) }
  const store = memoryStore({ clock })
  const limiter = createLimiter<Caller, 'async'>({
    store: farMemory(fakeClock(at)),
    limits: {
      flood: { policy: fixedWindow({ limit: 1, window: '1s' }), key: c => c.user, store },
      plan: { policy: async () => slidingLog({ limit: 1, window: '1h' }), key: c => c.user },
    },
  })
  expect(await limiter.consume({ user: 'a' })).toMatchObject({ allowed: true })
  expect(await limiter.consume({ user: 'a' })).toMatchObject({ allowed: false, policy: 'plan' })
  const [flood] = await limiter.inspect({ user: 'a' }, { limits: ['flood'] })
  expect(flood).toMatchObject({ used: 0 })
})

test('a look-up that rejects after another function has thrown ends nothing but its call', async () => {
  const limiter = createLimiter<Caller, 'async'>({
    store: farMemory(fakeClock()),
    limits: {
      plan: { policy: () => Promise.reject(new Error('no database')), key: c => c.user },
      broken: {
        policy: '1/m',
        key: () => {
          throw new Error('broken')
        },
      },
    },
  })
  const unhandled: unknown[] = []
  const hear = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', hear)
  await expect((async () => limiter.consume({ user: 'a' }))()).rejects.toThrow('broken')
  await expect((async () => limiter.reset({ user: 'a' }))()).rejects.toThrow('broken')
  await new Promise(resolve => setImmediate(resolve))
  process.off('unhandledRejection', hear)
  expect(unhandled).toEqual([])
})

test('wait, block and history look up too', async () => {
  const { limiter } = withPlans({ policy: async () => slidingLog({ limit: 2, window: '1m' }) })
  const subject = { user: 'free' }
  expect(await limiter.wait(subject, { maxWait: 0 })).toMatchObject({ allowed: true, remaining: 1 })
  expect((await limiter.history(subject, { limit: 'plan' })).length).toBe(1)
  await limiter.block(subject, { limit: 'plan', for: '1m' })
  expect(await limiter.consume(subject)).toMatchObject({ allowed: false, reason: 'blocked' })
})

test('what fails rejects, and what is late rejects at the deadline', async () => {
  const failed = withPlans({ policy: () => Promise.reject(new Error('no database')) })
  await expect(failed.limiter.consume({ user: 'a' })).rejects.toThrow('no database')
  const clock = fakeClock()
  const late = createLimiter<Caller, 'async'>({
    store: farMemory(clock),
    lookupDeadline: '200ms',
    limits: { plan: { policy: () => new Promise<RateText>(() => {}), key: c => c.user } },
  })
  const asked = late.consume({ user: 'a' })
  clock.advance(199)
  const first = await Promise.race([asked.catch(() => 'over'), Promise.resolve('waiting')])
  expect(first).toBe('waiting')
  clock.advance(1)
  await expect(asked).rejects.toMatchObject({ code: 'SLUICE_LOOKUP_TIMEOUT' })
})

test('a limiter that answers at once refuses them, by name', () => {
  const of = (limit: Any) => createLimiter<Caller>({ limits: { plan: { policy: '2/m', ...limit } } })
  for (const [option, limit] of Object.entries({
    policy: { policy: async () => '2/m' },
    key: { key: async (c: Caller) => c.user },
    cost: { cost: async () => 1 },
  })) {
    expect(codeOf(() => of(limit))).toBe('SLUICE_BAD_OPTION')
    expect(() => of(limit)).toThrow(`expected limit 'plan' ${option} as a function that is not async`)
  }
  const sneaky = of({ policy: () => Promise.resolve('2/m') })
  expect(() => sneaky.consume({ user: 'a' })).toThrow(
    "expected limit 'plan' policy to answer at once, got a promise; look it up before the call",
  )
})

test('a wait makes its look-ups once, however often it asks the store', async () => {
  const { limiter, asked, clock } = withPlans()
  const subject = { user: 'free' }
  for (let i = 0; i < 2; i++) await limiter.consume(subject)
  const waited = limiter.wait(subject)
  await flush()
  asked.length = 0
  clock.advance(60_000)
  expect(await waited).toMatchObject({ allowed: true, policy: 'plan' })
  expect(asked).toEqual([])
})

test('a wait whose signal is aborted while its limits are looked up takes nothing', async () => {
  const { limiter } = withPlans()
  const leaving = new AbortController()
  const left = limiter.wait({ user: 'free' }, { signal: leaving.signal })
  leaving.abort('gone')
  await expect(left).rejects.toBe('gone')
  expect(await limiter.peek({ user: 'free' })).toMatchObject({ policy: 'plan', remaining: 2 })
})
