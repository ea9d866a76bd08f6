import { DAY_MS, random } from '../trace.ts'
import { type Case, holds } from './case.ts'
import { bucketsOf, ofEveryKind } from './policies.ts'
import { keysIn } from './room-cases.ts'
import { StoredLimit } from './stored-limit.ts'
import { Witness } from './witness.ts'
import { type Bench, TODAY } from './world.ts'

export function crowdCases(bench: Bench): Case[] {
  return [
    { name: 'ten thousand keys by turns are each counted by themselves', run: () => byTurns(bench) },
    { name: 'keys come through when the tables grow and split', run: () => growing(bench) },
    { name: 'keys are forgotten when that cannot be noticed, and then indeed (law 8)', run: () => forgotten(bench) },
  ]
}

async function byTurns(bench: Bench): Promise<void> {
  await bench.inWorld(async world => {
    const rng = random(1)
    const wide = { kind: 'slidingWindow', limit: 3, windowMs: 10_200, buckets: 60 } as const
    const limits = [...ofEveryKind(3, 10_000), wide].map(
      (policy, i) => new StoredLimit(world, policy, { path: `limit ${i}` }),
    )
    const count = bench.times(10_000)
    const crowd = Array.from(
      { length: count },
      (_, n) => new Witness(limits[n % limits.length]!, `key ${n}`, 'a crowd'),
    )
    let at = TODAY
    for (let n = 0; n < 4 * count; n++) {
      at += Math.floor(rng() * 3000)
      const op = rng() < 0.1 ? 'refund' : rng() < 0.2 ? 'peek' : 'consume'
      await crowd[Math.floor(rng() * count)]!.play({ at, op, cost: 1 + Math.floor(rng() * 3), of: n & 1 })
    }
  })
}

/**
 * With a fast rate, a store that counts units from an origin must move the origin about every hour. Here that happens
 * while the table grows. The keys come so fast that the store forgets none of them meanwhile.
 */
async function growing(bench: Bench): Promise<void> {
  await bench.inWorld(async world => {
    const stored = new StoredLimit(world, bucketsOf(10_000, { count: 999_983, periodMs: DAY_MS })[0]!)
    world.goTo(TODAY)
    await stored.consume('the first', 1)
    const crowd = Array.from(
      { length: bench.times(60_000) },
      (_, n) => new Witness(stored, `key ${n}`, 'a large crowd'),
    )
    const start = TODAY + 4_500_000_000
    for (const [n, witness] of crowd.entries()) {
      await witness.play({ at: start + n * 10_000, op: 'consume', cost: 9000 + (n % 1000) })
    }
    for (const witness of crowd) await witness.peek(1)
  })
}

async function forgotten(bench: Bench): Promise<void> {
  await bench.inWorld(async world => {
    const rng = random(2)
    const limits = ofEveryKind(3, 1000).map((policy, i) => new StoredLimit(world, policy, { path: `limit ${i}` }))
    const count = bench.times(3000)
    const crowd = Array.from({ length: count }, (_, n) => new Witness(limits[n % limits.length]!, `key ${n}`, 'idling'))
    let at = TODAY
    for (let n = 0; n < 5 * count; n++) {
      // Long pauses make all keys idle, and many calls between the pauses let the store sweep.
      at += rng() < 0.001 ? 3_000_000 : Math.floor(rng() * 500)
      await crowd[Math.floor(rng() * count)]!.play({ at, op: 'consume', cost: 1 + Math.floor(rng() * 3) })
    }
    if (keysIn(world) === undefined) return
    world.goTo(at + 10_000_000)
    for (let n = 0; n < 8 * count; n++) await limits[0]!.peek('nobody')
    holds(keysIn(world)! <= 1, 'none of them kept', keysIn(world), () => `keys held long after ${count} fell silent`)
  })
}
