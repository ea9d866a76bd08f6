import type { Policy } from '../../policy.ts'
import { limitOf } from '../oracle/oracle.ts'
import { DAY_MS, KINDS, random } from '../trace.ts'
import { type Case, same, show } from './case.ts'
import { bucketsOf, modestPolicy, ofEveryKind, windowsOf } from './policies.ts'
import { StoredLimit } from './stored-limit.ts'
import { Witness } from './witness.ts'
import { type Bench, TODAY } from './world.ts'

const KEY = 'user:42'
const HOUR = 3_600_000_000

export function timeCases(bench: Bench): Case[] {
  return [
    { name: 'windows from a millisecond to 366 days keep their length (law 7)', run: () => anyWindow(bench) },
    { name: 'a key that comes back after any silence finds what time has refilled (law 7)', run: () => silence(bench) },
    { name: 'rates from one a day to a million a second do not drift (law 7)', run: () => anyRate(bench) },
    {
      name: 'while nothing is consumed resetAt stays where it is until it has passed (law 9)',
      run: () => steady(bench),
    },
    { name: 'after a clock was ahead for a moment time goes on (laws 3 and 6)', run: () => aheadForAMoment(bench) },
  ]
}

const WINDOWS_MS = [1, 1.001, 7, 250, 1000, 60_000, DAY_MS, 30 * DAY_MS, 366 * DAY_MS]

async function anyWindow(bench: Bench): Promise<void> {
  for (const windowMs of WINDOWS_MS) {
    for (const policy of ofEveryKind(3, windowMs)) {
      await bench.inWorld(async world => {
        world.goTo(TODAY)
        const witness = new Witness(new StoredLimit(world, policy), KEY, `window ${windowMs} ms`)
        for (let n = 0; n < 20; n++) {
          const charge = await witness.consume(n % 3 === 2 ? 2 : 1)
          if (charge.allowed) continue
          world.goTo(charge.retryAt - 1)
          await witness.consume(charge.cost)
          world.goTo(charge.retryAt)
          await witness.consume(charge.cost)
        }
      })
    }
  }
}

/**
 * Count, period, capacity. Where a rate has no whole interval, a capacity above 1 keeps it exact at one call a tick.
 */
const RATES: readonly (readonly [count: number, periodMs: number, capacity: number])[] = [
  [1, DAY_MS, 1],
  [3, DAY_MS, 2],
  [5000, 3_600_000, 10],
  [7, 1000, 2],
  [10, 1000, 1],
  [333_333, 1000, 2],
  [999_983, 1000, 5],
  [1_000_000, 1000, 1],
]

async function anyRate(bench: Bench): Promise<void> {
  const n = bench.times(1000)
  for (const [count, periodMs, capacity] of RATES) {
    for (const policy of bucketsOf(capacity, { count, periodMs })) {
      const elapsed = await elapsedAfter(bench, policy, capacity + n)
      const exact = (BigInt(n) * BigInt(periodMs * 1000) + BigInt(count) - 1n) / BigInt(count)
      same(BigInt(elapsed), exact, () => `ticks from a full burst to ${n} later, policy ${show(policy)}`)
    }
  }
  for (const policy of windowsOf(7, 250)) {
    if (policy.kind === 'slidingWindow' || (policy.kind === 'fixedWindow' && policy.align !== 'first')) continue
    const elapsed = await elapsedAfter(bench, policy, n)
    same(elapsed, Math.floor((n - 1) / 7) * 250_000, () => `ticks for ${n}, policy ${show(policy)}`)
  }
}

/** Pauses of up to nine years: in that time a fast rate drains more units than a double can count exactly. */
async function silence(bench: Bench): Promise<void> {
  const pauses = [1, 250_000, ...[1, 2, 5, 24, 24 * 30, 24 * 366, 24 * 366 * 9].map(hours => hours * 3_600_000_000)]
  const buckets = RATES.flatMap(([count, periodMs, capacity]) => bucketsOf(capacity, { count, periodMs }))
  for (const [seed, policy] of [...buckets, ...ofEveryKind(3, DAY_MS / 4)].entries()) {
    await bench.inWorld(async world => {
      const rng = random(seed)
      const stored = new StoredLimit(world, policy)
      const keys = ['a', 'b', 'c'].map(key => new Witness(stored, key, `silence ${seed}`))
      let at = TODAY
      for (let n = 0; n < 60; n++) {
        at += rng() < 0.3 ? pauses[Math.floor(rng() * pauses.length)]! : 0
        await keys[Math.floor(rng() * 3)]!.play({ at, op: rng() < 0.2 ? 'peek' : 'consume', cost: 1 })
      }
    })
  }
}

/** How many ticks n admissions take if each is asked for as soon as it may pass. */
async function elapsedAfter(bench: Bench, policy: Policy, n: number): Promise<number> {
  let elapsed = 0
  await bench.inWorld(async world => {
    world.goTo(TODAY)
    const stored = new StoredLimit(world, policy)
    for (let admitted = 0; admitted < n; admitted++) {
      const charge = await stored.consume(KEY)
      if (charge.allowed) continue
      world.goTo(charge.retryAt)
      same((await stored.consume(KEY)).allowed, true, () => `admission ${admitted} at ${world.now}, ${show(policy)}`)
    }
    elapsed = world.now - TODAY
  })
  return elapsed
}

async function steady(bench: Bench): Promise<void> {
  for (let seed = 0; seed < bench.times(210); seed++) {
    await bench.inWorld(async world => {
      const rng = random(seed)
      const stored = new StoredLimit(world, modestPolicy(rng, KINDS[seed % KINDS.length]!))
      const limit = limitOf(stored.policy)
      world.goTo(TODAY + Math.floor(rng() * 1e9))
      for (let n = 0; n < 4; n++) {
        const { resetAt } = await stored.consume(KEY)
        world.goTo(world.now + Math.floor((rng() * (resetAt - world.now)) / 2))
      }
      const { resetAt } = await stored.peek(KEY, 0)
      const where = () => `seed ${seed}, policy ${show(stored.policy)}, at ${world.now}`
      for (let n = 0; n < 10; n++) {
        const at = world.now + Math.floor(rng() * (resetAt - world.now))
        world.goTo(Math.min(at, resetAt))
        same((await stored.peek(KEY, 1)).resetAt, resetAt, where)
        same((await stored.consume(KEY, limit + 1)).resetAt, resetAt, where)
      }
      world.goTo(resetAt)
      const whole = await stored.peek(KEY, limit)
      same([whole.allowed, whole.remaining, whole.resetAt], [true, limit, resetAt], where)
      world.goTo(resetAt + 1)
      same((await stored.peek(KEY, 1)).resetAt, resetAt + 1, where)
    })
  }
}

/** Cost used while the clock was ahead stays used, and it does not stay used for longer because the clock was ahead. */
async function aheadForAMoment(bench: Bench): Promise<void> {
  for (const policy of [...ofEveryKind(3, 60_000), ...ofEveryKind(3, DAY_MS)]) {
    for (const ahead of [HOUR, 365 * 24 * HOUR]) {
      await bench.inWorld(async world => {
        const stored = new StoredLimit(world, policy)
        const where = () => `policy ${show(policy)}, a clock that was ${ahead} ticks ahead`
        world.goTo(TODAY)
        await stored.consume(KEY, 3)
        world.goTo(TODAY + ahead)
        await stored.consume(KEY, 3)
        world.goTo(TODAY)
        const { allowed, at, retryAt } = await stored.consume(KEY)
        same(allowed, false, where)
        world.goTo(TODAY + retryAt - at - 1)
        same((await stored.consume(KEY)).allowed, false, where)
        world.goTo(TODAY + retryAt - at)
        same((await stored.consume(KEY)).allowed, true, where)
      })
    }
  }
}
