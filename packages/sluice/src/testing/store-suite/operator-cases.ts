import { type Case, holds, same, show } from './case.ts'
import { ofEveryKind } from './policies.ts'
import { StoredLimit } from './stored-limit.ts'
import { type Bench, TODAY } from './world.ts'

const KEY = 'user:42'
const SECOND = 1_000_000

/** The changes of an operator. A concurrency limit counts holders, so it can be neither penalised nor set. */
export function operatorCases(bench: Bench): Case[] {
  return [
    { name: 'a penalty is never refused, and overdraws by at most one limit', run: () => penalized(bench) },
    {
      name: 'after an overdraft nothing passes until the debt has drained, and then at once',
      run: () => indebted(bench),
    },
    { name: 'what is set to remain remains, whatever was counted or is reserved', run: () => setTo(bench) },
    {
      name: 'a block that is ended lets pass what the limit lets pass, and is not remembered',
      run: () => unblocked(bench),
    },
  ]
}

async function eachRate(bench: Bench, limit: number, run: (stored: StoredLimit) => Promise<void>): Promise<void> {
  for (const policy of ofEveryKind(limit, 60_000)) {
    if (policy.kind === 'concurrency') continue
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      await run(new StoredLimit(world, policy))
    })
  }
}

async function penalized(bench: Bench): Promise<void> {
  await eachRate(bench, 10, async stored => {
    const where = () => `policy ${show(stored.policy)}`
    const charged: number[] = []
    for (const cost of [3, 9, 0, 100, 1]) charged.push(await stored.penalize(KEY, cost))
    same(charged, [3, 9, 0, 8, 0], where)
    const refused = await stored.consume(KEY)
    same([refused.allowed, refused.remaining], [false, 0], where)
    same((await stored.consume('another')).remaining, 9, where)
  })
}

async function indebted(bench: Bench): Promise<void> {
  await eachRate(bench, 10, async stored => {
    const { world } = stored
    const where = () => `policy ${show(stored.policy)}, at ${world.now - TODAY} ticks`
    await stored.penalize(KEY, 15)
    const refused = await stored.consume(KEY)
    same(refused.allowed, false, where)
    holds(refused.retryAt > world.now && refused.retryAt < Infinity, 'a finite retryAt', refused.retryAt, where)
    world.goTo(refused.retryAt - 1)
    same((await stored.consume(KEY)).allowed, false, where)
    world.goTo(refused.retryAt)
    same((await stored.consume(KEY)).allowed, true, where)
  })
}

async function setTo(bench: Bench): Promise<void> {
  await eachRate(bench, 10, async stored => {
    const where = () => `policy ${show(stored.policy)}`
    await stored.penalize(KEY, 17)
    const steps = [0, 10, 4, 7]
    for (const remaining of steps) {
      await stored.set(KEY, 10 - remaining)
      same((await stored.peek(KEY, 0)).remaining, remaining, where)
      stored.world.goTo(stored.world.now + SECOND)
    }
    await stored.set(KEY, 0)
    const held = await stored.reserve(KEY, 4, 60 * SECOND)
    await stored.set(KEY, 5)
    same((await stored.peek(KEY, 0)).remaining, 5, where)
    await stored.settle(held, 0)
    same((await stored.peek(KEY, 0)).remaining, 9, where)
  })
}

async function unblocked(bench: Bench): Promise<void> {
  const block = { first: 2 * SECOND, factor: 2, max: 60 * SECOND }
  for (const policy of ofEveryKind(1, 1000)) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const stored = new StoredLimit(world, policy, { block })
      const where = () => `policy ${show(policy)}`
      const unblock = () => stored.amend({ type: 'unblock', charge: stored.charge(KEY, 0) })
      await unblock()
      await stored.amend({ type: 'block', charge: stored.charge(KEY, 0), ticks: 100 * SECOND })
      same((await stored.peek(KEY)).allowed, false, where)
      await unblock()
      same((await stored.consume(KEY)).allowed, true, where)
      // The same refusal twice. If the store had remembered the first block, the second would be longer.
      for (let n = 0; n < 2; n++) {
        same((await stored.consume(KEY)).allowed, false, where)
        same((await stored.inspect(KEY)).blockedUntil, (TODAY + block.first) / 1000, where)
        await unblock()
        same((await stored.inspect(KEY)).blockedUntil, undefined, where)
      }
    })
  }
}
