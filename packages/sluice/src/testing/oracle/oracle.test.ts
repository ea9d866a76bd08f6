import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Policy } from '../../policy.ts'
import { type Rng, random, randomPolicy, randomTrace, type Step } from '../trace.ts'
import { limitOf, oracleFor } from './oracle.ts'
import { replay } from './replay.ts'

const PHASE = { phase: 337 } // fits the smallest window, of 1000 ticks

/** Every property is about any policy and any trace; the seed is all there is to shrink and to write down. */
function always(claim: (policy: Policy, trace: Step[], rng: Rng) => void, { steps = 40, numRuns = 300 } = {}): void {
  fc.assert(
    fc.property(fc.integer(), seed => {
      const rng = random(seed)
      const policy = randomPolicy(rng)
      claim(policy, randomTrace(rng, policy, steps, { backwards: rng() < 0.3, ...PHASE }), rng)
    }),
    { numRuns },
  )
}

const after = (policy: Policy, trace: readonly Step[]) => {
  const oracle = oracleFor(policy, PHASE)
  replay(oracle, trace)
  return oracle
}
const verdictsOf = (policy: Policy, trace: readonly Step[]) => replay(oracleFor(policy, PHASE), trace).verdicts

test('the same cost passes at retryAt and not a tick earlier', () =>
  always((policy, trace) => {
    for (const [index, verdict] of verdictsOf(policy, trace).entries()) {
      if (!verdict || verdict.allowed) continue
      const { cost } = trace[index]!
      expect(verdict.retryAt === Infinity).toBe(cost > limitOf(policy))
      if (verdict.retryAt === Infinity) continue
      const oracle = after(policy, trace.slice(0, index + 1))
      expect(oracle.peek(verdict.retryAt - 1, cost).allowed).toBe(false)
      expect(oracle.peek(verdict.retryAt, cost).allowed).toBe(true)
    }
  }))

test('remaining passes and one more does not', () =>
  always((policy, trace) => {
    const oracle = after(policy, trace)
    const { remaining } = oracle.peek(0, 0)
    expect(oracle.peek(0, remaining).allowed).toBe(true)
    expect(oracle.peek(0, remaining + 1).allowed).toBe(false)
  }))

test('the whole limit passes at resetAt and not a tick earlier, and looking does not move it', () =>
  always((policy, trace) => {
    const limit = limitOf(policy)
    const oracle = after(policy, trace)
    const { resetAt, remaining } = oracle.peek(0, 0)
    if (remaining < limit) {
      expect(oracle.peek(resetAt - 1, limit)).toMatchObject({ allowed: false, resetAt, retryAt: resetAt })
    }
    expect(oracle.peek(resetAt, limit)).toMatchObject({ allowed: true, remaining: limit, resetAt })
    expect(oracle.peek(resetAt + 1, 0).resetAt).toBe(resetAt + 1)
  }))

test('a refused consume leaves no trace: looking instead changes nothing', () =>
  always((policy, trace) => {
    const verdicts = verdictsOf(policy, trace)
    const looking = trace.map((step, i): Step => (verdicts[i]?.allowed === false ? { ...step, op: 'peek' } : step))
    expect(verdictsOf(policy, looking)).toEqual(verdicts)
  }))

test('time that runs backwards is time that stands still', () =>
  always((policy, trace) => {
    const { times, verdicts } = replay(oracleFor(policy, PHASE), trace)
    const standing = trace.map((step, i) => ({ ...step, at: times[i]! }))
    expect(verdictsOf(policy, standing)).toEqual(verdicts)
  }))

test('after a reset nothing is left of what was', () =>
  always((policy, trace, rng) => {
    const oracle = after(policy, trace)
    oracle.reset()
    const start = Math.max(...trace.map(step => step.at))
    const later = randomTrace(rng, policy, 20, PHASE).map(step => ({ ...step, at: start + step.at }))
    const charges = later.filter(step => step.op === 'consume')
    expect(replay(oracle, charges).verdicts).toEqual(verdictsOf(policy, charges))
  }))

test('while nobody consumes, a cost that passes goes on passing: the search rests on it', () => {
  const kinds = ['gcra', 'fixedWindow', 'slidingWindow', 'slidingLog', 'concurrency'] as const
  const small = (seed: number): Policy => {
    const policy = randomPolicy(random(seed), kinds[Math.abs(seed) % kinds.length])
    if (policy.kind === 'gcra') return { ...policy, burst: 3, rate: { count: 7, periodMs: 1 } }
    if (policy.kind === 'concurrency') return { ...policy, limit: 3, ttlMs: 1 }
    if (policy.kind === 'fixedWindow') return { kind: 'fixedWindow', limit: 3, windowMs: 1, align: 'first' }
    if (policy.kind === 'slidingWindow') return { ...policy, limit: 3, windowMs: 1, buckets: [1, 2, 4, 8][seed & 3]! }
    return { ...policy, limit: 3, windowMs: 1 } as Policy
  }
  const everyTick = fc.property(fc.integer(), seed => {
    const policy = small(seed)
    const oracle = after(policy, randomTrace(random(seed), policy, 20, PHASE))
    const { resetAt } = oracle.peek(0, 0)
    const first = oracle.peek(0, 2)
    const start = Math.max(resetAt - 2500, first.allowed ? 0 : first.retryAt - 50)
    const passed = Array.from({ length: resetAt - start + 3 }, (_, n) => oracle.peek(start + n, 2).allowed)
    expect(passed.lastIndexOf(false)).toBe(passed.indexOf(true) - 1)
  })
  fc.assert(everyTick, { numRuns: 40 })
})

describe('a limit of 0', () => {
  const policies: Policy[] = [
    { kind: 'tokenBucket', capacity: 0, refill: { count: 1, periodMs: 1000 } },
    { kind: 'leakyBucket', capacity: 0, leak: { count: 1, periodMs: 1000 } },
    { kind: 'gcra', burst: 0, rate: { count: 1, periodMs: 1000 } },
    { kind: 'fixedWindow', limit: 0, windowMs: 1000, align: 'first' },
    { kind: 'slidingWindow', limit: 0, windowMs: 1000, buckets: 2 },
    { kind: 'slidingLog', limit: 0, windowMs: 1000 },
    { kind: 'concurrency', limit: 0, ttlMs: 1000 },
  ]
  for (const policy of policies) {
    test(`refuses for ever, and lets one look: ${policy.kind}`, () => {
      const oracle = oracleFor(policy)
      expect(oracle.consume(500, 1)).toEqual({ allowed: false, remaining: 0, resetAt: 500, retryAt: Infinity })
      expect(oracle.consume(500, 0)).toEqual({ allowed: true, remaining: 0, resetAt: 500, retryAt: 0 })
    })
  }
})
