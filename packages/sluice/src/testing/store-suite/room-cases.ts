import type { Policy } from '../../policy.ts'
import { DAY_MS, random } from '../trace.ts'
import { type Case, holds, same, show } from './case.ts'
import { bucketsOf, ofEveryKind } from './policies.ts'
import { StoredLimit } from './stored-limit.ts'
import { Witness } from './witness.ts'
import { type Bench, TODAY, type World } from './world.ts'

/** A full table has this many keys. For each limit, all other keys share at most `POOLS` buckets. */
const MAX_KEYS = 64
const POOLS = 4096
const HOUR_MS = 3_600_000

export function roomCases(bench: Bench): Case[] {
  return [
    { name: 'an exhausted key stays so whatever 5,000 other keys do (law 8)', run: () => staysExhausted(bench) },
    { name: 'invented keys get no more from a full table than its pools hold (law 8)', run: () => bounded(bench) },
    { name: 'a key that leaves its pool takes the state of the pool along (law 8)', run: () => leavesPool(bench) },
    { name: 'a full table never admits what one with room would refuse (law 8)', run: () => neverMore(bench) },
  ]
}

/** How many keys a store holds; undefined if it keeps its keys elsewhere and so has no table to fill. */
export function keysIn({ store }: World): number | undefined {
  return 'stats' in store ? (store as unknown as { stats(): { keys: number } }).stats().keys : undefined
}

/** Runs `use` for each policy with a store that is full for `fullMs`. The keys of `filler` take up all room. */
async function whenFull(
  bench: Bench,
  policies: readonly Policy[],
  fullMs: number,
  use: (stored: StoredLimit, world: World, filler: StoredLimit) => Promise<void>,
): Promise<void> {
  for (const policy of policies) {
    const inFull = async (world: World) => {
      if (keysIn(world) === undefined) return
      world.goTo(TODAY)
      // The filler is a bucket, because a key of another kind may take the room of several.
      const [dry] = bucketsOf(1, { count: 1, periodMs: fullMs })
      const filler = new StoredLimit(world, dry!, { path: 'filler' })
      for (let n = 0; n < MAX_KEYS; n++) await filler.consume(`filler ${n}`)
      same(keysIn(world), MAX_KEYS, () => `keys held after ${MAX_KEYS} came`)
      await use(new StoredLimit(world, policy), world, filler)
    }
    await bench.inWorld(inFull, { maxKeys: MAX_KEYS })
  }
}

/** Asks without taking until the store has swept the idle keys of the filler. */
async function makeRoom(filler: StoredLimit): Promise<void> {
  const { world } = filler
  for (let n = 0; n < 1000; n++) await filler.peek('nobody')
  holds(keysIn(world)! < MAX_KEYS, 'room again', keysIn(world), () => 'keys held after the others fell idle')
}

async function staysExhausted(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(3, HOUR_MS)) {
    const inSmall = async (world: World) => {
      if (keysIn(world) === undefined) return
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy)
      await stored.consume('early', 3)
      for (let n = 0; n < 5000; n++) {
        if (n === 2500) while ((await stored.consume('late')).allowed);
        await stored.consume(`key ${n}`, 1 + (n % 3))
        world.goTo(TODAY + n)
      }
      // The other keys are reset, too; a key that shares a pool with them keeps what it used. Keys in pools are reset
      // first: resetting a key outside the pools makes room, and then the pools are emptied.
      for (let n = 4999; n >= 0; n--) await stored.reset(`key ${n}`)
      for (const key of ['early', 'late']) {
        same((await stored.consume(key)).allowed, false, () => `policy ${show(policy)}, the ${key} key`)
      }
    }
    await bench.inWorld(inSmall, { maxKeys: MAX_KEYS })
  }
}

async function bounded(bench: Bench): Promise<void> {
  await whenFull(bench, ofEveryKind(3, HOUR_MS), 1000, async stored => {
    let admitted = 0
    for (let n = 0; n < 4 * POOLS; n++) if ((await stored.consume(`key ${n}`, 3)).allowed) admitted++
    holds(admitted <= POOLS, `at most ${POOLS} keys served`, admitted, () => `policy ${show(stored.policy)}`)
  })
}

/** A key that is alone in its pool gets the same verdicts as a key with its own place, also after it gets one. */
async function leavesPool(bench: Bench): Promise<void> {
  await whenFull(bench, ofEveryKind(3, HOUR_MS), 1000, async (stored, world, filler) => {
    const witness = new Witness(stored, 'pooled', 'a key alone in its pool')
    await witness.consume(2)
    same(keysIn(world), MAX_KEYS, () => 'keys held while the key is in its pool')
    world.goTo(TODAY + 2_000_000)
    await makeRoom(filler)
    for (const cost of [2, 1, 1]) await witness.consume(cost)
    world.goTo(TODAY + 3 * HOUR_MS * 1000)
    await witness.consume(3)
  })
  // With a fast rate, a store that counts units from an origin must move the origin about every hour. Here that happens
  // when the key leaves its pool.
  const fast = bucketsOf(10_000, { count: 999_983, periodMs: DAY_MS })
  await whenFull(bench, fast, 4_450_000, async (stored, world, filler) => {
    const witness = new Witness(stored, 'pooled', 'a key alone in its pool for an hour')
    await witness.consume(1)
    world.goTo(TODAY + 4_400_000_000)
    await witness.consume(9000)
    world.goTo(TODAY + 4_600_000_000)
    await makeRoom(filler)
    for (const cost of [9000, 1, 2000, 2000]) await witness.consume(cost)
  })
}

/** Leaves out windows that start with a key or a first use, because in a pool they start with the pool's first use. */
const SHARED_WINDOWS = ofEveryKind(3, 1000).filter(
  policy => policy.kind !== 'fixedWindow' || (policy.align !== 'first' && policy.align !== 'key'),
)

async function neverMore(bench: Bench): Promise<void> {
  for (let seed = 0; seed < bench.times(4 * SHARED_WINDOWS.length); seed++) {
    const inTiny = async (world: World) => {
      if (keysIn(world) === undefined) return
      const rng = random(seed)
      const stored = new StoredLimit(world, SHARED_WINDOWS[seed % SHARED_WINDOWS.length]!)
      const keys = Array.from({ length: 60 }, (_, n) => new Witness(stored, `key ${n}`, `seed ${seed}`, false))
      let at = TODAY
      for (let n = 0; n < 600; n++) {
        at += Math.floor(rng() ** 8 * 3_000_000)
        const cost = 1 + Math.floor(rng() * 3)
        const op = rng() < 0.1 ? 'refund' : 'consume'
        await keys[Math.floor(rng() * keys.length)]!.play({ at, op, cost, of: Math.floor(rng() * 10) })
      }
    }
    await bench.inWorld(inTiny, { maxKeys: 8 })
  }
}
