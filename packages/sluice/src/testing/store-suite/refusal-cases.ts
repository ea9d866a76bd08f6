import { createLimiter } from '../../limiter/create.ts'
import { limitOf } from '../oracle/oracle.ts'
import { KINDS, random, randomTrace } from '../trace.ts'
import { type Case, holds, same, show } from './case.ts'
import { modestPolicy, ofEveryKind } from './policies.ts'
import { StoredLimit } from './stored-limit.ts'
import { Witness } from './witness.ts'
import { type Bench, LATEST_TICK, TODAY, type World } from './world.ts'

const KEY = 'user:42'

export function refusalCases(bench: Bench): Case[] {
  return [
    { name: 'a refused request consumes nothing (law 1)', run: () => consumesNothing(bench) },
    { name: 'looking takes nothing, and neither does a cost of 0 (law 1)', run: () => lookingTakesNothing(bench) },
    { name: 'the same cost passes at retryAt and not a tick earlier (law 3)', run: () => retryIsExact(bench) },
    {
      name: 'waiting for retryAfterMs is enough and a tick less is not (law 3)',
      run: () => retryThroughLimiter(bench),
    },
    { name: 'retryAt is exact for limits that fill a double (law 3)', run: () => retryOfHuge(bench) },
    { name: 'a limit of 0 and a cost above the limit are refused for ever (law 3)', run: () => neverPasses(bench) },
  ]
}

/** A limit with some state: a few dozen random calls, after which a little time passes. */
async function stirred(world: World, seed: number): Promise<StoredLimit> {
  const rng = random(seed)
  const stored = new StoredLimit(world, modestPolicy(rng, KINDS[seed % KINDS.length]!))
  const trace = randomTrace(rng, stored.policy, 1 + Math.floor(rng() * 30))
  const witness = new Witness(stored, KEY, `seed ${seed}`)
  for (const step of trace) if (step.at < LATEST_TICK / 2) await witness.play(step)
  return stored
}

async function consumesNothing(bench: Bench): Promise<void> {
  for (let seed = 0; seed < bench.times(350); seed++) {
    await bench.inWorld(async world => {
      const stored = await stirred(world, seed)
      const { remaining } = await stored.peek(KEY, 0)
      const before = await stored.look(KEY)
      for (const cost of [remaining + 1, limitOf(stored.policy) + 1]) {
        const where = () => `seed ${seed}, policy ${show(stored.policy)}, after refusing ${cost} at ${world.now}`
        const charge = await stored.consume(KEY, cost)
        same({ allowed: charge.allowed, taken: charge.taken }, { allowed: false, taken: false }, where)
        same(await stored.look(KEY), before, where)
      }
    })
  }
}

async function lookingTakesNothing(bench: Bench): Promise<void> {
  for (let seed = 0; seed < bench.times(140); seed++) {
    await bench.inWorld(async world => {
      const stored = await stirred(world, seed)
      const before = await stored.look(KEY)
      const { remaining } = await stored.peek(KEY, 1)
      const looks = [await stored.peek(KEY, remaining), await stored.consume(KEY, 0)]
      const where = () => `seed ${seed}, policy ${show(stored.policy)} at ${world.now}`
      for (const look of looks)
        same({ allowed: look.allowed, taken: look.taken }, { allowed: true, taken: false }, where)
      same(await stored.look(KEY), before, where)
    })
  }
}

/** Asks again at each `retryAt`, with random costs. */
async function retryIsExact(bench: Bench): Promise<void> {
  for (let seed = 0; seed < bench.times(210); seed++) {
    await bench.inWorld(async world => {
      const stored = await stirred(world, seed)
      const rng = random(seed + 1)
      for (let n = 0; n < 12; n++) {
        const cost = 1 + Math.floor(rng() * limitOf(stored.policy))
        const first = await stored.consume(KEY, cost)
        if (first.allowed) continue
        const where = () => `seed ${seed}, policy ${show(stored.policy)}, cost ${cost} at ${world.now}`
        holds(first.retryAt > world.now && first.retryAt < Infinity, 'a retryAt to come', first.retryAt, where)
        if (first.retryAt > LATEST_TICK) return
        world.goTo(first.retryAt - 1)
        const early = await stored.consume(KEY, cost)
        same([early.allowed, early.retryAt], [false, first.retryAt], where)
        world.goTo(first.retryAt)
        same((await stored.consume(KEY, cost)).allowed, true, where)
      }
    })
  }
}

/** Sliding windows multiply a count by a time. Here the exact answer is a whole tick, so any rounding error shows. */
async function retryOfHuge(bench: Bench): Promise<void> {
  for (let seed = 0; seed < bench.times(60); seed++) {
    await bench.inWorld(async world => {
      const rng = random(seed)
      const windowMs = 1 + Math.floor(rng() * 10 ** (1 + (seed % 9)))
      const perTick = Math.floor((rng() * 2 ** 48) / (windowMs * 1000)) + 1
      const limit = Math.min(2 ** 48, perTick * windowMs * 1000)
      const witness = new Witness(
        new StoredLimit(world, { kind: 'slidingWindow', limit, windowMs, buckets: 1 }),
        KEY,
        `seed ${seed}`,
      )
      const start = Math.ceil(TODAY / (windowMs * 1000)) * windowMs * 1000
      await witness.play({ at: start, op: 'consume', cost: limit })
      for (let n = 0; n < 10; n++) {
        const cost = limit - perTick * Math.floor(rng() * windowMs * 1000)
        await witness.play({ at: start + windowMs * 1000, op: 'peek', cost: Math.max(1, cost) })
      }
    })
  }
}

async function retryThroughLimiter(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(7, 1001)) {
    await bench.inWorld(async ({ store, clock }) => {
      clock.set(TODAY / 1000)
      const limiter = createLimiter(policy, { store })
      for (let round = 0; round < 5; round++) {
        const where = () => `policy ${show(policy)}, round ${round}, at ${clock.now()} ms`
        let refused = await limiter.consume(KEY, { cost: 3 })
        while (refused.allowed) refused = await limiter.consume(KEY, { cost: 3 })
        clock.advance(refused.retryAfterMs - 0.001)
        const early = await limiter.consume(KEY, { cost: 3 })
        same([early.allowed, early.retryAfterMs], [false, 0.001], where)
        clock.advance(early.retryAfterMs)
        same((await limiter.consume(KEY, { cost: 3 })).allowed, true, where)
      }
    })
  }
}

async function neverPasses(bench: Bench): Promise<void> {
  for (const policy of [...ofEveryKind(0, 1000), ...ofEveryKind(5, 1000)]) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy)
      const charge = await stored.consume(KEY, limitOf(policy) + 1)
      const { allowed, remaining, retryAt } = charge
      const expected = { allowed: false, remaining: limitOf(policy), retryAt: Infinity }
      same({ allowed, remaining, retryAt }, expected, () => `policy ${show(policy)}, a cost above the limit`)
    })
  }
}
