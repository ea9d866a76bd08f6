import { createLimiter } from '../../limiter/create.ts'
import { type Case, holds, same, show } from './case.ts'
import { Gate } from './gate.ts'
import { asModelled } from './held-model.ts'
import { bucketsOf, ofEveryRateKind } from './policies.ts'
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
  ]
}

/** Policies of 10 a minute, each in a world of its own, at a moment early in every window. */
async function inEach(bench: Bench, use: (gate: Gate, world: World, where: () => string) => Promise<void>) {
  for (const policy of ofEveryRateKind(10, MINUTE / 1000)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const gate = new Gate(world, policy)
      await use(gate, world, () => `policy ${show(policy)}, ${world.now - TODAY} ticks on`)
    })
  }
}

async function settled(bench: Bench): Promise<void> {
  for (const after of [0, 1, MINUTE / 4, 100 * MINUTE]) {
    await inEach(bench, async (gate, world, where) => {
      const charge = await gate.reserve(KEY, 8, 200 * MINUTE)
      same([charge.allowed, charge.remaining], [true, 2], where)
      world.goTo(TODAY + after)
      same(await gate.settle(charge, 3), 3, where)
      same((await gate.peek(KEY)).remaining, 7, where)
      const next = await gate.reserve(KEY, 5, 200 * MINUTE)
      same(await gate.settle(next, 0), 0, where)
      same((await gate.peek(KEY)).remaining, 7, where)
    })
  }
}

/** A bucket that looks dry is not, if a reservation has expired on it meanwhile. */
async function unasked(bench: Bench): Promise<void> {
  for (const policy of bucketsOf(10, { count: 1, periodMs: 1000 })) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const gate = new Gate(world, policy)
      await gate.consume(KEY, 6)
      await gate.reserve(KEY, 4, 1_000_000)
      world.goTo(TODAY + 8_000_000)
      const other = new Gate(world, policy, { path: 'other' })
      for (let n = 0; n < bench.times(5000); n++) await other.peek('another')
      same((await gate.peek(KEY)).remaining, 8, () => `policy ${show(policy)}, 6 used and 4 reserved for a second`)
    })
  }
}

async function doesNotDrain(bench: Bench): Promise<void> {
  await inEach(bench, async (gate, world, where) => {
    await gate.consume(KEY, 2)
    for (const cost of [3, 4]) await gate.reserve(KEY, cost, 50 * MINUTE)
    for (const minutes of [0, 2, 10, 49]) {
      world.goTo(TODAY + minutes * MINUTE)
      const { remaining } = await gate.peek(KEY)
      same(remaining, minutes === 0 ? 1 : 3, where)
      same((await gate.peek(KEY, remaining + 1)).allowed, false, where)
    }
  })
}

async function expired(bench: Bench): Promise<void> {
  await inEach(bench, async (gate, world, where) => {
    const charge = await gate.reserve(KEY, 8, 10 * MINUTE)
    world.goTo(TODAY + 10 * MINUTE - 1)
    same((await gate.peek(KEY)).remaining, 2, where)
    world.goTo(TODAY + 10 * MINUTE)
    same((await gate.peek(KEY)).remaining, 2, where)
    const before = await gate.look(KEY)
    same([await gate.settle(charge, 1), await gate.settle(charge, 5)], [8, 8], where)
    same(await gate.look(KEY), before, where)
    world.goTo(TODAY + 12 * MINUTE)
    same((await gate.peek(KEY)).remaining, 10, where)
  })
}

async function overdrawn(bench: Bench): Promise<void> {
  await inEach(bench, async (gate, world, where) => {
    const small = await gate.reserve(KEY, 4, MINUTE)
    same(await gate.settle(small, 7), 7, where)
    same((await gate.peek(KEY)).remaining, 3, where)
    const charge = await gate.reserve(KEY, 2, MINUTE)
    same(await gate.settle(charge, 1000), 13, where)
    const over = await gate.peek(KEY)
    same([over.allowed, over.remaining], [false, 0], where)
    world.goTo(over.retryAt - 1)
    same((await gate.peek(KEY)).allowed, false, where)
    world.goTo(over.retryAt)
    same((await gate.peek(KEY)).allowed, true, where)
    holds(world.now <= TODAY + 3 * MINUTE, 'one whole again within three windows', world.now - TODAY, where)
  })
}

async function dropped(bench: Bench): Promise<void> {
  await inEach(bench, async (gate, world, where) => {
    const held = await gate.reserve(KEY, 6, MINUTE)
    const before = await gate.look(KEY)
    same((await gate.reserve(KEY, 5, MINUTE)).allowed, false, where)
    same(await gate.look(KEY), before, where)
    await gate.reset(KEY)
    same(await gate.settle(held, 6), 0, where)
    same((await gate.peek(KEY)).remaining, 10, where)
    const limiter = createLimiter(gate.policy, { store: world.store, name: 'other' })
    const reservation = await limiter.reserve(KEY, { cost: 6, ttl: '1m' })
    same(await reservation.cancel(), { reserved: 6, charged: 0, overdrawn: false }, where)
    same(await reservation.settle(6), { reserved: 6, charged: 0, overdrawn: false }, where)
    same((await limiter.peek(KEY)).remaining, 10, where)
    await limiter.refund((await limiter.reserve(KEY, { cost: 6, ttl: '1m' })).decision)
    same((await limiter.peek(KEY)).remaining, 10, where)
  })
}
