import { createLimiter } from '../../limiter/create.ts'
import type { ConcurrencyPolicy } from '../../policy.ts'
import type { Charge } from '../../stores/charge.ts'
import { random } from '../trace.ts'
import { type Case, holds, same } from './case.ts'
import { StoredLimit } from './stored-limit.ts'
import { type Bench, TODAY } from './world.ts'

const KEY = 'user:42'
const TTL = 1_000_000
const THREE: ConcurrencyPolicy = { kind: 'concurrency', limit: 3, ttlMs: TTL / 1000 }

export function slotCases(bench: Bench): Case[] {
  return [
    { name: 'a slot is released once', run: () => releasedOnce(bench) },
    { name: 'a slot that is not released is free when its ttl has passed', run: () => expires(bench) },
    { name: 'a slot that is renewed is held for another ttl, and one that is over is not', run: () => renewed(bench) },
    { name: 'a release after the ttl frees nobody else', run: () => lateRelease(bench) },
    { name: 'what is held never exceeds the limit, whatever is acquired and released', run: () => neverAbove(bench) },
    { name: 'release() of a decision gives its slot back, and of any other does nothing', run: () => decisions(bench) },
  ]
}

async function inLimit(bench: Bench, use: (stored: StoredLimit) => Promise<void>): Promise<void> {
  await bench.inWorld(async world => {
    world.goTo(TODAY)
    await use(new StoredLimit(world, THREE))
  })
}

async function releasedOnce(bench: Bench): Promise<void> {
  await inLimit(bench, async stored => {
    const [first] = [await stored.consume(KEY), await stored.consume(KEY, 2)]
    same((await stored.consume(KEY)).allowed, false, () => 'a fourth of three')
    same([await stored.release(first), await stored.release(first)], [1, 0], () => 'releasing twice')
    same((await stored.peek(KEY)).remaining, 1, () => 'after releasing one of three twice')
  })
}

async function expires(bench: Bench): Promise<void> {
  await inLimit(bench, async stored => {
    await stored.consume(KEY, 2)
    stored.world.goTo(TODAY + 400)
    const last = await stored.consume(KEY)
    same([last.remaining, last.resetAt], [0, TODAY + 400 + TTL], () => 'the last of three slots')
    const refused = await stored.consume(KEY, 3)
    same([refused.allowed, refused.retryAt], [false, TODAY + 400 + TTL], () => 'all three again')
    same((await stored.consume(KEY, 2)).retryAt, TODAY + TTL, () => 'two again')
    stored.world.goTo(TODAY + TTL - 1)
    same((await stored.peek(KEY)).remaining, 0, () => 'a tick before the first ttl')
    stored.world.goTo(TODAY + TTL)
    same((await stored.peek(KEY)).remaining, 2, () => 'at the first ttl')
    stored.world.goTo(TODAY + TTL + 400)
    same((await stored.peek(KEY)).remaining, 3, () => 'at the second ttl')
  })
}

async function renewed(bench: Bench): Promise<void> {
  await inLimit(bench, async stored => {
    const [first, second] = [await stored.consume(KEY), await stored.consume(KEY, 2)]
    stored.world.goTo(TODAY + TTL - 1)
    same(await stored.renew(first), 1, () => 'renewing a tick before the ttl')
    same((await stored.peek(KEY, 0)).resetAt, TODAY + 2 * TTL - 1, () => 'after renewing')
    stored.world.goTo(TODAY + TTL)
    same(await stored.renew(second), 0, () => 'renewing at the ttl')
    same((await stored.peek(KEY)).remaining, 2, () => 'with one of two slots renewed')
    stored.world.goTo(TODAY + 2 * TTL - 1)
    same((await stored.peek(KEY)).remaining, 3, () => 'after the second ttl')
  })
}

async function lateRelease(bench: Bench): Promise<void> {
  await inLimit(bench, async stored => {
    const old = await stored.consume(KEY, 3)
    stored.world.goTo(TODAY + TTL)
    await stored.consume(KEY, 3)
    same([await stored.release(old), await stored.refund(old)], [0, 0], () => 'releasing a slot whose ttl has passed')
    same((await stored.consume(KEY)).allowed, false, () => 'while the new holders hold all')
  })
  await inLimit(bench, async stored => {
    const old = await stored.consume(KEY, 3)
    await stored.reset(KEY)
    await stored.consume(KEY, 3)
    await stored.release(old)
    same((await stored.consume(KEY)).allowed, false, () => 'after releasing a slot that a reset had forgotten')
  })
}

async function neverAbove(bench: Bench): Promise<void> {
  for (let seed = 0; seed < bench.times(60); seed++) {
    await inLimit(bench, async stored => {
      const rng = random(seed)
      const live = new Map<Charge, number>()
      for (let n = 0; n < 100; n++) {
        stored.world.goTo(stored.world.now + Math.floor(rng() ** 3 * TTL))
        const any = [...live.keys()][Math.floor(rng() * live.size)]
        if (any !== undefined && rng() < 0.4) {
          await stored.release(any)
          if (rng() < 0.7)
            live.delete(any) // otherwise the test releases it again later
          else live.set(any, 0)
          continue
        }
        const charge = await stored.consume(KEY, 1 + Math.floor(rng() * 3))
        if (charge.allowed) live.set(charge, stored.world.now + TTL)
        let held = 0
        for (const [holder, expiry] of live) if (expiry > stored.world.now) held += holder.cost
        const where = () => `seed ${seed}, step ${n} at ${stored.world.now}`
        holds(held <= 3, 'at most 3 held', held, where)
        same(charge.remaining, 3 - held, where)
      }
    })
  }
}

async function decisions(bench: Bench): Promise<void> {
  await bench.inWorld(async ({ store, clock }) => {
    clock.set(TODAY / 1000)
    const limits = { slots: { policy: THREE, key: () => KEY }, rate: { policy: '10/m' as const, key: () => KEY } }
    const limiter = createLimiter({ store, limits })
    const remaining = async () => (await limiter.peek({})).limits.map(state => state.remaining)
    const held = [await limiter.consume({}), await limiter.consume({}), await limiter.consume({})]
    const refused = await limiter.consume({})
    refused.release()
    same(await remaining(), [0, 7], () => 'after three, and releasing a refused fourth')
    held[0]!.release()
    held[0]!.release()
    held[1]![Symbol.dispose]()
    same(await remaining(), [2, 7], () => 'after releasing two of three')
  })
}
