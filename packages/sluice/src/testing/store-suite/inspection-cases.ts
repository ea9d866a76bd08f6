import { TICKS_PER_MS } from '../../clock.ts'
import type { Policy } from '../../policy.ts'
import type { KeyInspection, LimitData } from '../../stores/inspection.ts'
import { type Case, holds, same, show } from './case.ts'
import { ofEveryKind } from './policies.ts'
import { StoredLimit } from './stored-limit.ts'
import { type Bench, TODAY } from './world.ts'

/** A store shows the state of a key as data. The cases compute the expected state without the store's code. */
export function inspectionCases(bench: Bench): Case[] {
  return [
    { name: 'inspecting shows what was counted, kind by kind', run: () => everyKind(bench) },
    { name: 'inspecting changes nothing, also of a key not seen yet', run: () => changesNothing(bench) },
    { name: 'a sliding log tells the exact times it still counts', run: () => times(bench) },
    { name: 'inspecting shows reservations and blocks', run: () => holdsAndBlocks(bench) },
  ]
}

const WINDOW_MS = 1000
const LIMIT = 10
/** A moment at which every window and sub-window used here starts. */
const START = Math.ceil(TODAY / (WINDOW_MS * TICKS_PER_MS)) * WINDOW_MS
const KEY = 'a'

/** Consumes 3 at the start of a window and 2 a quarter of it later, and inspects the key half-way through. */
async function inspected(bench: Bench, policy: Policy): Promise<KeyInspection> {
  let found: KeyInspection | undefined
  await bench.inWorld(async world => {
    const stored = new StoredLimit(world, policy)
    const at = (ms: number) => world.goTo((START + ms) * TICKS_PER_MS)
    at(0)
    await stored.consume(KEY, 3)
    at(250)
    await stored.consume(KEY, 2)
    at(500)
    found = await stored.inspect(KEY)
  })
  return found!
}

async function everyKind(bench: Bench): Promise<void> {
  const rate = { count: LIMIT, periodMs: WINDOW_MS } // one every 100 ms
  const policies: readonly (readonly [Policy, used: number, LimitData])[] = [
    // Of 3 requests 2.5 drain in 250 ms. Then 2 more come, and another 250 ms drain the remaining 2.5.
    [{ kind: 'tokenBucket', capacity: LIMIT, refill: rate }, 0, bucket(0)],
    [{ kind: 'tokenBucket', capacity: LIMIT, refill: { count: 5, periodMs: WINDOW_MS } }, 2.5, bucket(2.5, 500)],
    [{ kind: 'leakyBucket', capacity: LIMIT, leak: { count: 5, periodMs: WINDOW_MS } }, 2.5, bucket(2.5, 500)],
    [{ kind: 'gcra', burst: LIMIT, rate: { count: 5, periodMs: WINDOW_MS } }, 2.5, bucket(2.5, 500)],
    [
      { kind: 'fixedWindow', limit: LIMIT, windowMs: WINDOW_MS, align: 'epoch' },
      5,
      { kind: 'fixedWindow', count: 5, startsAt: START, endsAt: START + WINDOW_MS },
    ],
    [
      { kind: 'slidingWindow', limit: LIMIT, windowMs: WINDOW_MS, buckets: 1 },
      5,
      { kind: 'slidingWindow', counters: [counter(-WINDOW_MS, 0, 0.5, WINDOW_MS), counter(0, 5, 1, WINDOW_MS)] },
    ],
    [
      { kind: 'slidingWindow', limit: LIMIT, windowMs: WINDOW_MS, buckets: 4 },
      5,
      {
        kind: 'slidingWindow',
        counters: [
          [-500, 0],
          [-250, 0],
          [0, 3],
          [250, 2],
          [500, 0],
        ].map(([at, count]) => counter(at!, count!, 1, 250)),
      },
    ],
    [
      { kind: 'slidingLog', limit: LIMIT, windowMs: WINDOW_MS },
      5,
      { kind: 'slidingLog', times: [0, 0, 0, 250, 250].map(ms => START + ms) },
    ],
    [
      { kind: 'concurrency', limit: LIMIT, ttlMs: WINDOW_MS },
      5,
      {
        kind: 'concurrency',
        slots: [
          { cost: 3, expiresAt: START + WINDOW_MS },
          { cost: 2, expiresAt: START + 250 + WINDOW_MS },
        ],
      },
    ],
  ]
  for (const [policy, used, state] of policies) {
    const found = await inspected(bench, policy)
    const where = () => `policy ${show(policy)}`
    same(found.state, state, where)
    same([found.at, found.blockedUntil, found.holds], [START + 500, undefined, []], where)
    same(Math.ceil(found.used / unitsOf(policy)), Math.ceil(used), where)
    holds(Number.isInteger(found.bytes) && (found.bytes > 0 || used === 0), 'bytes above 0', found.bytes, where)
  }
}

/** How many units of the rule make one request: a bucket counts in parts of a request. */
function unitsOf(policy: Policy): number {
  const rate = policy.kind === 'tokenBucket' ? policy.refill : policy.kind === 'leakyBucket' ? policy.leak : undefined
  const { count, periodMs } = policy.kind === 'gcra' ? policy.rate : (rate ?? { count: 1, periodMs: 1 / TICKS_PER_MS })
  return (periodMs * TICKS_PER_MS) / count
}

function bucket(level: number, dryAfterMs = 0): LimitData {
  return { kind: 'bucket', level, tokens: LIMIT - level, tat: START + 500 + dryAfterMs }
}

function counter(startMs: number, count: number, weight: number, lengthMs: number) {
  return { startsAt: START + startMs, endsAt: START + startMs + lengthMs, count, weight }
}

async function changesNothing(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(LIMIT, WINDOW_MS)) {
    await bench.inWorld(async world => {
      const stored = new StoredLimit(world, policy)
      world.goTo(TODAY)
      const fresh = await stored.look('fresh')
      const { bytes, used } = await stored.inspect('fresh')
      same([bytes, used], [0, 0], () => `bytes and used of a key not seen yet, policy ${show(policy)}`)
      same(await stored.look('fresh'), fresh, () => `after inspecting a key not seen yet, policy ${show(policy)}`)
      await stored.consume(KEY, 4)
      world.goTo(TODAY + 100_000)
      const before = await stored.look(KEY)
      await stored.inspect(KEY)
      same(await stored.look(KEY), before, () => `after inspecting, policy ${show(policy)}`)
    })
  }
}

async function times(bench: Bench): Promise<void> {
  await bench.inWorld(async world => {
    const stored = new StoredLimit(world, { kind: 'slidingLog', limit: 5, windowMs: 1 })
    const ticks = async () => {
      const { state } = await stored.inspect(KEY)
      return state.kind === 'slidingLog' ? state.times.map(ms => Math.round(ms * TICKS_PER_MS) - TODAY) : []
    }
    for (const [after, cost] of Object.entries({ 0: 1, 300: 2, 900: 1, 999: 9, 1000: 1 })) {
      world.goTo(TODAY + Number(after))
      await stored.consume(KEY, cost)
    }
    same(await ticks(), [300, 300, 900, 1000], () => 'times after TODAY of a log of 1 ms, 1000 ticks on')
    world.goTo(TODAY + 1300)
    same(await ticks(), [900, 1000], () => 'times after TODAY of a log of 1 ms, 1300 ticks on')
    world.goTo(TODAY + 2000)
    same(await ticks(), [], () => 'times after TODAY of a log of 1 ms, 2000 ticks on')
  })
}

async function holdsAndBlocks(bench: Bench): Promise<void> {
  for (const policy of ofEveryKind(LIMIT, WINDOW_MS)) {
    if (policy.kind === 'concurrency') continue // a slot is itself a hold
    await bench.inWorld(async world => {
      const stored = new StoredLimit(world, policy)
      world.goTo(START * TICKS_PER_MS)
      await stored.reserve(KEY, 4, 700 * TICKS_PER_MS)
      await stored.reserve(KEY, 1, 300 * TICKS_PER_MS)
      const where = () => `policy ${show(policy)}`
      const held = await stored.inspect(KEY)
      const expected = [
        { cost: 1, expiresAt: START + 300 },
        { cost: 4, expiresAt: START + 700 },
      ]
      same([held.holds, held.used / stored.rule.perRequest], [expected, 5], where)
      await stored.amend({ type: 'block', charge: stored.charge(KEY, 0), ticks: 2000 * TICKS_PER_MS })
      const { blockedUntil, used } = await stored.inspect(KEY)
      same([blockedUntil, used / stored.rule.perRequest], [START + 2000, LIMIT], where)
      world.goTo((START + 2000) * TICKS_PER_MS)
      const after = await stored.inspect(KEY)
      same([after.blockedUntil, after.holds], [undefined, []], where)
    })
  }
}
