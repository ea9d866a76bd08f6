import type { Charge } from '../../stores/charge.ts'
import { limitOf, type Oracle, oracleFor } from '../oracle/oracle.ts'
import { rhythmOf } from '../oracle/rhythm.ts'
import { KINDS, random } from '../trace.ts'
import { same, show } from './case.ts'
import { modestPolicy } from './policies.ts'
import { StoredLimit } from './stored-limit.ts'
import { type Bench, TODAY, type World } from './world.ts'

interface ModelHold {
  readonly cost: number
  readonly expiry: number
}

/**
 * A model of reservations that uses the oracle of a limit without reservations. A reserved cost counts against the
 * limit and does not drain. Settling charges the cost that was used. A reservation that expires is charged in full.
 */
class HeldModel {
  private readonly oracle: Oracle
  private readonly held = new Set<ModelHold>()

  constructor(stored: StoredLimit, key: string) {
    this.oracle = oracleFor(stored.policy, { phase: stored.phase(key) })
  }

  passes(at: number, cost: number): boolean {
    return this.oracle.peek(at, cost + this.sum(at)).allowed
  }

  remaining(at: number): number {
    const held = this.sum(at)
    return Math.max(0, this.oracle.peek(at, 0).remaining - held)
  }

  consume(at: number, cost: number): boolean {
    const passes = this.passes(at, cost)
    if (passes) this.oracle.consume(at, cost)
    return passes
  }

  hold(at: number, cost: number, ticks: number): ModelHold {
    const held = { cost, expiry: at + ticks }
    this.held.add(held)
    return held
  }

  /** Settles a reservation for `actual`, at most the reserved cost. Returns what was charged. */
  settle(at: number, held: ModelHold, actual: number): number {
    this.sum(at)
    if (!this.held.delete(held)) return held.cost
    this.oracle.consume(at, actual)
    return actual
  }

  credit(at: number, cost: number): void {
    this.sum(at)
    this.oracle.credit(at, cost)
  }

  refund(at: number, cost: number, chargedAt: number): void {
    this.sum(at)
    this.oracle.refund(at, cost, chargedAt)
  }

  /** Charges the reservations that have expired by `at`, each at its expiry. Returns the cost still reserved. */
  private sum(at: number): number {
    const expired = [...this.held].filter(({ expiry }) => expiry <= at).sort((a, b) => a.expiry - b.expiry)
    for (const held of expired) {
      this.held.delete(held)
      this.oracle.consume(held.expiry, held.cost)
    }
    return [...this.held].reduce((sum, { cost }) => sum + cost, 0)
  }
}

const KEY = 'user:42'

export async function asModelled(bench: Bench): Promise<void> {
  for (let seed = 0; seed < bench.times(240); seed++) await bench.inWorld(world => follow(seed, world))
}

async function follow(seed: number, world: World): Promise<void> {
  const rng = random(seed)
  const stored = new StoredLimit(world, modestPolicy(rng, KINDS[seed % (KINDS.length - 1)]!))
  const model = new HeldModel(stored, KEY)
  const { interval, window } = rhythmOf(stored.policy, stored.phase(KEY))
  const pick = <T>(from: readonly T[]): T => from[Math.floor(rng() * from.length)]!
  const draw = <T>(from: T[]): T => from.splice(Math.floor(rng() * from.length), 1)[0]!
  const open: { charge: Charge; held: ModelHold }[] = []
  const charged: { charge: Charge; at: number }[] = []
  let at = world.goTo(TODAY)
  for (let step = 0; step < 40; step++) {
    at = world.goTo(at + pick([0, 0, 1, interval, Math.floor(rng() * window), window]))
    const cost = pick([1, 1, 2, 1 + Math.floor(rng() * limitOf(stored.policy))])
    const dice = rng()
    let did = ''
    const where = () => `seed ${seed}, policy ${show(stored.policy)}, step ${step}: ${did} at ${at}`
    if (dice < 0.3) {
      const ticks = pick([1, interval, Math.ceil(rng() * window), 3 * window])
      did = `reserve ${cost} for ${ticks}`
      const expected = model.passes(at, cost)
      const charge = await stored.reserve(KEY, cost, ticks)
      if (expected) open.push({ charge, held: model.hold(at, cost, ticks) })
      same([charge.allowed, charge.remaining], [expected, model.remaining(at)], where)
    } else if (dice < 0.5 && open.length > 0) {
      const { charge, held } = draw(open)
      const actual = Math.floor(rng() * (held.cost + 1))
      did = `settle ${actual} of ${held.cost}`
      same(await stored.settle(charge, actual), model.settle(at, held, actual), where)
    } else if (dice < 0.55) {
      await stored.credit(KEY, cost)
      model.credit(at, cost)
    } else if (dice < 0.6 && charged.length > 0) {
      const taken = draw(charged)
      await stored.refund(taken.charge)
      model.refund(at, taken.charge.cost, taken.at)
    } else {
      did = `consume ${cost}`
      const expected = model.consume(at, cost)
      const charge = await stored.consume(KEY, cost)
      same([charge.allowed, charge.remaining], [expected, model.remaining(at)], where)
      if (expected) charged.push({ charge, at })
      else if (charge.retryAt < at + 2 * window && rng() < 0.5) {
        world.goTo(charge.retryAt - 1)
        same((await stored.peek(KEY, cost)).allowed, false, where)
        at = world.goTo(charge.retryAt)
        same([(await stored.peek(KEY, cost)).allowed, model.passes(at, cost)], [true, true], where)
      }
    }
  }
}
