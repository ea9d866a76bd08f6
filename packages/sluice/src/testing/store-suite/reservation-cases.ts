import { createLimiter } from '../../limiter/create.ts'
import type { Charge } from '../../stores/charge.ts'
import { MOST_HOLDS } from '../../stores/store.ts'
import { type Case, holds, same, show } from './case.ts'
import { asModelled } from './held-model.ts'
import { bucketsOf, ofEveryRateKind } from './policies.ts'
import { StoredLimit } from './stored-limit.ts'
import { type Bench, TODAY, type World } from './world.ts'

const KEY = 'user:42'
const MINUTE = 60_000_000

export function reservationCases(bench: Bench): Case[] {
  return [
    { name: 'reservations among charges, credits and refunds do as their model does', run: () => asModelled(bench) },
    { name: 'settling gives back all of reserved − actual, however much time has passed', run: () => settled(bench) },
    { name: 'what a reservation cost is counted however long nobody asks', run: () => unasked(bench) },
    { name: 'what is held does not drain', run: () => doesNotDrain(bench) },
    {
      name: 'an expired reservation costs what was reserved, and settling it again changes nothing',
      run: () => expired(bench),
    },
    { name: 'more than reserved is charged, up to one limit over', run: () => overdrawn(bench) },
    {
      name: 'a refused reservation holds nothing; a reset, a cancel or a refund drops what is held',
      run: () => dropped(bench),
    },
    {
      name: 'a reservation of cost 0 holds nothing: settling it in time is a charge, and later it is none',
      run: () => ofNothing(bench),
    },
    { name: 'beside more reservations than are played through, no retry is too late', run: () => besideMany(bench) },
    { name: 'a key has so many reservations and no more, and is told when one expires', run: () => tooMany(bench) },
  ]
}

/** Runs `use` for policies of 10 a minute, each with a fresh store, at a moment early in every window. */
async function inEach(bench: Bench, use: (stored: StoredLimit, world: World, where: () => string) => Promise<void>) {
  for (const policy of ofEveryRateKind(10, MINUTE / 1000)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy)
      await use(stored, world, () => `policy ${show(policy)}, ${world.now - TODAY} ticks on`)
    })
  }
}

async function settled(bench: Bench): Promise<void> {
  for (const after of [0, 1, MINUTE / 4, 100 * MINUTE]) {
    await inEach(bench, async (stored, world, where) => {
      const charge = await stored.reserve(KEY, 8, 200 * MINUTE)
      same([charge.allowed, charge.remaining], [true, 2], where)
      world.goTo(TODAY + after)
      same(await stored.settle(charge, 3), 3, where)
      same((await stored.peek(KEY)).remaining, 7, where)
      const next = await stored.reserve(KEY, 5, 200 * MINUTE)
      same(await stored.settle(next, 0), 0, where)
      same((await stored.peek(KEY)).remaining, 7, where)
    })
  }
}

/** A bucket may look empty until an expired reservation is charged to it. A sweep must not forget its key before. */
async function unasked(bench: Bench): Promise<void> {
  for (const policy of bucketsOf(10, { count: 1, periodMs: 1000 })) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy)
      await stored.consume(KEY, 6)
      await stored.reserve(KEY, 4, 1_000_000)
      world.goTo(TODAY + 8_000_000)
      const other = new StoredLimit(world, policy, { path: 'other' })
      for (let n = 0; n < bench.times(5000); n++) await other.peek('another')
      same((await stored.peek(KEY)).remaining, 8, () => `policy ${show(policy)}, 6 used and 4 reserved for a second`)
    })
  }
}

async function doesNotDrain(bench: Bench): Promise<void> {
  await inEach(bench, async (stored, world, where) => {
    await stored.consume(KEY, 2)
    for (const cost of [3, 4]) await stored.reserve(KEY, cost, 50 * MINUTE)
    for (const minutes of [0, 2, 10, 49]) {
      world.goTo(TODAY + minutes * MINUTE)
      const { remaining } = await stored.peek(KEY)
      same(remaining, minutes === 0 ? 1 : 3, where)
      same((await stored.peek(KEY, remaining + 1)).allowed, false, where)
    }
  })
}

async function expired(bench: Bench): Promise<void> {
  await inEach(bench, async (stored, world, where) => {
    const charge = await stored.reserve(KEY, 8, 10 * MINUTE)
    world.goTo(TODAY + 10 * MINUTE - 1)
    same((await stored.peek(KEY)).remaining, 2, where)
    world.goTo(TODAY + 10 * MINUTE)
    same((await stored.peek(KEY)).remaining, 2, where)
    const before = await stored.look(KEY)
    same([await stored.settle(charge, 1), await stored.settle(charge, 5)], [8, 8], where)
    same(await stored.look(KEY), before, where)
    world.goTo(TODAY + 12 * MINUTE)
    same((await stored.peek(KEY)).remaining, 10, where)
  })
}

async function overdrawn(bench: Bench): Promise<void> {
  await inEach(bench, async (stored, world, where) => {
    const small = await stored.reserve(KEY, 4, MINUTE)
    same(await stored.settle(small, 7), 7, where)
    same((await stored.peek(KEY)).remaining, 3, where)
    const charge = await stored.reserve(KEY, 2, MINUTE)
    same(await stored.settle(charge, 1000), 13, where)
    const over = await stored.peek(KEY)
    same([over.allowed, over.remaining], [false, 0], where)
    world.goTo(over.retryAt - 1)
    same((await stored.peek(KEY)).allowed, false, where)
    world.goTo(over.retryAt)
    same((await stored.peek(KEY)).allowed, true, where)
    holds(world.now <= TODAY + 3 * MINUTE, 'one is back within three windows', world.now - TODAY, where)
  })
}

async function dropped(bench: Bench): Promise<void> {
  await inEach(bench, async (stored, world, where) => {
    const held = await stored.reserve(KEY, 6, MINUTE)
    const before = await stored.look(KEY)
    same((await stored.reserve(KEY, 5, MINUTE)).allowed, false, where)
    same(await stored.look(KEY), before, where)
    await stored.reset(KEY)
    same(await stored.settle(held, 6), 0, where)
    same((await stored.peek(KEY)).remaining, 10, where)
    const limiter = createLimiter(stored.policy, { store: world.store, name: 'other' })
    const reservation = await limiter.reserve(KEY, { cost: 6, ttl: '1m' })
    same(await reservation.cancel(), { reserved: 6, charged: 0, overdrawn: false }, where)
    same(await reservation.settle(6), { reserved: 6, charged: 0, overdrawn: false }, where)
    same((await limiter.peek(KEY)).remaining, 10, where)
    await limiter.refund((await limiter.reserve(KEY, { cost: 6, ttl: '1m' })).decision)
    same((await limiter.peek(KEY)).remaining, 10, where)
  })
}

async function ofNothing(bench: Bench): Promise<void> {
  await inEach(bench, async (stored, world, where) => {
    const [used, late, reset] = [0, 0, 0].map(cost => stored.reserve(KEY, cost, MINUTE))
    same((await stored.peek(KEY)).resetAt, world.now, where)
    same([await stored.settle(await used!, 4), await stored.settle(await used!, 5)], [4, 4], where)
    same((await stored.peek(KEY)).remaining, 6, where)
    await stored.reset(KEY)
    same(await stored.settle(await reset!, 3), 0, where)
    world.goTo(TODAY + MINUTE)
    same(await stored.settle(await late!, 3), 0, where)
    const [over, more] = [await stored.reserve(KEY, 0, MINUTE), await stored.reserve(KEY, 0, MINUTE)]
    same([await stored.settle(over, 1000), await stored.settle(more, 1)], [20, 0], where)
  })
}

/** Many reservations expire one after another. No request passes before a `retryAt` that the store returns. */
async function besideMany(bench: Bench): Promise<void> {
  for (const policy of ofEveryRateKind(100, MINUTE / 1000)) {
    await bench.inWorld(async world => {
      const start = world.goTo(TODAY)
      const stored = new StoredLimit(world, policy)
      const where = () => `policy ${show(policy)}, ${world.now - start} ticks on`
      for (let n = 1; n <= 100; n++) same((await stored.reserve(KEY, 1, n * MINUTE)).allowed, true, where)
      let refused = await stored.peek(KEY, 60)
      holds(refused.resetAt > start + 100 * MINUTE, 'a reset after the last expiry', refused.resetAt, where)
      for (let asked = 0; !refused.allowed; asked++) {
        holds(asked < 10, 'a cost that passes after a few retries', asked, where)
        world.goTo(refused.retryAt - 1)
        same((await stored.peek(KEY, 60)).allowed, false, where)
        world.goTo(refused.retryAt)
        refused = await stored.peek(KEY, 60)
      }
      holds(world.now >= start + 59 * MINUTE, 'no room before 60 have expired', world.now - start, where)
    })
  }
}

async function tooMany(bench: Bench): Promise<void> {
  await bench.inWorld(async world => {
    world.goTo(TODAY)
    const [policy] = bucketsOf(2 * MOST_HOLDS, { count: 1, periodMs: 1000 })
    const stored = new StoredLimit(world, policy!)
    const ttl = (n: number) => MINUTE + ((n * 7919) % MOST_HOLDS)
    const charges: Charge[] = []
    for (let n = 0; n < MOST_HOLDS; n += 256) {
      const some = Array.from({ length: 256 }, (_, i) => stored.reserve(KEY, 1, ttl(n + i)))
      charges.push(...(await Promise.all(some)))
    }
    same(charges.filter(charge => charge.allowed).length, MOST_HOLDS, () => 'up to the cap')
    const before = await stored.look(KEY)
    const refused = await stored.reserve(KEY, 1, MINUTE)
    same([refused.allowed, refused.tooManyHolds, refused.retryAt], [false, true, TODAY + MINUTE], () => 'one more')
    same(await stored.look(KEY), before, () => 'the refused one')
    same((await stored.reserve(KEY, 0, MINUTE)).allowed, true, () => 'one of cost 0')
    same((await stored.consume(KEY, 1)).allowed, true, () => 'what is not reserved')
    same((await stored.reserve('another', 1, MINUTE)).allowed, true, () => 'another key')
    same(await stored.settle(charges[99]!, 0), 0, () => 'the hundredth')
    same((await stored.reserve(KEY, 1, ttl(99))).allowed, true, () => 'in its place')
    world.goTo(TODAY + MINUTE)
    same((await stored.reserve(KEY, 1, MINUTE)).allowed, true, () => 'when the first has expired')
  })
}
