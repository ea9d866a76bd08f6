import { createLimiter } from '../../limiter/create.ts'
import { BESIDE, type Charge, ENFORCED } from '../../stores/charge.ts'
import { TAKE } from '../../stores/store.ts'
import { type Oracle, type OracleVerdict, oracleFor } from '../oracle/oracle.ts'
import { type Rng, random, randomTrace } from '../trace.ts'
import { type Case, same, show } from './case.ts'
import { modestPolicy, ofEveryKind } from './policies.ts'
import { StoredLimit, showVerdict } from './stored-limit.ts'
import { type Bench, LATEST_TICK, TODAY } from './world.ts'

export function togetherCases(bench: Bench): Case[] {
  return [
    { name: 'several limits are charged together or not at all, shadows apart (law 2)', run: () => allOrNone(bench) },
    { name: 'a request that one limit refuses costs the others nothing (law 2)', run: () => othersUntouched(bench) },
    { name: 'of requests that arrive together, exactly the limit passes', run: () => atOnce(bench) },
  ]
}

const below = (rng: Rng, n: number): number => Math.floor(rng() * n)

/** The charges of a call: mostly enforced, some shadows, some shadows that replace an enforced one. */
function randomRoles(rng: Rng): number[] {
  const roles = Array.from({ length: 2 + below(rng, 4) }, () => (rng() < 0.6 ? ENFORCED : BESIDE))
  const enforced = roles.flatMap((role, i) => (role === ENFORCED ? [i] : []))
  return roles.map(role => (role === BESIDE && rng() < 0.5 ? (enforced[below(rng, enforced.length)] ?? BESIDE) : role))
}

/**
 * An enforced limit is charged if all enforced limits pass. A shadow is charged as if it were enforced, in place of the
 * limit it replaces.
 */
function isCharged(roles: readonly number[], passes: readonly boolean[], i: number): boolean {
  const replaced = roles[i]! >= 0 ? roles[i] : -1
  return passes[i]! && roles.every((role, other) => role !== ENFORCED || other === replaced || passes[other])
}

const PLAIN_KINDS = ['tokenBucket', 'leakyBucket', 'gcra', 'fixedWindow', 'slidingWindow'] as const

async function allOrNone(bench: Bench): Promise<void> {
  for (let seed = 0; seed < bench.times(150); seed++) {
    await bench.inWorld(async world => {
      const rng = random(seed)
      // In every third call all charges are enforced and cost 1, because a store may have a faster way for those.
      const plain = seed % 3 === 0
      const roles = plain ? [ENFORCED, ENFORCED, ENFORCED] : randomRoles(rng)
      const policyOf = () => modestPolicy(rng, plain ? PLAIN_KINDS[below(rng, PLAIN_KINDS.length)] : undefined)
      const limits = roles.map((_, i) => new StoredLimit(world, policyOf(), { path: `limit ${i}` }))
      const oracles = limits.map(stored => oracleFor(stored.policy, { phase: stored.phase('key') }))
      const times = limits.flatMap(stored => randomTrace(rng, stored.policy, 20).map(step => step.at))
      for (const at of times.filter(time => time < LATEST_TICK).sort((a, b) => a - b)) {
        world.goTo(at)
        const charges = limits.map((stored, i) => stored.charge('key', plain ? 1 : randomCost(rng, stored), roles[i]))
        const passes = charges.map((charge, i) => oracles[i]!.peek(at, charge.cost).allowed)
        await world.decide(charges, TAKE)
        for (const [i, charge] of charges.entries()) {
          const isTaken = isCharged(roles, passes, i)
          const verdict = isTaken ? oracles[i]!.consume(at, charge.cost) : oracles[i]!.peek(at, charge.cost)
          const where = () =>
            `seed ${seed} at ${at}, roles ${show(roles)}, costs ${show(charges.map(one => one.cost))}, ` +
            `passing ${show(passes)}, limit ${i} ${show(limits[i]!.policy)}`
          same(outcome(charge, charge.taken), outcome(verdict, isTaken && charge.cost > 0), where)
        }
      }
    })
  }
}

function randomCost(rng: Rng, stored: StoredLimit): number {
  const { limit } = stored.rule
  return rng() < 0.7 ? 1 : [0, 1 + below(rng, limit), limit, limit + 1][below(rng, 4)]!
}

function outcome(verdict: Charge | OracleVerdict | ReturnType<Oracle['peek']>, taken: boolean): string {
  return `${showVerdict(verdict)}, ${taken ? 'taken' : 'not taken'}`
}

async function othersUntouched(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(10, 60_000)) {
    await bench.inWorld(async ({ store, clock }) => {
      clock.set(TODAY / 1000)
      const key = (subject: { id: string }) => subject.id
      const limiter = createLimiter({ store, limits: { wide: { policy, key }, narrow: { policy: '1/m', key } } })
      const where = () => `policy ${show(policy)} beside '1/m'`
      await limiter.consume({ id: 'a' })
      for (let n = 0; n < 20; n++) {
        const refused = await limiter.consume({ id: 'a' })
        const seen = refused.limits.map(({ name, allowed, remaining }) => ({ name, allowed, remaining }))
        same([refused.allowed, refused.policy], [false, 'narrow'], where)
        same(
          seen,
          [
            { name: 'wide', allowed: true, remaining: 9 },
            { name: 'narrow', allowed: false, remaining: 0 },
          ],
          where,
        )
      }
    })
  }
}

/** Many calls at once. A store that asks and takes in two steps would let all of them see the same room. */
async function atOnce(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(5, 60_000)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy)
      const charges = await Promise.all(Array.from({ length: 20 }, () => stored.consume('a')))
      same(charges.filter(charge => charge.allowed).length, 5, () => `20 at once, policy ${show(policy)}`)
    })
  }
}
