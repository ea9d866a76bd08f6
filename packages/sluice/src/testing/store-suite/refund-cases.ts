import { createLimiter } from '../../limiter/create.ts'
import type { Charge } from '../../stores/charge.ts'
import { limitOf } from '../oracle/oracle.ts'
import { KINDS, random } from '../trace.ts'
import { type Case, holds, same, show } from './case.ts'
import { modestPolicy, ofEveryKind, ofEveryRateKind } from './policies.ts'
import { StoredLimit } from './stored-limit.ts'
import { type Bench, TODAY } from './world.ts'

const KEY = 'user:42'

export function refundCases(bench: Bench): Case[] {
  return [
    { name: 'a refund lets no more through than if the request had not happened (law 12)', run: () => asIfNot(bench) },
    { name: 'a charge taken back at once is as if never made (law 12)', run: () => atOnce(bench) },
    { name: 'a refund counts once, and not at all for a refused request (law 12)', run: () => once(bench) },
    { name: 'a refund of what a reset has forgotten gives nothing (law 12)', run: () => forgotten(bench) },
    { name: 'a credit, or a refund after one, never gives more than the limit (law 12)', run: () => clamped(bench) },
    { name: 'a reset forgets what was counted, and only that key', run: () => reset(bench) },
  ]
}

/**
 * Two keys make the same requests. One key makes an extra request and refunds it. From then on it must never have more
 * left than the other key. Both need the same windows, so windows that start with a key or a first use are left out: a
 * refunded request may have opened one, and that window stays open.
 */
async function asIfNot(bench: Bench): Promise<void> {
  for (let seed = 0; seed < bench.times(420); seed++) {
    await bench.inWorld(async world => {
      const rng = random(seed)
      const stored = new StoredLimit(world, modestPolicy(rng, KINDS[seed % (KINDS.length - 1)]!))
      if (stored.policy.kind === 'fixedWindow' && (stored.policy.align === 'first' || stored.policy.align === 'key'))
        return
      world.goTo(TODAY + Math.floor(rng() * 1e9))
      let extra: Charge | undefined
      for (let n = 0; n < 6; n++) {
        const { remaining, resetAt } = await stored.peek('with', 1)
        const cost = Math.floor(rng() * (remaining + 1))
        if (n === 2) extra = await stored.consume('with', cost)
        else if ((await stored.consume('with', cost)).allowed) await stored.consume('without', cost)
        world.goTo(world.now + Math.floor((rng() ** 2 * (resetAt - world.now)) / 2))
      }
      if (extra !== undefined) await stored.refund(extra)
      for (let n = 0; n < 8; n++) {
        const [one, other] = [await stored.peek('with', 1), await stored.peek('without', 1)]
        const where = () => `seed ${seed}, policy ${show(stored.policy)}, look ${n} at ${world.now}`
        holds(one.remaining <= other.remaining, `at most ${other.remaining}`, one.remaining, where)
        world.goTo(world.now + Math.floor((rng() ** 2 * Math.max(0, other.resetAt - world.now)) / 2))
      }
    })
  }
}

async function atOnce(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(10, 1001)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy)
      const before = await stored.look(KEY)
      await stored.refund(await stored.consume(KEY, 7))
      same(await stored.look(KEY), before, () => `policy ${show(policy)}, an untouched key`)
    })
  }
}

async function once(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(10, 1001)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy)
      const where = () => `policy ${show(policy)}`
      const [first, second] = [await stored.consume(KEY, 4), await stored.consume(KEY, 4)]
      const refused = await stored.consume(KEY, 4)
      await stored.refund(first)
      same((await stored.peek(KEY)).remaining, 6, where)
      const amounts = [await stored.refund(first), await stored.refund(refused)]
      same([(await stored.peek(KEY)).remaining, amounts], [6, [0, 0]], where)
      await stored.refund(second)
      same((await stored.peek(KEY)).remaining, 10, where)

      const limiter = createLimiter(policy, { store: world.store, name: 'other' })
      await limiter.consume(KEY, { cost: 2 })
      const decision = await limiter.consume(KEY, { cost: 3 })
      for (let n = 0; n < 3; n++) await limiter.refund(decision)
      same((await limiter.peek(KEY)).remaining, 8, where)
    })
  }
}

async function forgotten(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(10, 60_000)) {
    for (const ticks of [0, 1]) {
      await bench.inWorld(async world => {
        world.goTo(TODAY)
        const stored = new StoredLimit(world, policy)
        const where = () => `policy ${show(policy)}, a reset ${ticks} ticks after a charge of 4 and before one of 6`
        const before = await stored.consume(KEY, 4)
        world.goTo(TODAY + ticks)
        await stored.reset(KEY)
        const after = await stored.consume(KEY, 6)
        await stored.refund(before)
        same((await stored.peek(KEY)).remaining, 4, where)
        await stored.refund(after)
        same((await stored.peek(KEY)).remaining, 10, where)
      })
    }
  }
}

async function clamped(bench: Bench): Promise<void> {
  for (const policy of ofEveryRateKind(10, 1001)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy)
      const where = () => `policy ${show(policy)}`
      await stored.credit(KEY, 1000)
      await stored.consume(KEY, 3)
      await stored.credit(KEY, 2)
      same((await stored.peek(KEY)).remaining, 9, where)
      await stored.credit(KEY, 2 ** 47)
      await stored.credit(KEY, 5)
      same((await stored.peek(KEY)).remaining, 10, where)
      let admitted = 0
      while ((await stored.consume(KEY)).allowed && admitted <= limitOf(policy)) admitted++
      same(admitted, 10, where)
      await stored.credit(KEY, 10)
      const charge = await stored.consume(KEY, 6)
      await stored.credit(KEY, 4)
      await stored.refund(charge)
      await stored.consume(KEY, 3)
      same((await stored.peek(KEY)).remaining, 7, where)
    })
  }
}

async function reset(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(10, 1001)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy)
      const before = await stored.look(KEY)
      for (const key of [KEY, 'other']) await stored.consume(key, 10)
      await stored.reset(KEY)
      same(await stored.look(KEY), before, () => `policy ${show(policy)}`)
      same((await stored.peek('other')).remaining, 0, () => `policy ${show(policy)}, another key`)
    })
  }
}
