import { expect, test } from 'vitest'
import { fixedWindow, gcra, leakyBucket, type Policy, slidingLog, slidingWindow, tokenBucket } from '../../policy.ts'
import { fakeClock } from '../../testing/index.ts'
import { type Rng, random } from '../../testing/trace.ts'
import { Charge, ENFORCED } from '../charge.ts'
import type { SharedLane } from '../lane.ts'
import { type Limit, type Rule, ruleOf, TAKE } from '../store.ts'
import { type MemoryStore, memoryStore } from './memory-store.ts'

const START_MS = 1_790_000_123_456

/** Small enough that a trace fills all of them, and each refuses while others pass. */
const POLICIES: readonly Policy[] = [
  tokenBucket({ capacity: 6, refill: '3/s' }),
  leakyBucket({ capacity: 5, leak: '7/s' }),
  gcra({ rate: '2/s', burst: 4 }),
  fixedWindow({ limit: 5, window: '1s' }),
  fixedWindow({ limit: 7, window: '2s', align: 'key' }),
  fixedWindow({ limit: 4, window: '1500ms', align: 'first' }),
  fixedWindow({ limit: 60, align: 'day', timeZone: 'Europe/Berlin' }),
  slidingWindow({ limit: 6, window: '1s' }),
  slidingWindow({ limit: 5, window: '2s', buckets: 4 }),
]

function pick<T>(rng: Rng, list: readonly T[]): T {
  return list[Math.floor(rng() * list.length)]!
}

function bound(store: MemoryStore, policies: readonly Policy[]): { limit: Limit; rule: Rule }[] {
  return policies.map((policy, i) => ({
    limit: { space: store.space(`limit ${i}`), block: undefined },
    rule: ruleOf(policy),
  }))
}

function laneOf(store: MemoryStore, policies: readonly Policy[]): SharedLane | undefined {
  return store.sharedLane!(bound(store, policies).map(({ limit, rule }) => store.lane!(limit, rule)))
}

function told(charges: readonly Charge[]) {
  return charges.map(({ key, allowed, taken, at, used, remaining, resetAt, retryAt }) => {
    return { key, allowed, taken, at, used, remaining, resetAt, retryAt }
  })
}

test('limits of all kinds are told the same by their lane as by the long way', () => {
  for (let seed = 0; seed < 200; seed++) {
    const rng = random(seed)
    const policies = Array.from({ length: 1 + Math.floor(rng() * 4) }, () => pick(rng, POLICIES))
    // On the epoch: sub-windows that never were, and many a request at the very tick where one ends.
    const isOnBoundaries = seed % 4 === 0
    const clock = fakeClock(isOnBoundaries ? 0 : START_MS)
    const [store, other] = [memoryStore({ clock }), memoryStore({ clock })]
    const lane = laneOf(store, policies)!
    const limits = bound(other, policies)
    for (let i = 0; i < 60; i++) {
      clock.advance(pick(rng, isOnBoundaries ? [0, 250, 500, 1000] : [0, 0.001, 1, 70, 250, 1000, 2000]))
      const keys = rng() < 0.3 ? pick(rng, ['a', 'b']) : policies.map(() => pick(rng, ['', 'a', 'b']))
      const keyAt = (at: number) => (typeof keys === 'string' ? keys : keys[at]!)
      const charges = limits.map(({ limit, rule }, at) => new Charge(limit, rule, keyAt(at), 1, ENFORCED))
      other.decideAll(charges, TAKE)
      lane.take(keys)
      const made = lane.charges ?? lane.chargesOf(keys, lane)
      expect(told(made), `seed ${seed}, request ${i}`).toEqual(told(charges))
      expect(lane.receipt > 0).toBe(charges.every(charge => charge.taken))
      if (lane.charges !== undefined) continue
      expect(charges.map((_, at) => lane.remainingOf(at, lane))).toEqual(charges.map(charge => charge.remaining))
      expect(charges.map((_, at) => lane.resetAtOf(at, lane))).toEqual(charges.map(charge => charge.resetAt))
    }
  }
})

test.each([
  ['limits of all kinds', POLICIES],
  ['one bucket', POLICIES.slice(0, 1)],
])('a key that is here goes by the lane of %s', (_, policies) => {
  const lane = laneOf(memoryStore({ clock: fakeClock(START_MS) }), policies)!
  for (const key of ['a', 'b']) {
    lane.take(key)
    expect(lane.charges).toHaveLength(policies.length)
  }
  for (const key of ['a', 'b', 'b']) {
    lane.take(key)
    expect(lane.charges).toBeUndefined()
    expect(lane.receipt).toBeGreaterThan(0)
  }
})

test.each([
  ['a log', slidingLog({ limit: 5, window: '1s' })],
  ['nothing', fixedWindow({ limit: 0, window: '1s' })],
])('limits with %s among them have no lane', (_, policy) => {
  expect(laneOf(memoryStore(), [POLICIES[0]!, policy])).toBeUndefined()
})
