import { createLimiter } from '../../limiter/create.ts'
import type { BlockRule } from '../../stores/limit.ts'
import { TAKE } from '../../stores/store.ts'
import { limitOf, oracleFor } from '../oracle/oracle.ts'
import { rhythmOf } from '../oracle/rhythm.ts'
import { KINDS, random } from '../trace.ts'
import { type Case, same, show } from './case.ts'
import { modestPolicy, ofEveryKind } from './policies.ts'
import { keysIn } from './room-cases.ts'
import { StoredLimit } from './stored-limit.ts'
import { type Bench, TODAY } from './world.ts'

const KEY = 'user:42'
const SECOND = 1_000_000

export function blockCases(bench: Bench): Case[] {
  return [
    {
      name: 'a refusal blocks until the block and the limit itself are over, whichever is later',
      run: () => until(bench),
    },
    { name: 'blocks and their limit do as the oracle and a stopwatch do', run: () => asModelled(bench) },
    { name: 'refusals during a block never lengthen it', run: () => neverLonger(bench) },
    { name: 'each block is longer than the last, up to the longest', run: () => growing(bench) },
    { name: 'looking, and a refusal by another limit, start no block', run: () => innocent(bench) },
    {
      name: "an operator's block refuses a key that has everything left, and a reset lifts it",
      run: () => byHand(bench),
    },
  ]
}

const fixed = (ticks: number): BlockRule => ({ first: ticks, factor: 1, max: ticks })

async function until(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(2, 1000)) {
    for (const ticks of [1, SECOND / 7, 9 * SECOND]) {
      await bench.inWorld(async world => {
        world.goTo(TODAY)
        const stored = new StoredLimit(world, policy, { block: fixed(ticks) })
        const oracle = oracleFor(policy, { phase: stored.phase(KEY) })
        for (let n = 0; n < 2; n++) oracle.consume(TODAY, (await stored.consume(KEY)).cost)
        const where = () => `policy ${show(policy)}, block of ${ticks} at ${world.now - TODAY} ticks`
        const struck = await stored.consume(KEY)
        const expected = Math.max(TODAY + ticks, oracle.peek(TODAY, 1).retryAt)
        same([struck.allowed, struck.retryAt], [false, expected], where)
        world.goTo(expected - 1)
        same((await stored.peek(KEY)).allowed, false, where)
        world.goTo(expected)
        same((await stored.consume(KEY)).allowed, true, where)
      })
    }
  }
}

async function asModelled(bench: Bench): Promise<void> {
  for (let seed = 0; seed < bench.times(140); seed++) {
    await bench.inWorld(async world => {
      const rng = random(seed)
      const policy = modestPolicy(rng, KINDS[seed % KINDS.length]!)
      const { interval, window } = rhythmOf(policy)
      const ticks = 1 + Math.floor(rng() * [interval, window, 3 * window][seed % 3]!)
      const stored = new StoredLimit(world, policy, { block: fixed(ticks) })
      const oracle = oracleFor(policy, { phase: stored.phase(KEY) })
      let [at, until] = [TODAY, 0]
      for (let step = 0; step < 40; step++) {
        at = world.goTo(at + [0, 1, interval, ticks, Math.max(0, until - at), window][Math.floor(rng() * 6)]!)
        const cost = 1 + Math.floor(rng() * Math.min(3, limitOf(policy)))
        const take = rng() < 0.8
        const blocked = until > at
        const own = take && !blocked ? oracle.consume(at, cost) : oracle.peek(at, cost)
        if (take && !blocked && !own.allowed) until = at + ticks
        const allowed = own.allowed && !blocked
        const retryAt = allowed ? 0 : Math.max(own.retryAt, until > at ? until : 0)
        const got = take ? await stored.consume(KEY, cost) : await stored.peek(KEY, cost)
        const where = () => `seed ${seed}, policy ${show(policy)}, block of ${ticks}, step ${step} of ${cost} at ${at}`
        same([got.allowed, got.blocked, got.retryAt], [allowed, blocked, retryAt], where)
        // During a block nothing passes, also if this very refusal started the block.
        same(got.remaining, until > at ? 0 : own.remaining, where)
      }
    })
  }
}

async function neverLonger(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(2, 1000)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy, { block: { first: 10 * SECOND, factor: 2, max: 100 * SECOND } })
      await stored.consume(KEY, 2)
      await stored.consume(KEY, 1)
      for (const after of [0, 1, 5 * SECOND, 9 * SECOND, 10 * SECOND - 1]) {
        world.goTo(TODAY + after)
        const { allowed, blocked, retryAt } = await stored.consume(KEY, 1)
        const expected = { allowed: false, blocked: true, retryAt: TODAY + 10 * SECOND }
        same({ allowed, blocked, retryAt }, expected, () => `policy ${show(policy)}, ${after} ticks into the block`)
      }
      world.goTo(TODAY + 10 * SECOND)
      same((await stored.consume(KEY, 1)).allowed, true, () => `policy ${show(policy)}, at the end of the block`)
    })
  }
}

async function growing(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(1, 1000)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy, { block: { first: 10 * SECOND, factor: 2, max: 35 * SECOND } })
      for (const seconds of [10, 20, 35, 35]) {
        await stored.consume(KEY)
        const { retryAt } = await stored.consume(KEY)
        same((retryAt - world.now) / SECOND, seconds, () => `policy ${show(policy)}, seconds of the next block`)
        world.goTo(retryAt)
        // A store that sweeps meanwhile must not treat an ended block as a forgotten one.
        if (keysIn(world) !== undefined) for (let n = 0; n < 1000; n++) await stored.peek('nobody')
      }
    })
  }
}

async function innocent(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(2, 1000)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy, { block: fixed(SECOND * 60) })
      const other = new StoredLimit(world, { kind: 'slidingLog', limit: 0, windowMs: 1000 }, { path: 'other' })
      await stored.consume(KEY, 2)
      await stored.peek(KEY, 1)
      world.goTo(TODAY + 5 * SECOND)
      for (let n = 0; n < 3; n++) await world.decide([stored.charge(KEY, 1), other.charge(KEY, 1)], TAKE)
      const charge = await stored.consume(KEY, 2)
      same([charge.allowed, charge.blocked], [true, false], () => `policy ${show(policy)}`)
    })
  }
}

async function byHand(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(2, 1000)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const limiter = createLimiter(policy, { store: world.store })
      const where = () => `policy ${show(policy)}`
      await limiter.block(KEY, { for: '1m' })
      const refused = await limiter.consume(KEY)
      same([refused.allowed, refused.reason, refused.retryAfterMs], [false, 'blocked', 60_000], where)
      same((await limiter.consume('other')).allowed, true, where)
      world.goTo(TODAY + 60 * SECOND)
      same((await limiter.peek(KEY)).allowed, true, where)
      await limiter.block(KEY, { for: '1m' })
      await limiter.reset(KEY)
      same((await limiter.consume(KEY)).allowed, true, where)
    })
  }
}
