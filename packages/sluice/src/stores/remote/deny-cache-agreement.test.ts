import { describe, expect, test } from 'vitest'
import { openBehindDenyCache } from '../../fixtures/stores/behind-deny-cache.ts'
import { CachedFarStore } from '../../fixtures/stores/cached-far-store.ts'
import { farMemory } from '../../fixtures/stores/far-memory.ts'
import type { Policy } from '../../policy.ts'
import { ofEveryRateKind } from '../../testing/store-suite/policies.ts'
import { StoredLimit } from '../../testing/store-suite/stored-limit.ts'
import { TODAY, World } from '../../testing/store-suite/world.ts'
import { storeSuite } from '../../testing/store-suite.ts'
import { type Rng, random } from '../../testing/trace.ts'
import type { Charge } from '../charge.ts'
import { TAKE } from '../store.ts'

const SECOND = 1_000_000

describe('the store suite, behind a deny cache', () => {
  for (const { name, run } of storeSuite(openBehindDenyCache, { scale: 0.1 })) test(name, async () => run())
})

/** The same limits twice, by one clock: behind a cache, and as they are. */
class Twins {
  readonly store = new CachedFarStore()
  readonly plain = new World(farMemory(this.store.clock), this.store.clock)
  private tick = 0

  limits(
    policy: Policy,
    options: ConstructorParameters<typeof StoredLimit>[2] = {},
  ): [behind: StoredLimit, plain: StoredLimit] {
    return [this.store.stored(policy, options), new StoredLimit(this.plain, policy, options)]
  }

  pass(ticks: number): void {
    this.tick += ticks
    this.store.goTo(this.tick)
    this.plain.goTo(TODAY + this.tick)
  }
}

/** That it was a block that refused is promised only where a refusal starts it: its end is not told. */
function verdict({ limit, at, allowed, retryAt, resetAt, blocked }: Charge): unknown {
  return { at, allowed, retryAt, resetAt, blocked: limit.block === undefined ? 'or not' : blocked }
}

describe.each(ofEveryRateKind(10, 10_000).map((policy, place) => ({ ...policy, policy, place })))(
  '$kind $place',
  ({ policy, place }) => {
    test('a flood on hot keys is answered without the store, 19 times of 20 and more, and never otherwise', async () => {
      const twins = new Twins()
      const [behind, plain] = twins.limits(policy)
      const flood = 10_000
      for (let n = 0; n < flood; n++) {
        twins.pass(SECOND / 1000)
        const key = `user ${n % 5}`
        expect(verdict(await behind.consume(key))).toEqual(verdict(await plain.consume(key)))
      }
      expect(twins.store.far.asked).toBeLessThan(flood / 20)
      expect(twins.store.cache.hits).toBe(flood - twins.store.far.asked)
    })

    test.each([1, 2, 3])('a cache cannot be told from its store by what it answers, seed %i', async seed => {
      const rng = random(seed)
      const twins = new Twins()
      const blockTicks = Math.ceil(rng() * 3 * SECOND)
      const pairs = [
        twins.limits(policy),
        twins.limits({ ...policy }),
        twins.limits(withLimit(policy, 7)),
        twins.limits(ofEveryRateKind(10, 7000)[place]!),
        twins.limits(policy, { path: 'blocks', block: { first: blockTicks, factor: 1, max: blockTicks } }),
      ]
      const undo: (() => Promise<unknown>)[] = []
      for (let n = 0; n < 3000; n++) {
        twins.pass(pause(rng))
        const pair = pick(rng, pairs)
        const [key, cost, dice] = [pick(rng, ['a', 'a', 'b']), pick(rng, [1, 1, 1, 2, 3, 11]), rng()]
        const both = <T>(act: (stored: StoredLimit) => Promise<T>) => Promise.all(pair.map(act))
        if (dice < 0.9) {
          const charges = await both(stored => stored.consume(key, cost))
          expect(verdict(charges[0]!), `step ${n}`).toEqual(verdict(charges[1]!))
          if (charges[0]!.allowed) undo.push(() => both(stored => stored.refund(charges[pair.indexOf(stored)]!)))
        } else if (dice < 0.94) await undo.splice(Math.floor(rng() * undo.length), 1)[0]?.()
        else if (dice < 0.97) await both(stored => stored.credit(key, cost))
        else if (dice < 0.99 || pair[0].limit.block !== undefined) await both(stored => stored.reset(key))
        else await both(stored => stored.amend({ type: 'block', charge: stored.charge(key, 0), ticks: 2 * SECOND }))
      }
      expect(twins.store.cache.hits).toBeGreaterThan(150)
    })
  },
)

test.each([1, 2, 3, 4])('calls to several limits pass or not as they would by the store, seed %i', async seed => {
  const rng = random(seed)
  const twins = new Twins()
  const kinds = ofEveryRateKind(10, 10_000)
  const pairs = ['a', 'b', 'c'].map(path => twins.limits(pick(rng, kinds), { path }))
  for (let n = 0; n < 5000; n++) {
    twins.pass(pause(rng))
    const asked = pairs
      .filter(() => rng() < 0.8)
      .map(pair => ({ pair, key: pick(rng, ['', '', 'x']), cost: pick(rng, [1, 1, 2]) }))
    const [behind, plain] = [0, 1].map(side => asked.map(({ pair, key, cost }) => pair[side]!.charge(key, cost)))
    await twins.store.world.decide(behind!, TAKE)
    await twins.plain.decide(plain!, TAKE)
    expect(freeAt(behind!) > 0, `step ${n}`).toBe(freeAt(plain!) > 0)
    // Another of the limits may have been charged since: then that one frees later.
    expect(freeAt(behind!), `step ${n}`).toBeLessThanOrEqual(freeAt(plain!))
  }
  expect(twins.store.cache.hits).toBeGreaterThan(300)
})

/** When a call would pass; 0 if it does. */
function freeAt(charges: readonly Charge[]): number {
  return Math.max(0, ...charges.map(charge => charge.retryAt))
}

/** Mostly short ones: what is refused is asked for again. */
function pause(rng: Rng): number {
  return rng() < 0.02 ? Math.floor(rng() * 12 * SECOND) : pick(rng, [0, 1, 1000, Math.floor(rng() * 0.2 * SECOND)])
}

function pick<T>(rng: Rng, from: readonly T[]): T {
  return from[Math.floor(rng() * from.length)]!
}

function withLimit(policy: Policy, limit: number): Policy {
  if (policy.kind === 'tokenBucket' || policy.kind === 'leakyBucket') return { ...policy, capacity: limit }
  return policy.kind === 'gcra' ? { ...policy, burst: limit } : { ...policy, limit }
}
