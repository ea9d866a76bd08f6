import type { Policy } from '../../policy.ts'
import { type Case, holds, same, show } from './case.ts'
import { bucketsOf, ofEveryKind } from './policies.ts'
import { StoredLimit } from './stored-limit.ts'
import { type Bench, TODAY } from './world.ts'

const KEY = 'user:42'

export function changeCases(bench: Bench): Case[] {
  return [
    {
      name: 'a limit lowered below what is used leaves nothing, and raised again all the rest',
      run: () => lowered(bench),
    },
    { name: 'a bucket whose rate changes keeps what was used', run: () => otherRate(bench) },
    { name: 'policies of different kinds under one limit do not disturb each other', run: () => otherKind(bench) },
  ]
}

async function lowered(bench: Bench): Promise<void> {
  const [whole, half] = [100, 50].map(limit => ofEveryKind(limit, 60_000).map(policy => sameRate(policy)))
  for (const [i, policy] of whole!.entries()) {
    await bench.inWorld(async world => {
      world.goTo(TODAY)
      const where = () => `policy ${show(policy)}, 80 used, then a limit of 50`
      const [before, after] = [new StoredLimit(world, policy), new StoredLimit(world, half![i]!)]
      await before.consume(KEY, 80)
      const refused = await after.consume(KEY)
      same([refused.allowed, refused.remaining], [false, 0], where)
      holds(refused.retryAt < Infinity, 'a finite retryAt', refused.retryAt, where)
      same((await before.peek(KEY)).remaining, 20, where)
      world.goTo(refused.retryAt - 1)
      same((await after.peek(KEY)).allowed, false, where)
      world.goTo(refused.retryAt)
      same((await after.peek(KEY)).allowed, true, where)
    })
  }
}

/** The policy with a fixed rate if it is a bucket, so that only its limit changes. */
function sameRate(policy: Policy): Policy {
  const rate = { count: 100, periodMs: 60_000 }
  if (policy.kind === 'tokenBucket') return { ...policy, refill: rate }
  if (policy.kind === 'leakyBucket') return { ...policy, leak: rate }
  return policy.kind === 'gcra' ? { ...policy, rate } : policy
}

async function otherRate(bench: Bench): Promise<void> {
  const rates = [
    [10, 1000],
    [7, 1000],
    [1, 86_400_000],
    [999_983, 1000],
    [1_000_000, 1000],
    [3, 7001],
  ] as const
  for (const [from] of rates.entries()) {
    for (const [kind] of bucketsOf(1, { count: 1, periodMs: 1 }).entries()) {
      await bench.inWorld(async world => {
        world.goTo(TODAY)
        const limits = rates.map(
          ([count, periodMs]) => new StoredLimit(world, bucketsOf(100, { count, periodMs })[kind]!),
        )
        await limits[from]!.consume(KEY, 100)
        await limits.at(from - 1)!.reset(KEY)
        same((await limits[from]!.consume(KEY, 80)).remaining, 20, () => `after a reset, ${show(limits[from]!.policy)}`)
        for (const [to, stored] of limits.entries()) {
          const { remaining } = await stored.peek(KEY)
          const where = () => `80 of 100 used, ${show(limits[from]!.policy)} then, change ${to}, ${show(stored.policy)}`
          holds(remaining <= 20 && remaining >= 19 - to, `20, or one less a change`, remaining, where)
        }
      })
    }
  }
}

async function otherKind(bench: Bench): Promise<void> {
  await bench.inWorld(async world => {
    world.goTo(TODAY)
    // The three kinds of bucket share their state on purpose, so one of them is enough.
    const [bucket, , , ...others] = ofEveryKind(100, 60_000)
    const limits = [bucket!, ...others].filter(isOfOwnShape).map(policy => new StoredLimit(world, policy))
    for (const [n, stored] of limits.entries()) await stored.consume(KEY, n + 1)
    for (const [n, stored] of limits.entries()) {
      same((await stored.peek(KEY)).remaining, 99 - n, () => `policy ${show(stored.policy)}`)
    }
  })
}

const isOfOwnShape = (policy: Policy): boolean => policy.kind !== 'fixedWindow' || policy.align === 'epoch'
