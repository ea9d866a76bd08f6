import type { Rate } from '../../duration.ts'
import type { Policy } from '../../policy.ts'
import type { Charge } from '../../stores/charge.ts'
import { type Admitted, envelopeViolation } from '../envelope.ts'
import { limitOf } from '../oracle/oracle.ts'
import { rhythmOf } from '../oracle/rhythm.ts'
import { random } from '../trace.ts'
import { type Case, holds, same, show } from './case.ts'
import { bucketsOf } from './policies.ts'
import { StoredLimit } from './stored-limit.ts'
import { type Bench, TODAY } from './world.ts'

const KEY = 'user:42'
const NEVER = 2 ** 47

export function bookingCases(bench: Bench): Case[] {
  return [
    { name: 'booked requests start within the envelope of their bucket', run: () => keepsEnvelope(bench) },
    { name: 'nobody overtakes a booking', run: () => noOvertaking(bench) },
    { name: 'a leaky bucket starts its queue one by one, at its rate from the first on', run: () => oneByOne(bench) },
    { name: 'a booking that would start too late is refused and takes nothing', run: () => tooLate(bench) },
    { name: 'a booking does not start on what a reservation holds', run: () => besideHeld(bench) },
    { name: 'a booking taken back is as if never made', run: () => unbooked(bench) },
  ]
}

const RATES: readonly Rate[] = [
  { count: 10, periodMs: 1000 },
  { count: 1, periodMs: 86_400_000 },
  { count: 7, periodMs: 1000 },
  { count: 999_983, periodMs: 1000 },
]
const POLICIES = [1, 2, 5].flatMap(limit => RATES.flatMap(rate => bucketsOf(limit, rate)))
/**
 * A leaky bucket starts requests at a fixed interval, rounded up to a tick. If the interval is not a whole number of
 * ticks, two starts may be a fraction of a tick too near, so those policies are left out.
 */
const ON_TICKS = POLICIES.filter(policy => policy.kind !== 'leakyBucket' || 1_000_000 % policy.leak.count === 0)

async function keepsEnvelope(bench: Bench): Promise<void> {
  for (let seed = 0; seed < bench.times(6 * ON_TICKS.length); seed++) {
    await bench.inWorld(async world => {
      const rng = random(seed)
      const stored = new StoredLimit(world, ON_TICKS[seed % ON_TICKS.length]!)
      const { interval } = rhythmOf(stored.policy)
      const started: Admitted[] = []
      world.goTo(TODAY)
      for (let n = 0; n < 80; n++) {
        if (rng() < 0.4) world.goTo(world.now + Math.floor(rng() * 2 * interval))
        const cost = rng() < 0.7 ? 1 : 1 + Math.floor(rng() * limitOf(stored.policy))
        const bookTicks = Math.floor(rng() * 5 * interval)
        const charge = rng() < 0.6 ? await stored.book(KEY, cost, bookTicks) : await stored.consume(KEY, cost)
        if (!charge.allowed) continue
        const at = Math.max(world.now, charge.retryAt)
        const where = () =>
          `seed ${seed}, policy ${show(stored.policy)}, booking ${n} within ${bookTicks} at ${world.now}`
        holds(at <= world.now + bookTicks || charge.retryAt === 0, 'a start in time', charge.retryAt, where)
        started.push({ at, cost })
      }
      started.sort((a, b) => a.at - b.at)
      same(envelopeViolation(stored.policy, started), undefined, () => `seed ${seed}, policy ${show(stored.policy)}`)
    })
  }
}

/** Leaves leaky buckets out, because their `consume` joins the queue and does not start a request. */
async function noOvertaking(bench: Bench): Promise<void> {
  for (const policy of POLICIES.filter(({ kind }) => kind !== 'leakyBucket')) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy)
      let last = 0
      for (let n = 0; n < 10; n++) last = (await stored.book(KEY, 1, NEVER)).retryAt
      const where = () => `policy ${show(policy)}, the last of ten booked for ${last - TODAY} ticks on`
      const refused = await stored.consume(KEY)
      holds(
        !refused.allowed && refused.retryAt > last,
        'a refusal until after the last booking',
        refused.retryAt,
        where,
      )
      world.goTo(last)
      same((await stored.consume(KEY)).allowed, false, where)
      world.goTo(refused.retryAt)
      same((await stored.consume(KEY)).allowed, true, where)
    })
  }
}

async function oneByOne(bench: Bench): Promise<void> {
  for (const rate of RATES) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, { kind: 'leakyBucket', capacity: 100, leak: rate })
      for (let n = 0; n < 100; n++) {
        const { allowed, retryAt } = await stored.book(KEY, 1, NEVER)
        const exact = Number((BigInt(n) * BigInt(rate.periodMs * 1000) + BigInt(rate.count) - 1n) / BigInt(rate.count))
        same([allowed, Math.max(TODAY, retryAt) - TODAY], [true, exact], () => `rate ${show(rate)}, start ${n}`)
      }
      same((await stored.book(KEY, 1, NEVER)).allowed, false, () => `rate ${show(rate)}, a full queue`)
    })
  }
}

async function tooLate(bench: Bench): Promise<void> {
  const second: Rate = { count: 1, periodMs: 1000 }
  for (const policy of bucketsOf(3, second)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy)
      const where = () => `policy ${show(policy)}`
      await stored.consume(KEY, policy.kind === 'leakyBucket' ? 2 : 3)
      const startTicks = policy.kind === 'leakyBucket' ? 2_000_000 : 1_000_000
      const before = await stored.look(KEY)
      same(taken(await stored.book(KEY, 1, startTicks - 1)), [false, false], where)
      same(taken(await stored.book(KEY, 4, NEVER)), [false, false], where)
      same(await stored.look(KEY), before, where)
      const booked = await stored.book(KEY, 1, startTicks)
      same([...taken(booked), booked.retryAt], [true, true, TODAY + startTicks], where)
    })
  }
}

async function besideHeld(bench: Bench): Promise<void> {
  for (const policy of bucketsOf(10, { count: 1, periodMs: 60_000 })) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy)
      await stored.consume(KEY, 4)
      await stored.reserve(KEY, 3, 1_000_000)
      const where = () => `policy ${show(policy)}, 4 beside 4 used and 3 held of 10`
      same(taken(await stored.book(KEY, 4, 0)), [false, false], where)
    })
  }
}

const taken = (charge: Charge): boolean[] => [charge.allowed, charge.taken]

async function unbooked(bench: Bench): Promise<void> {
  for (const policy of POLICIES.filter((one: Policy) => limitOf(one) >= 2)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy)
      await stored.book(KEY, 1, NEVER)
      if (policy.kind !== 'leakyBucket') for (let n = 0; n < 4; n++) await stored.book(KEY, 2, NEVER)
      const before = await stored.look(KEY)
      const charge = await stored.book(KEY, 1, NEVER)
      for (let n = 0; n < 2; n++) await stored.amend({ type: 'unbook', charge })
      same(await stored.look(KEY), before, () => `policy ${show(policy)}`)
    })
  }
}
